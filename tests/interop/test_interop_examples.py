"""The examples in docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import ragkit.interop


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(ragkit.interop.__path__)])
def test_examples(name):
    found = doctest.testmod(importlib.import_module(f"ragkit.interop.{name}"), raise_on_error=True)
    assert found.failed == 0

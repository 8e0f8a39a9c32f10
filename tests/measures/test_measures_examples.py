"""The examples in docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import ragkit.measures


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(ragkit.measures.__path__)])
def test_examples(name):
    found = doctest.testmod(importlib.import_module(f"ragkit.measures.{name}"), raise_on_error=True)
    assert found.failed == 0

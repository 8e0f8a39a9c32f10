"""What is refused before a kernel starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from ragkit.errors import FileError, UsageError
from ragkit.execution.notebook import check_notebook, failure

GIVEN: dict[str, Any] = {"config": "c.toml", "overrides": ["a.b=1"], "out": "/x"}


def notebook(folder: Path, source: str, *, tag: str = "parameters", kernel: str = "python3") -> Path:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, metadata={"tags": [tag]})])
    made.metadata.kernelspec = {"name": kernel, "language": "python", "display_name": kernel}
    path = folder / "n.ipynb"
    nbformat.write(made, path)
    return path


GOOD = 'config: str = ""\noverrides: list = []\nout: str = None'


@pytest.mark.parametrize(
    ("source", "how", "message"),
    [
        (GOOD, {"tag": "other"}, "no parameters: tag the cell that sets config, overrides, out with `parameters`"),
        ('config: str = ""\noverrides: list = []', {}, "has no parameter out"),
        (GOOD.replace("list", "int"), {}, "parameter overrides: is declared int, a sweep gives list"),
        (GOOD, {"kernel": "julia-9"}, "no Jupyter kernel 'julia-9': install ipykernel"),
    ],
)
def test_a_notebook_that_would_not_take_the_parameters(
    tmp_path: Path, source: str, how: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        check_notebook(notebook(tmp_path, source, **how), GIVEN)
    assert message in str(caught.value)


def test_a_good_one_passes(tmp_path: Path) -> None:
    check_notebook(notebook(tmp_path, GOOD), GIVEN)
    check_notebook(notebook(tmp_path, "config = overrides = out = None\nout = 1\nconfig = 2\noverrides = 3"), GIVEN)


@pytest.mark.parametrize("content", [None, "", "no JSON", "[]", "{}"])
def test_a_file_that_is_no_notebook(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "n.ipynb"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(FileError) as caught:
        check_notebook(path, GIVEN)
    assert str(path) in str(caught.value)


def test_a_failure_is_told_in_one_line() -> None:
    assert failure(RuntimeError("the kernel\n died")) == "RuntimeError: the kernel died"

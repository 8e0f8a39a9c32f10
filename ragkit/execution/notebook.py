"""One notebook, executed by papermill, which is imported here and nowhere else.

papermill itself lets unknown parameters pass with a warning, and without a `parameters` cell the notebook's own
defaults win silently; so both are refused before a kernel starts.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragkit.errors import FileError, UsageError
from ragkit.files import read_json, scratch
from ragkit.jupyter import import_jsonschema, sockets


@dataclass(frozen=True, slots=True)
class Task:
    """A notebook to execute with `parameters` in `folder`; `executed` is where it is kept, however it ends.

    All paths are absolute: whoever does the task may be in another folder.
    """

    notebook: str
    executed: str
    folder: str
    parameters: dict[str, Any]


def check_notebook(path: Path, parameters: Mapping[str, Any]) -> None:
    """Raises `FileError` for a notebook that can't be read, `UsageError` when it has no cell tagged `parameters`, lacks
    one of `parameters` or declares it with another type, or when its kernel isn't installed.
    """
    import_jsonschema()
    import papermill
    from jupyter_client.kernelspec import NoSuchKernel, get_kernel_spec

    content = read_json(path)
    if not isinstance(content, dict) or content.get("nbformat") != 4 or not content.get("cells"):
        raise FileError(f"{path}: not a Jupyter notebook (nbformat 4) with cells")
    declared = papermill.inspect_notebook(str(path))
    kernel = str(content["metadata"].get("kernelspec", {}).get("name", "python3"))
    if not declared:
        raise UsageError(f"{path}: no parameters: tag the cell that sets {', '.join(parameters)} with `parameters`")
    problems = [f"{path}: has no parameter {name}" for name in parameters if name not in declared]
    for name in parameters.keys() & declared.keys():
        wanted, found = type(parameters[name]).__name__, declared[name]["inferred_type_name"]
        if found not in ("None", wanted):
            problems.append(f"{path}: parameter {name}: is declared {found}, a sweep gives {wanted}")
    if problems:
        raise UsageError("\n".join(sorted(problems)))
    try:
        get_kernel_spec(kernel)
    except NoSuchKernel as error:
        raise UsageError(
            f"{path}: no Jupyter kernel {kernel!r}: install ipykernel into this environment, or save the notebook with"
            " one that `jupyter kernelspec list` shows"
        ) from error


def execute(task: Task) -> None:
    """Do it. Raises what papermill raises; `RuntimeError` when the kernel dies."""
    import_jsonschema()
    import papermill
    from traitlets.config import Config

    from ragkit.execution.kernels import KernelManager

    with scratch("rk") as place:
        running = place / "running.ipynb"
        try:
            papermill.execute_notebook(
                task.notebook,
                str(running),
                task.parameters,
                progress_bar=False,
                config=Config({"KernelManager": sockets(place)}),
                kernel_manager_class=KernelManager,
                resources={"metadata": {"path": task.folder}},  # papermill's `cwd` would move this whole process
                shutdown_kernel="immediate",
            )
        finally:
            if running.exists():
                _keep(running, Path(task.executed))


def failure(error: BaseException) -> str:
    """What went wrong in one line: the exception that a cell raised, or what befell the kernel."""
    name, value = getattr(error, "ename", type(error).__name__), str(getattr(error, "evalue", error))
    return f"{name}: {' '.join(value.split())}"


def _keep(running: Path, executed: Path) -> None:
    part = executed.with_suffix(".tmp")  # renamed, so that the notebook is whole or not there
    shutil.copyfile(running, part)
    part.replace(executed)

"""Runs the cells of a document in a kernel; nbclient and what it stands on are imported here and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from traitlets.config import Config

from ragkit.errors import RagkitError
from ragkit.files import scratch
from ragkit.jupyter import sockets
from ragkit.render.document import OPTIONS, Document, name_of

_SKIP = "ragkit-skip"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class CellFailed(RagkitError):
    """A cell raised; the cells before it keep their outputs, its own output has the traceback."""


def execute(document: Document, folder: Path) -> None:
    """Run every cell in `folder`, outputs go into the notebook.

    Raises `CellFailed`, naming the cell; `RagkitError` when the kernel is missing, doesn't start or dies; `FileError` when
    there is no place for temporary files.
    """
    cells = [cell for cell in document.notebook.cells if cell.cell_type == "code"]
    for cell in cells:
        if not cell.metadata[OPTIONS]["eval"]:
            cell.metadata["tags"] = [_SKIP]
    if not any(cell.metadata[OPTIONS]["eval"] for cell in cells):
        return
    try:
        with scratch("rk-") as place:
            client = NotebookClient(
                document.notebook,
                timeout=None,
                kernel_name=document.kernel,
                skip_cells_with_tag=_SKIP,
                resources={"metadata": {"path": str(folder)}},
                config=Config({"KernelManager": sockets(place)}),
            )
            client.execute()
    except CellExecutionError as error:
        raise CellFailed(f"{_failed(document)} raised {error.ename}: {_COLOUR.sub('', error.evalue)}") from error
    except NoSuchKernel as error:
        raise RagkitError(
            f"no Jupyter kernel {document.kernel!r}: install ipykernel into this environment, or name one that"
            " `jupyter kernelspec list` shows"
        ) from error
    except DeadKernelError as error:
        raise RagkitError(f"the kernel died in {_last(document)} (out of memory?)") from error
    except RuntimeError as error:  # nbclient's word for a kernel that ends before it answers
        raise RagkitError(f"the Jupyter kernel {document.kernel!r} doesn't start: {error}") from error


def _failed(document: Document) -> str:
    for cell in document.notebook.cells:
        if cell.cell_type == "code" and any(output.output_type == "error" for output in cell.outputs):
            return name_of(cell)
    return "a cell"


def _last(document: Document) -> str:
    started = [c for c in document.notebook.cells if c.cell_type == "code" and "execution" in c.metadata]
    return name_of(started[-1]) if started else "its first cell"

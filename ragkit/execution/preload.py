"""What a sweep's workers and notebooks import, all at once: they are forked from a process that has done it."""

from __future__ import annotations

import importlib
import os

from ragkit.jupyter import import_jsonschema

os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as kernels set it
import_jsonschema()
for name in (
    "ipykernel.kernelapp",
    "papermill",
    "ragkit.execution.kernels",
    "ragkit.experiment",
    "ragkit.notebook",
    "ragkit.report.answers",
    "ragkit.report.plots",
    "ragkit.report.summary",
):
    importlib.import_module(name)

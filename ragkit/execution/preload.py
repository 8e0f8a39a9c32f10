"""What a sweep's workers and notebooks import, all at once: they are forked from a process that has done it."""

# ruff: noqa: E402, F401 - importing is what this is for, and two things come before the rest
from __future__ import annotations

import os

from ragkit.jupyter import import_jsonschema

os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as kernels set it
import_jsonschema()

import ipykernel.kernelapp
import papermill

import ragkit.execution.kernels
import ragkit.experiment
import ragkit.notebook
import ragkit.report.answers
import ragkit.report.plots
import ragkit.report.summary

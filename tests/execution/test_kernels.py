"""Kernels that were forked before they were needed: what they have, and what they must not have."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import nbformat
import pytest

from ragkit.execution import executors
from ragkit.execution.executors import processes, work
from ragkit.execution.notebook import Task
from tests.execution.test_sweep import alive, until

pytestmark = pytest.mark.skipif(not executors.FORKS, reason="kernels are forked on Linux only")


@contextlib.contextmanager
def one_worker(folder: Path) -> Iterator[Executor]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with processes(1) as executor:
            yield executor


def task(folder: Path, name: str, *cells: str, kernel: str = "python3") -> Task:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", metadata={"tags": ["parameters"]})])
    made.cells += [nbformat.v4.new_code_cell(cell) for cell in cells]
    made.metadata.kernelspec = {"name": kernel, "language": "python", "display_name": kernel}
    nbformat.write(made, folder / f"{name}.ipynb")
    return Task(str(folder / f"{name}.ipynb"), str(folder / f"{name}.executed.ipynb"), str(folder), {})


def done(executor: Executor, folder: Path, name: str, *cells: str, kernel: str = "python3") -> list[dict[str, Any]]:
    """Execute these cells; the outputs of all of them."""
    executor.submit(work, task(folder, name, *cells, kernel=kernel)).result()
    content = json.loads((folder / f"{name}.executed.ipynb").read_text(encoding="utf-8"))
    return [output for cell in content["cells"] for output in cell.get("outputs", [])]


def said(outputs: list[dict[str, Any]]) -> Any:
    return json.loads("".join(text for output in outputs for text in output["text"]))


WHO = "import json, os, sys\nprint(json.dumps([os.getpid(), os.getppid(), 'ragkit.experiment' in sys.modules]))"
LEAVE = (
    "import os, random, ragkit\n"
    "ragkit.left = left = os.environ['LEFT'] = 'x'\n"
    "os.chdir('/')\n"
    "import matplotlib; matplotlib.rcParams['font.size'] = 77"
)
FIND = (
    "import json, os, matplotlib, ragkit\n"
    "print(json.dumps([hasattr(ragkit, 'left'), 'left' in globals(), 'LEFT' in os.environ, os.getcwd(),"
    " matplotlib.rcParams['font.size']]))"
)


def test_modules_are_there_and_nothing_of_another_notebook(tmp_path: Path) -> None:
    with one_worker(tmp_path) as executor:
        first = said(done(executor, tmp_path, "who", WHO))
        done(executor, tmp_path, "leave", LEAVE)
        assert said(done(executor, tmp_path, "find", FIND)) == [False, False, False, str(tmp_path), 10.0]
        second = said(done(executor, tmp_path, "who", WHO))
    assert first[2]
    assert second[2]
    assert {*first[:2]}.isdisjoint(second[:2])  # another kernel, of another worker
    until(lambda: not any(map(alive, [*first[:2], *second[:2]])))


def test_figures_are_shown_and_children_are_allowed(tmp_path: Path) -> None:
    plot = "from matplotlib import pyplot\npyplot.plot([1, 2]);"
    child = (
        "import json, multiprocessing\n"
        "with multiprocessing.get_context('fork').Pool(1) as pool:\n"
        "    print(json.dumps(pool.map(abs, [-1, 2])))"
    )
    with one_worker(tmp_path) as executor:
        assert any("image/png" in output.get("data", {}) for output in done(executor, tmp_path, "plot", plot))
        assert said(done(executor, tmp_path, "child", child)) == [1, 2]


def test_the_environment_is_that_of_the_sweep_not_of_the_first_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = "import json, os, tempfile\nprint(json.dumps([os.environ.get('RAGKIT_CACHE'), tempfile.gettempdir()]))"
    temporary = []
    for cache in ("one", "two"):
        monkeypatch.setenv("RAGKIT_CACHE", cache)
        with one_worker(tmp_path) as executor:
            found = said(done(executor, tmp_path, "ask", ask))
        assert found[0] == cache
        temporary.append(found[1])
    assert len({*temporary}) == 2
    assert not any(map(os.path.exists, temporary))


def test_another_kernel_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = tmp_path / "jupyter/kernels/other"
    spec.mkdir(parents=True)
    arguments = [sys.executable, "-X", "utf8", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": arguments, "display_name": "o", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    ask = "import json, sys\nprint(json.dumps([sys.flags.utf8_mode, 'ragkit' in sys.modules]))"
    with one_worker(tmp_path) as executor:
        assert said(done(executor, tmp_path, "ask", ask, kernel="other")) == [1, False]


def test_where_nothing_forks_every_kernel_imports_for_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "FORKS", False)
    with one_worker(tmp_path) as executor:
        first, second = (said(done(executor, tmp_path, name, WHO)) for name in "ab")
    assert not first[2]
    assert first[0] != second[0]
    assert first[1] == second[1]  # the worker does both


def test_a_dead_kernel_is_told(tmp_path: Path) -> None:
    with one_worker(tmp_path) as executor:
        with pytest.raises(RuntimeError, match="Kernel died"):
            done(executor, tmp_path, "die", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
        assert said(done(executor, tmp_path, "who", WHO))[2]


def test_a_killed_worker_takes_its_kernel_along(tmp_path: Path) -> None:
    wait = (
        f"{WHO}\nfrom pathlib import Path; import time\nPath('who').write_text(f'{{os.getpid()}} {{os.getppid()}} ')\n"
    )
    with one_worker(tmp_path) as executor:
        future = executor.submit(work, task(tmp_path, "wait", f"{wait}time.sleep(600)"))
        who = tmp_path / "who"
        until(lambda: who.exists() and who.read_text().endswith(" "))
        kernel, worker = map(int, who.read_text().split())
        os.kill(worker, signal.SIGKILL)
        with pytest.raises(BrokenProcessPool):
            future.result()
    until(lambda: not alive(kernel))


def test_a_kernel_that_nobody_wanted_ends(tmp_path: Path) -> None:
    with one_worker(tmp_path) as executor:
        waiting = executor.submit(eval, "[c.pid for c in __import__('multiprocessing').active_children()]").result()
    assert len(waiting) == 1
    until(lambda: not any(map(alive, waiting)))

"""Jupyter's packages without a grammar that none of their schemas needs; where kernels have their sockets."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ragkit.errors import FileError
from ragkit.execution import executors
from ragkit.jupyter import sockets


def fresh(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_grammar_is_not_compiled_and_notebooks_are_still_validated() -> None:
    assert (
        fresh(
            "from ragkit.jupyter import import_jsonschema\n"
            "import_jsonschema()\n"
            "import sys, nbformat, papermill\n"
            "print('rfc3987_syntax' in sys.modules)\n"
            "nbformat.validate(nbformat.v4.new_notebook())\n"
            "try:\n"
            "    nbformat.validate({**nbformat.v4.new_notebook(), 'more': 1})\n"
            "except nbformat.ValidationError:\n"
            "    print('refused')\n"
        )
        == "False\nrefused"
    )


def test_others_can_still_import_it() -> None:
    code = (
        "import importlib.util as util\n"
        "from ragkit.jupyter import import_jsonschema\n"
        "before = util.find_spec('rfc3987_syntax')\n"
        "import_jsonschema()\n"
        "print((util.find_spec('rfc3987_syntax') is None) == (before is None))\n"
    )
    assert fresh(code) == "True"


def test_what_is_imported_already_stays() -> None:
    code = (
        "import sys, types\n"
        "from ragkit.jupyter import import_jsonschema\n"
        "sys.modules['rfc3987_syntax'] = own = types.ModuleType('rfc3987_syntax')\n"
        "own.is_valid_syntax = lambda term, value: True\n"
        "import_jsonschema()\n"
        "print(sys.modules['rfc3987_syntax'] is own)\n"
    )
    assert fresh(code) == "True"


def test_what_executes_notebooks_and_renders_pages_does_without_it() -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from ragkit.execution.notebook import check_notebook\n"
        "check_notebook(Path('notebooks/evaluate.ipynb'), {'config': '', 'overrides': [], 'out': ''})\n"
        "from click.testing import CliRunner\n"
        "from ragkit.cli.render import render_command\n"
        "CliRunner().invoke(render_command, ['missing.qmd'])\n"
        "print('nbconvert' in sys.modules, 'rfc3987_syntax' in sys.modules)\n"
    )
    assert fresh(code) == "True False"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has sockets of TCP only")
def test_sockets_lie_in_the_folder_unless_its_path_is_too_long() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        long = Path(short, "x" * (98 - len(short)))
        long.mkdir()
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(f"{sockets(long)['ip']}-5")
        assert sockets(long)["transport"] == "ipc"
        with pytest.raises(FileError, match="too long a path for a kernel's sockets: set TMPDIR"):
            sockets(Path(f"{long}x"))


@pytest.mark.skipif(not executors.FORKS, reason="workers are forked on Linux only")
def test_a_temporary_folder_that_is_too_long_for_the_workers_socket(tmp_path: Path) -> None:
    code = (
        "import tempfile, sys\n"
        "from ragkit.errors import FileError\n"
        "from ragkit.execution.executors import preload\n"
        "tempfile.tempdir = sys.argv[1]\n"
        "try:\n"
        "    preload()\n"
        "except FileError as error:\n"
        "    print(error)\n"
    )
    long = tmp_path / ("x" * 100)
    long.mkdir()
    done = subprocess.run([sys.executable, "-c", code, long], capture_output=True, text=True, check=True)
    assert "no socket can be made there" in done.stdout
    assert "set TMPDIR" in done.stdout
    assert not done.stderr
    assert not list(long.iterdir())

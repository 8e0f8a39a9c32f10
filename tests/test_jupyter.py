"""Jupyter's packages without a grammar that none of their schemas needs."""

from __future__ import annotations

import subprocess
import sys


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

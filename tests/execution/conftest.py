"""A small corpus on which it is known beforehand which settings are better, worse and equal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ragkit.cli import run

COUNT = 54
"""Questions; every third is in dev. The fact of an odd one is long, so that its cosine with the question is below 0.38."""


def fact(number: int) -> str:
    code = f"zu{number * 7919 % 9973:04d}"
    if number % 2 == 0:
        return f"Valve {code} closes at {number + 10} bar of gauge {code}."
    return (
        f"Pump {code} was moved to hall {number + 3} after the flood, and crew {code} checks its bearings"
        f" every {number + 2} weeks."
    )


def write(path: str, content: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(content, encoding="utf-8")


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project as working directory with a frozen baseline, whose threshold loses every long fact."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGKIT_CACHE", str(tmp_path / "cache"))
    ids = [f"q{number:02d}" for number in range(COUNT)]
    lines = []
    for number, identifier in enumerate(ids):
        write(f"eval/corpus/{number % 6}/note-{number:02d}.md", f"# Note {number}\n\n{fact(number)}\n")
        subject = " ".join(fact(number).split()[:2])
        relevant = [{"document": f"{number % 6}/note-{number:02d}.md", "block": 1, "quote": fact(number)}]
        lines.append(
            {
                "id": identifier,
                "question": f"What about {subject}?",
                "type": ["short", "long"][number % 2],
                "relevant": relevant,
            }
        )
    write("eval/questions.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    write("eval/splits.json", json.dumps({"dev": ids[::3], "test": [i for i in ids if i not in ids[::3]]}))
    write(
        "eval/configs/v1.4.toml",
        'name = "v1.4"\n[model]\nname = "hashing"\nsource = "builtin"\n'
        '[chunking]\nstrategy = "recursive"\n[retrieval]\nstrategy = "dense"\nthreshold = 0.38\n[evaluation]\nbootstrap = 100\n',
    )
    write("eval/policy.toml", 'family = ["better", "worse", "equal"]\n')
    assert run(["freeze", "--allow", "dirty"]) == 0
    return tmp_path


Sweeping = Callable[..., str]


@pytest.fixture
def sweep_file(plant: Path) -> Sweeping:
    """`sweep_file(name, label="retrieval.threshold = 0.0")`: the path of a sweep file with these variants."""

    def written(name: str, *, notebook: Path = Path(__file__).parent / "resources/quick.ipynb", **variants: str) -> str:
        path = f"eval/sweeps/{name}.toml"
        blocks = [f'[[variants]]\nname = "{label}"\nset = {{ {entries} }}\n' for label, entries in variants.items()]
        write(path, "\n".join([f'name = "{name}"\nnotebook = "{notebook.as_posix()}"\n', *blocks]))
        return path

    return written

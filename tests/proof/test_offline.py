"""Every command works where there is no network at all; those that are for the network say so."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ragkit.cli import COMMANDS
from tests.proof.processes import OFFLINE, need, ragkit, told

STABLE = ("metrics.json", "rankings.jsonl", "run.trec", "qrels.trec")
WORKS = {
    "cache-key": "cache-key",
    "eval": "eval",
    "freeze": "freeze --allow saturated",
    "check": "check",
    "compare": "compare v1.4 eval/runs/small",
    "sweep": "sweep eval/sweeps/sizes.toml",
    "render": "render --engine jupyter docs/eval/baseline-v1.4.qmd --out pages",
    "validate": "validate",
    "blocks": "blocks eval/corpus/sheet.html",
    "locate": "locate six years",
    "golden": "golden",
    "record": "record --config eval/configs/v1.4.toml",
    "import": "import beir scifact",
    "export": "export beir eval/runs/small",
    "init": "init mine",
    "score": "score eval/runs/small/run.trec --qrels eval/runs/small/qrels.trec",
}
NEEDS_NETWORK = {
    "prepare": ("prepare", 3, "Check the connection"),
    "record": ("record --http http://search.invalid/ --map map.toml", 2, "search.invalid"),
    "eval": ("eval --retriever http --url http://search.invalid/ --map map.toml", 2, "search.invalid"),
    "sweep": ("sweep eval/sweeps/sizes.toml --scheduler tcp://scheduler.invalid:8786", 2, "scheduler.invalid"),
}


@pytest.fixture(autouse=True)
def _without_network() -> None:
    need(OFFLINE)


def test_there_really_is_no_interface() -> None:
    done = subprocess.run(
        [*OFFLINE, "cat", "/proc/net/route", "/proc/net/dev"], capture_output=True, text=True, check=True
    )
    assert [line.split(":")[0].strip() for line in done.stdout.splitlines() if ":" in line] == ["lo"]
    loopback = ["python3", "-c", "import socket; socket.create_connection(('127.0.0.1', 9))"]
    done = subprocess.run([*OFFLINE, *loopback], capture_output=True, text=True, check=False)
    assert "unreachable" in done.stderr


def test_no_command_is_forgotten() -> None:
    assert set(WORKS) | {"prepare"} == set(COMMANDS)


@pytest.mark.parametrize("command", WORKS)
def test_it_works_without_a_network(project: Path, command: str) -> None:
    arguments = WORKS[command].split()
    assert arguments[0] == command
    told(ragkit(*arguments, prefix=OFFLINE), 0)


@pytest.mark.parametrize("command", NEEDS_NETWORK)
def test_what_needs_a_network_says_what_it_could_not_reach(project: Path, command: str) -> None:
    arguments, code, words = NEEDS_NETWORK[command]
    told(ragkit(*arguments.split(), prefix=OFFLINE, PIP_RETRIES="0"), code, words)
    assert not Path("eval/runs/v1.4").exists()


@pytest.mark.model
def test_the_real_model_gives_the_same_bytes(project: Path, prepared_cache: Path) -> None:
    settings = Path("eval/configs/v1.4.toml")
    settings.write_text(settings.read_text().replace('name = "hashing"\nsource = "builtin"', 'source = "pypi"'))
    for out, prefix in (("with", ()), ("without", OFFLINE)):
        arguments = ["eval", "--out", out, "--no-cache"]
        told(ragkit(*arguments, prefix=prefix, RAGKIT_CACHE=str(prepared_cache)), 0)
    for name in STABLE:
        assert Path("with", name).read_bytes() == Path("without", name).read_bytes()

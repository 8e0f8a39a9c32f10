"""The frozen baseline: making it, explicitly, and checking that what is committed can be made again.

A baseline is four files in docs/eval: `baseline-NAME.json` is the run's metrics.json byte for byte,
`.meta.json` says where it comes from, `.timing.json` what it cost there, `.md` is made of the three.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragkit import environment
from ragkit.comparison import Policy, check_comparable, headroom, read_metrics
from ragkit.comparison.evaluation import Metrics
from ragkit.comparison.frozen import SCHEMA, check_whole, read_meta, stopped
from ragkit.comparison.rerun import Flip, flips
from ragkit.config import Configuration
from ragkit.dataset import validate
from ragkit.errors import BaselineError, Rejected, UsageError
from ragkit.files import alone, canonical_json, is_leftover, read_json, read_text, scratch, sha256_bytes, write_together
from ragkit.ingest import read_corpus
from ragkit.report.baseline import baseline_markdown

FOLDER = Path("docs/eval")


@dataclass(frozen=True, slots=True)
class Paths:
    """The four files of a baseline."""

    metrics: Path
    meta: Path
    timing: Path
    markdown: Path

    @classmethod
    def of(cls, name: str, folder: Path = FOLDER) -> Paths:
        stem = f"baseline-{name}"
        return cls(*(folder / f"{stem}.{ending}" for ending in ("json", "meta.json", "timing.json", "md")))


def freeze(
    settings: Configuration,
    source: Path,
    command: str,
    *,
    evaluate: Callable[[Path], object],
    policy: Policy,
    allow: Sequence[str] = (),
) -> Paths:
    """Run `settings` and commit to it: write the four files, the previous baseline's figures kept in `history`.

    `source` is the configuration's file, `command` what was typed, `evaluate` runs `settings` into a
    folder. `allow` may hold `dirty` and `saturated`. Raises `UsageError` for a work tree with uncommitted
    changes or without git, and for a primary measure with no headroom; `DataError` when validation fails.
    """
    paths = Paths.of(settings.name)
    commit = _commit(paths, "dirty" in allow)
    documents = read_corpus(Path(settings.dataset.corpus))
    validate(Path(settings.dataset.questions), Path(settings.dataset.splits), documents).raise_problems()
    with alone(FOLDER):  # not while another freeze writes them
        history = _history(paths)
    with scratch("ragkit-freeze-") as folder:
        out = folder / "run"
        evaluate(out)
        content, timing = (out / "metrics.json").read_bytes(), read_json(out / "timing.json")
        _check_headroom(read_metrics(out / "metrics.json"), policy, "saturated" in allow)
    meta = {
        "schema": SCHEMA,
        "name": settings.name,
        "commit": commit,
        "command": command,
        "configuration": source.as_posix(),
        "dataset": settings.dataset.model_dump(mode="json"),
        "environment": timing["environment"],
        "fingerprint": timing["fingerprint"],
        "metrics_sha256": sha256_bytes(content),
        "history": history,
    }
    # `stopped` knows by this order what a freeze that was killed between two of them has left.
    write_together(
        [
            (paths.meta, canonical_json(meta)),
            (paths.timing, canonical_json(timing)),
            (paths.markdown, baseline_markdown(json.loads(content), json.loads(canonical_json(meta)), timing)),
            (paths.metrics, content),
        ]
    )
    return paths


@dataclass(frozen=True, slots=True)
class Check:
    """What a check found: `problems` fail it, `notices` don't; `flips` are the questions that moved."""

    problems: tuple[str, ...]
    notices: tuple[str, ...]
    flips: tuple[Flip, ...]

    def raise_problems(self) -> None:
        """Raises `Rejected`, with every problem and the questions that moved."""
        if self.problems:
            raise Rejected("\n".join([*self.problems, *map(describe, self.flips)]))


def check(settings: Configuration, *, evaluate: Callable[[Path], object], policy: Policy) -> Check:
    """Run `settings` again, by `evaluate` into a folder, and compare with its committed baseline.

    On the machine kind that froze it every byte of metrics.json must be the same; on another, rankings
    may differ where scores moved by at most the policy's tolerance. The committed Markdown must be what
    the committed JSON makes. Raises `BaselineError` when there is no baseline, or it is of another
    corpus, question set, splits, coverage version or model source; `FileError` when it can't be read.
    """
    paths = Paths.of(settings.name)
    for path in (paths.metrics, paths.meta, paths.timing):
        if not path.exists():
            raise BaselineError(f"{path}: no baseline {settings.name!r} here: ragkit freeze makes one")
    with alone(FOLDER):  # not while a freeze writes them
        committed, meta = read_metrics(paths.metrics), read_meta(paths.meta)
        if stopped(paths.metrics, meta):
            check_whole(paths.metrics)
    problems = []
    if sha256_bytes(paths.metrics.read_bytes()) != meta["metrics_sha256"]:
        problems.append(f"{paths.metrics}: is not the file that was frozen (its hash differs): restore it from git")
    if not paths.markdown.exists() or read_text(paths.markdown) != _markdown(paths):
        problems.append(f"{paths.markdown}: is not what the JSON beside it makes: don't edit it, freeze again")
    with scratch("ragkit-check-") as folder:
        out = folder / "run"
        evaluate(out)
        again = read_metrics(out / "metrics.json")
        same_bytes = (out / "metrics.json").read_bytes() == paths.metrics.read_bytes()
    check_comparable(committed, again)
    if {q.id for q in committed.questions} != {q.id for q in again.questions}:
        raise BaselineError(f"{paths.metrics}: has other questions than this run: same dataset.split?")
    moved = tuple(flips(committed, again))
    found, notices = _judge(committed, again, meta, same_bytes, moved, policy)
    return Check((*problems, *found), notices, moved)


def _judge(
    committed: Metrics, again: Metrics, meta: dict[str, Any], same_bytes: bool, moved: Sequence[Flip], policy: Policy
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if same_bytes:
        return (), ()
    count = f"{len(moved)} of {len(committed.questions)} questions moved"
    if committed.config_id != again.config_id:
        return (
            f"the configuration is another than the baseline's ({again.config_id}, {committed.config_id}): {count}",
        ), ()
    here = environment.fingerprint(environment.describe())
    if here == meta["fingerprint"]:
        return (f"same configuration, same kind of machine, other numbers: {count}",), ()
    tolerance = policy.check.score_tolerance
    beyond = [flip for flip in moved if flip.gap > tolerance]
    if beyond:
        return (f"another kind of machine, and {len(beyond)} questions moved by more than {tolerance:g}: {count}",), ()
    return (), (f"another kind of machine than the baseline's: {count}, all within the score tolerance {tolerance:g}",)


def describe(flip: Flip) -> str:
    """One line for a question that moved."""
    values = ", ".join(f"{name} {old:.3f} -> {new:.3f}" for name, (old, new) in flip.values.items())
    return (
        f"  {flip.question}: rank {flip.rank} was {flip.was or 'empty'}, is {flip.now or 'empty'}"
        f" (scores moved by {flip.gap:.6f}){'; ' + values if values else ''}"
    )


def _markdown(paths: Paths) -> str:
    return baseline_markdown(read_json(paths.metrics), read_json(paths.meta), read_json(paths.timing))


def _history(paths: Paths) -> list[dict[str, Any]]:
    """What stood here before, newest last: commit, configuration and the means, so that a series can be told."""
    if not paths.meta.exists() or not paths.metrics.exists():
        return []
    meta, metrics = read_meta(paths.meta), read_json(paths.metrics)
    if stopped(paths.metrics, meta):
        return list(meta["history"])  # of which the last is what stands here; the stopped freeze never was a baseline
    check_whole(paths.metrics)
    entry = {
        "commit": meta["commit"],
        "config_id": metrics["config_id"],
        "metrics_sha256": meta["metrics_sha256"],
        "measures": {name: found["mean"] for name, found in metrics["measures"].items()},
    }
    return [*meta["history"], entry]


def _check_headroom(metrics: Metrics, policy: Policy, allowed: bool) -> None:
    name = policy.primary.measure
    values = [q.measures[name] for q in metrics.questions if name in q.measures and q.split == "test"]
    found = headroom(values, policy.level)
    if not found.enough and not allowed:
        raise UsageError(
            f"{name} is saturated: {found.improvable} of {found.n} test questions are below 1, so no change could be"
            f" found better at alpha {policy.level:g}. Write harder questions, or freeze with --allow saturated"
        )


def _commit(paths: Paths, dirty_allowed: bool) -> str:
    """The last commit that touched eval/. The baseline's own files may be uncommitted."""
    own = {path.as_posix() for path in (paths.metrics, paths.meta, paths.timing, paths.markdown)}
    try:
        entries = _git("status", "--porcelain", "-z", "--untracked-files=all").split("\0")
        commit = _git("log", "-1", "--format=%H", "--", "eval").strip()
    except (OSError, subprocess.CalledProcessError) as error:
        if dirty_allowed:
            return "uncommitted"
        raise UsageError("a baseline names the commit it was made at, and this is no git work tree") from error
    changed = [entry[3:] for entry in entries if entry and entry[3:] not in own and not is_leftover(entry[3:])]
    if changed and not dirty_allowed:
        shown = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
        raise UsageError(f"uncommitted changes ({shown}): commit them first, or freeze with --allow dirty")
    return commit or "uncommitted"


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True, encoding="utf-8").stdout  # noqa: S603, S607  fixed words

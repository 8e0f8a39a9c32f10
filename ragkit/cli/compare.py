"""`ragkit compare`."""

from __future__ import annotations

import dataclasses
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from ragkit.cli.console import notice, say, show, show_json
from ragkit.errors import BaselineError, FileError, Rejected, UsageError
from ragkit.files import alone, canonical_line, write_atomic

BASELINES = Path("docs/eval")


@click.command("compare")
@click.argument("baseline")
@click.argument("candidate")
@click.option("--split", type=click.Choice(["all", "dev", "test"]), help="Which questions.  [default: all]")
@click.option(
    "--policy",
    "policy_path",
    type=click.Path(path_type=Path),
    help="What is adopted; the ledger lies beside it.  [default: eval/policy.toml]",
)
@click.option("--markdown", type=click.Path(dir_okay=False, path_type=Path), help="Also write it for a pull request.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option("--require", type=click.Choice(["adopt"]), help="Exit with 1 on any other verdict.")
@click.option("--confirm", is_flag=True, help="The one confirmatory test, on the test questions; goes into the ledger.")
@click.option("--again", is_flag=True, help="With --confirm: although the ledger has a test of this pair.")
@click.option(
    "--adjudicate",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the unlabelled hits of flipped questions to this JSONL file, to be judged blind.",
)
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    default="eval/corpus",
    show_default=True,
    help="Where --adjudicate takes the texts of hits from.",
)
def compare_command(
    baseline: str,
    candidate: str,
    split: Any,
    policy_path: Path | None,
    markdown: Path | None,
    as_json: bool,
    require: str | None,
    confirm: bool,
    again: bool,
    adjudicate: Path | None,
    corpus: Path,
) -> None:
    """Compare an evaluation with a baseline: paired differences, what they prove, a verdict by the policy.

    BASELINE and CANDIDATE are metrics.json files, run folders, or the name of a committed baseline. Exits with 1
    when the candidate is rejected, with 4 when the two don't compare.

    \b
    ragkit compare v1.4 eval/runs/small --split dev
    ragkit compare v1.4 eval/runs/small --confirm
    ragkit compare v1.4 eval/runs/small --markdown comment.md --require adopt
    """
    from ragkit.comparison import Policy, compare, ledger, read_metrics, read_policy, read_timing
    from ragkit.comparison.frozen import check_whole
    from ragkit.comparison.policy import DEFAULT_PATH
    from ragkit.report.comparison import comparison_json, comparison_markdown, comparison_tables, headline, remarks

    if again and not confirm:
        raise UsageError("--again goes with --confirm")
    if confirm and split not in (None, "test"):
        raise UsageError(f"--confirm --split {split}: the confirmatory test is on the test questions")
    given = policy_path or DEFAULT_PATH
    if policy_path is None and not given.exists():
        notice(f"{given}: not there; the protocol's own values are used")
        policy = Policy()
    else:
        policy = read_policy(given)
    paths = _find(baseline, BaselineError), _find(candidate, FileError)
    left, right = map(read_metrics, paths)
    for path in paths:
        check_whole(path)
    timing = (read_timing(paths[0]), read_timing(paths[1]))
    book = given.with_name("ledger.jsonl")
    with alone(book.parent) if confirm else nullcontext():  # nobody tests the pair between the look and the entry
        if confirm:
            ledger.check_first(book, left, right, again=again)
        found = compare(left, right, policy, split or ("test" if confirm else "all"), timing=timing)
        if confirm:
            entry = ledger.record(book, found, left, right, len(policy.family))
            found = dataclasses.replace(found, confirmation=entry)
            notice(f"{book}: recorded; commit it")
    if markdown is not None:
        write_atomic(markdown, comparison_markdown(found))
    if adjudicate is not None:
        _write_adjudication(adjudicate, found, corpus)
    if as_json:
        show_json(comparison_json(found))
    elif sys.stdout.isatty():
        for line in (headline(found), found.verdict.sentence, *remarks(found)):
            say(line)
        for shown in comparison_tables(found):
            if shown.rows:
                show(shown)
    else:
        say(comparison_markdown(found).removesuffix("\n"))
    if found.verdict.decision == "reject" or (require and found.verdict.decision != require):
        raise Rejected(f"{headline(found)}. {found.verdict.sentence}")


def _find(name: str, missing: type[BaselineError | FileError]) -> Path:
    """The metrics.json that an argument means: a file, a run folder, or a baseline's name."""
    given = Path(name)
    for path in (given / "metrics.json", given, BASELINES / f"baseline-{name}.json"):
        if path.is_file():
            return path
    ending = (".meta", ".timing")
    known = sorted(path.stem.removeprefix("baseline-") for path in BASELINES.glob("baseline-*.json"))
    known = [stem for stem in known if not stem.endswith(ending)]
    hint = f"baselines: {', '.join(known)}" if known else "no baseline is committed: ragkit freeze makes one"
    raise missing(f"{name}: no metrics.json, run folder or baseline of that name; {hint}; ragkit eval makes a run")


def _write_adjudication(path: Path, found: Any, corpus: Path) -> None:
    from ragkit.ingest import parse_document
    from ragkit.names import slug_fault
    from ragkit.report.comparison import adjudication

    documents: dict[str, Any] = {}

    def text_of(at: str) -> str | None:
        slug, _, blocks = at.rpartition("#")
        if slug not in documents:
            file = corpus / slug
            known = slug_fault(slug) is None and file.is_file() and file.resolve().is_relative_to(corpus.resolve())
            documents[slug] = parse_document(file, slug) if known else None
        first, _, last = blocks.partition("-")
        document = documents[slug]
        chosen = document.blocks[int(first) : int(last or first) + 1] if document else ()
        return "\n\n".join(block.text for block in chosen) or None

    lines = adjudication(found, text_of)
    write_atomic(path, "".join(map(canonical_line, lines)))
    notice(f"{path}: {len(lines)} hits to judge")

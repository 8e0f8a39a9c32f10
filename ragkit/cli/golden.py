"""`ragkit golden` and `ragkit record`: saved results of any system against golden cases."""

from __future__ import annotations

from pathlib import Path

import click

from ragkit.cli.console import notice, progress, say, show, show_json
from ragkit.errors import Rejected, UsageError

CASES = Path("eval/golden/cases.json")
FIXTURES = Path("eval/golden/fixtures")
REPORT = Path("docs/eval/golden-baseline")

_cases = click.option(
    "--cases",
    "cases_path",
    type=click.Path(path_type=Path),
    default=CASES,
    show_default=True,
    help="The golden cases.",
)


@click.command("golden")
@_cases
@click.option(
    "--fixtures",
    "fixtures_path",
    type=click.Path(path_type=Path),
    default=FIXTURES,
    show_default=True,
    help="A folder of saved results, or one file.",
)
@click.option(
    "--map", "mapping", type=click.Path(path_type=Path), help="Mapping file.  [default: map.toml beside the fixtures]"
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help=f"Write OUT.json and OUT.md.  [default: {REPORT}; none with --compare]",
)
@click.option(
    "--compare", "old", type=click.Path(path_type=Path), help="An earlier JSON report; exit 1 if a case fell."
)
@click.option("--allow", multiple=True, metavar="CASE", help="A case that may fall; repeatable.")
@click.option("--k", type=click.IntRange(1), default=10, show_default=True, help="How many candidates count.")
@click.option(
    "--min-coverage",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    show_default=True,
    help="Share of the keywords that counts as complete.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the JSON report instead of tables.")
def golden_command(
    cases_path: Path,
    fixtures_path: Path,
    mapping: Path | None,
    out: Path | None,
    old: Path | None,
    allow: tuple[str, ...],
    k: int,
    min_coverage: float,
    as_json: bool,
) -> None:
    """Score saved retrieval results of any system: strong, medium, weak or miss, case by case.

    Fixture replay, not live accuracy: no model, database, network or running application takes part.

    \b
    ragkit golden
    ragkit golden --fixtures after-migration --compare docs/eval/golden-baseline.json
    """
    from ragkit.files import canonical_json, read_json, sha256_file, write_together
    from ragkit.golden.cases import read_cases
    from ragkit.golden.changes import compare
    from ragkit.golden.fixtures import read_fixtures
    from ragkit.golden.replay import replay
    from ragkit.report.golden import cases_table, changes_table, golden_markdown, headline, levels_table

    target = out if out or old else REPORT
    target = target.with_suffix("") if target and target.suffix in (".json", ".md") else target
    if old and target and Path(f"{target}.json").resolve() == old.resolve():
        raise UsageError(f"--out {target}: would overwrite the report that is compared with: name another one")
    if allow and not old:
        raise UsageError("--allow goes with --compare")
    earlier = read_json(old) if old else None  # before anything is written
    cases = read_cases(cases_path)
    fixtures = read_fixtures(fixtures_path, cases, mapping)
    report = replay(cases, fixtures, cases_sha256=sha256_file(cases_path), k=k, min_coverage=min_coverage)
    changes = compare(earlier, report, str(old)) if earlier is not None else []
    known = {case.id for case in cases} | {change.case for change in changes}
    if unknown := sorted(set(allow) - known):
        raise UsageError(f"--allow {unknown[0]}: no such case")
    if target:
        content, text = canonical_json(report), golden_markdown(report)
        write_together([(Path(f"{target}.md"), text), (Path(f"{target}.json"), content)])
    fallen = [change.case for change in changes if change.fell and change.case not in allow]
    if as_json:
        show_json(report)
    else:
        for warning in report["warnings"]:
            notice(f"warning: {warning}")
        say(headline(report))
        show(levels_table(report))
        show(cases_table(report))
        if changes:
            show(changes_table([(c.case, c.old, c.new, _verdict(c.fell, c.case in allow)) for c in changes]))
        elif old:
            say("no case moved")
    if fallen:
        raise Rejected(f"{len(fallen)} golden cases fell: {', '.join(fallen)}")


def _verdict(fell: bool, allowed: bool) -> str:
    if not fell:
        return "up"
    return "fell (allowed)" if allowed else "fell"


@click.command("record")
@_cases
@click.option("--config", "path", type=click.Path(path_type=Path), help="Record what this configuration retrieves.")
@click.option("--http", "url", metavar="URL", help="Record what the service at URL returns.")
@click.option("--map", "mapping", type=click.Path(path_type=Path), help="How to ask it and read its answers (--http).")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=FIXTURES / "recorded.json",
    show_default=True,
    help="The fixture file; replaced as a whole.",
)
@click.option("--k", type=click.IntRange(1), default=10, show_default=True, help="How many candidates to ask for.")
def record_command(
    cases_path: Path, path: Path | None, url: str | None, mapping: Path | None, out: Path, k: int
) -> None:
    """Save what a retriever returns for the golden cases, as a fixture file.

    \b
    ragkit record --config eval/configs/v1.4.toml
    ragkit record --http http://localhost:8000/search --map map.toml --out eval/golden/fixtures/app.json
    """
    from ragkit.golden.cases import read_cases
    from ragkit.golden.record import record

    if (path is None) == (url is None):
        raise UsageError("give one of --config and --http")
    if url is None and mapping is not None:
        raise UsageError("--map goes with --http")
    cases = read_cases(cases_path)
    if url is not None:
        from ragkit.interop.mapping import Mapping, load_mapping
        from ragkit.interop.service import connect, public_url

        with (
            connect(url, load_mapping(mapping) if mapping else Mapping()) as service,
            progress("cases", len(cases)) as advance,
        ):
            record(out, cases, service.ask, k=k, provenance={"url": public_url(url)}, progress=advance)
    elif path is not None:
        from ragkit import config
        from ragkit.embedding import cache_root
        from ragkit.indexing import Clock, indexed
        from ragkit.retrieval.candidates import ask, provenance

        settings = config.load(path)
        with (
            indexed(settings, cache=cache_root(), progress=progress, clock=Clock()) as index,
            progress("cases", len(cases)) as advance,
        ):
            source = provenance(settings, index.documents, index.encoder)
            record(out, cases, ask(index.retriever, index.documents), k=k, provenance=source, progress=advance)
    notice(f"{out}: {len(cases)} cases")

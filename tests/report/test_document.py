"""What the baseline's document shows: figures, embedded data, and the baselines that it refuses."""

from __future__ import annotations

import base64
import json
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ragkit.cli import run
from ragkit.comparison import Policy
from ragkit.errors import BaselineError, FileError
from ragkit.files import read_json
from ragkit.report import document, page, plots
from ragkit.report.tables import table

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def frozen(workspace: Path) -> document.Frozen:
    shutil.copy(Path(__file__).parents[2] / "eval/policy.toml", "eval")
    assert run(["freeze", "--allow", "dirty", "--allow", "saturated"]) == 0
    return document.read_frozen(workspace / "docs/eval/baseline-v1.4.json")


def figures(frozen: document.Frozen) -> dict[str, Any]:
    drawn = [plots.recall_curve, plots.by_type, plots.scores, plots.losses]
    return {draw.__name__: draw(frozen.metrics) for draw in drawn} | {"latency": plots.latency(frozen.timing)}


def test_figures_have_labelled_axes_and_say_their_numbers_in_words(frozen: document.Frozen) -> None:
    found = figures(frozen)
    for figure in found.values():
        assert all(axes.get_ylabel() or axes.get_yticklabels() for axes in figure.axes)
        assert figure.axes[-1].get_xlabel()
    recall = frozen.metrics["measures"]["Recall@5"]
    told = found["recall_curve"].get_label()
    assert f"{recall['mean']:.3f} at k = 5 (random order {recall['chance']:.3f})" in told
    assert found["losses"].get_label() == (
        "Bar chart of lost judgments: parse 0, chunk 0, candidates 0, threshold 0, rerank 0, rank 0."
    )
    assert "time for one question, ms" in found["latency"].axes[0].get_xlabel()


def test_the_last_point_of_the_curve_is_the_measure(frozen: document.Frozen) -> None:
    line = plots.recall_curve(frozen.metrics).axes[0].lines[0]
    for k in (1, 5, 10):
        assert line.get_ydata()[k - 1] == pytest.approx(frozen.metrics["measures"][f"Recall@{k}"]["mean"], abs=1e-6)


def test_a_figure_in_a_page_takes_the_pages_colour_refers_to_nothing_and_is_always_the_same(
    frozen: document.Frozen,
) -> None:
    for figure in figures(frozen).values():
        text = plots.inline(figure).html
        assert text == plots.inline(figure).html
        drawing = ElementTree.fromstring(text)[0]  # noqa: S314 - our own
        assert (drawing.tag, drawing.get("role"), drawing.get("aria-label")) == (f"{SVG}svg", "img", figure.get_label())
        assert "currentColor" in text
        assert not re.search(r'(?:href|src)="(?!#)', text)
        identifiers = re.findall(r' id="([^"]+)"', text)
        assert len(set(identifiers)) == len(identifiers)
        assert not re.search(r"fill: #(?:000000|ffffff)", text), "black or white would vanish on one of the grounds"


def test_an_embedded_file_parses_from_the_page_and_comes_back_to_the_byte() -> None:
    content = '{"a": "</script><script>alert(1)</script> é <!--"}\n'
    text = page.embedded("b&.json", content).html
    script = re.search(r'<script type="application/json" id="b&amp;.json">(.*?)</script>', text, re.DOTALL)
    assert script is not None
    assert json.loads(script[1]) == json.loads(content)
    link = re.search(r'href="data:application/json;base64,([^"]+)"', text)
    assert link is not None
    assert base64.b64decode(link[1]).decode() == content


def test_the_rule_of_adoption_has_the_numbers_of_the_policy() -> None:
    policy = Policy.model_validate({"alpha": 0.04, "family": ["a", "b", "c", "d"], "primary": {"min_difference": 0.03}})
    text = document.protocol(policy).markdown
    assert "delta against this baseline" in text
    assert "better by at least\n**0.03** with p ≤ **0.01**" in text
    rules = dict(document.rules_table(policy).rows)
    assert rules["better"] == "p ≤ 0.01, mean difference at least +0.03"


def test_every_question_has_a_row_and_a_lost_one_its_stage_and_nearest_wrong_hit(workspace: Path) -> None:
    settings = ["--set", "chunking.chunk_size=10", "--set", "chunking.chunk_overlap=0"]
    assert run(["eval", "--out", "a", *settings]) == 0
    rows = document.questions_table(read_json(workspace / "a/metrics.json")).rows
    assert [row[0] for row in rows] == ["q1", "q2", "q3", "q4"]
    assert rows[0][-2] == "chunk"
    assert "#" in rows[0][-1]
    assert rows[3][4:7] == ("–", "–", "")  # nothing is judged


def test_a_table_behind_a_line_says_how_long_it_is() -> None:
    shown = page.folded(table("Rows", ("a",), [("1",), ("2",)])).markdown
    assert shown.startswith("<details>\n<summary>Rows (2)</summary>\n\n<div")


@pytest.mark.parametrize("name", ["baseline-v1.4.json", "baseline-v1.4.meta.json", "baseline-v1.4.timing.json"])
def test_a_baseline_that_lacks_a_file_or_is_cut_in_half_is_refused(frozen: document.Frozen, name: str) -> None:
    path = frozen.path.with_name(name)
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2])
    with pytest.raises(FileError, match=f"{name}:.*not JSON"):
        document.read_frozen(frozen.path)
    path.unlink()
    with pytest.raises(BaselineError, match="ragkit freeze makes one"):
        document.read_frozen(frozen.path)


def test_a_baseline_without_a_key_or_from_a_newer_version_is_refused(frozen: document.Frozen) -> None:
    meta = frozen.path.with_suffix(".meta.json")
    meta.write_text(json.dumps({**frozen.meta, "x": 1} | {}).replace('"command"', '"comand"'))
    with pytest.raises(FileError, match="command missing: restore it from git"):
        document.read_frozen(frozen.path)
    frozen.path.write_text(frozen.text.replace("ragkit-metrics-1", "ragkit-metrics-9"))
    with pytest.raises(BaselineError):
        document.read_frozen(frozen.path)

"""Documents that attack whoever reads a report: shown as text in a browser, in pages and in executed notebooks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import nbformat
import papermill
import pytest
from lxml import html
from nbconvert import HTMLExporter

from ragkit.cli import run
from tests.attacks import TEXTS, active, lay_out, shown, words
from tests.browser import CHROMIUM, chromium

ROOT = Path(__file__).parents[2]
BROWSER = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium")
QUARTO = pytest.mark.skipif(shutil.which("quarto") is None, reason="no Quarto here: quarto.org")


@pytest.fixture
def attacked(workspace: Path) -> Path:
    """A frozen baseline and a run of nothing but attacks, with the documents and notebooks that show them."""
    for name in ("eval/policy.toml", "_quarto.yml", "docs/theme.scss", "docs/eval/baseline-v1.4.qmd"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, workspace / name)
    shutil.copytree(ROOT / "notebooks", workspace / "notebooks")
    lay_out(workspace)
    assert run(["freeze", "--allow", "dirty", "--allow", "saturated"]) == 0
    assert run(["eval", "--set", "name=small", "--set", "chunking.chunk_size=30"]) == 0
    return workspace


def look_at(path: Path) -> None:
    """Open the page in a browser: nothing of the documents ran, nothing was asked for."""
    with chromium() as page:
        page.open(path.as_uri())
        assert page.evaluate("typeof window.attacked") == "undefined"
        assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
        assert page.evaluate("document.querySelectorAll('img[src=x], svg[onload], iframe').length") == 0
        seen = " ".join(page.evaluate("document.body.textContent").split())
    for text in TEXTS:
        assert shown(text)[:60] in seen, text
    assert not (path.parent / "attacked").exists()


def test_the_page_of_a_baseline_shows_attacks_as_text(attacked: Path) -> None:
    assert run(["render", "docs/eval/baseline-v1.4.qmd", "--engine", "jupyter"]) == 0
    path = attacked / "docs/_site/docs/eval/baseline-v1.4.html"
    page = html.fromstring(path.read_text(encoding="utf-8"))
    links = {f"a href={name}" for name in ("../methodology.html",)}
    assert set(active(page)) <= links
    for text in TEXTS:
        assert shown(text)[:60] in words(page), text
    assert not list(attacked.rglob("attacked"))
    if CHROMIUM is not None:
        look_at(path)


@QUARTO
@BROWSER
def test_the_page_that_quarto_makes_shows_attacks_as_text(attacked: Path) -> None:
    assert run(["render", "docs/eval/baseline-v1.4.qmd", "--engine", "quarto"]) == 0
    path = attacked / "docs/_site/docs/eval/baseline-v1.4.html"
    assert "root:x:0" not in path.read_text(encoding="utf-8")  # {{< include /etc/passwd >}}
    look_at(path)
    assert not list(attacked.rglob("attacked"))


@BROWSER
def test_a_page_runs_no_script_even_if_one_gets_in(attacked: Path) -> None:
    """The second line of defence: the page's own policy."""
    (attacked / "docs/bad.qmd").write_text(
        "# Bad\n\n<script>window.attacked = 1</script>\n\n"
        "<img src='data:image/png;base64,x' onerror='window.attacked = 2'>\n"
    )
    assert run(["render", "docs/bad.qmd", "--engine", "jupyter"]) == 0
    with chromium() as page:
        page.open((attacked / "docs/_site/docs/bad.html").as_uri())
        assert page.evaluate("typeof window.attacked") == "undefined"


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("explore", {"run": "eval/runs/small", "split": "all"}),
        ("compare", {"candidate": "eval/runs/small/metrics.json", "split": "all"}),
        (
            "evaluate",
            {"overrides": ["name=again", f"chunking.separators={json.dumps([*TEXTS, ' ', ''])}"]},
        ),
    ],
)
def test_an_executed_notebook_shows_attacks_as_text(
    name: str, parameters: dict[str, object], attacked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    papermill.execute_notebook(
        f"notebooks/{name}.ipynb", "executed.ipynb", parameters, progress_bar=False, kernel_name="python3"
    )
    exporter = HTMLExporter(mathjax_url="", require_js_url="", embed_images=True)
    exporter.exclude_input = True
    body, _ = exporter.from_notebook_node(nbformat.read("executed.ipynb", as_version=4))
    page = html.fromstring(body)
    for script in page.xpath("//head//script"):
        script.getparent().remove(script)  # nbconvert's own
    outputs = page.xpath("//main")[0]
    assert active(outputs) == []
    assert not list(attacked.rglob("attacked"))
    if name == "explore":
        failing = [row for row in outputs.iter("tr") if row.text_content().strip().startswith("q")]
        assert failing
    Path("executed.html").write_text(body, encoding="utf-8")
    if CHROMIUM is not None:
        with chromium() as browser:
            browser.open((attacked / "executed.html").as_uri())
            assert browser.evaluate("typeof window.attacked") == "undefined"
            assert browser.evaluate("document.querySelectorAll('main img[src=x], iframe').length") == 0

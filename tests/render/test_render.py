"""Documents to pages without Quarto, and how Quarto is called where there is one."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from ragkit.cli import run
from tests.browser import CHROMIUM, chromium

ROOT = Path(__file__).parents[2]

DOCUMENT = """\
---
title: A "small" page
execute:
  echo: false
---

See [the other](other.qmd#part) and $r_j \\le k$; it costs $5, or $6.

## First & part {x}

```{python}
#| label: printed
#| output: asis
print("<b>raw</b> and **strong**")
```

```{python}
#| label: fig-dot
#| fig-alt: "A dot: red"
#| fig-cap: One dot
from matplotlib import pyplot
pyplot.figure(figsize=(1, 1)).add_subplot().plot([1], [1], "r.")
pyplot.show()
```

```{python}
#| include: false
print("hidden")
```

```{python}
#| eval: false
#| echo: true
raise SystemError("never run")
```

```
plain $x$
```
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose path has a space, as working directory."""
    project = tmp_path / "my project"
    (project / "docs").mkdir(parents=True)
    (project / "_quarto.yml").write_text("project:\n  type: website\n")
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", os.defpath)  # wherever Quarto is, it isn't there
    return project


def write(folder: Path, text: str, name: str = "docs/page.qmd") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


def test_options_are_carried_out_and_no_markup_shows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["render", write(folder, DOCUMENT)]) == 0
    captured = capsys.readouterr()
    assert captured.out == "docs/_site/docs/page.html\n"
    assert captured.err == "rendered without Quarto, which would add navigation and search: quarto.org\n"
    text = (folder / "docs/_site/docs/page.html").read_text()
    assert "<title>A &quot;small&quot; page</title>" in text
    assert '<a href="other.html#part">' in text
    assert "<math" in text
    assert "it costs $5, or $6." in text
    assert '<h2 id="first-part-x">First &amp; part {x}</h2>' in text
    assert "<b>raw</b> and <strong>strong</strong>" in text
    assert re.search(r'<img\s+alt="A dot: red"[^>]*src="data:image/png;base64,', text)
    assert "<em>One dot</em>" in text
    assert "hidden" not in text
    assert "never run" in text  # the source of a cell that isn't run
    assert "plain $x$" in text
    assert "pyplot" not in text
    assert "#|" not in text
    assert not re.search(r'(?:src|href)="(?:https?:)?//', text)


def test_without_cells_no_kernel_is_needed_and_without_names_every_document_is_rendered(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "---\njupyter: no-such-kernel\n---\n\nText.\n", "docs/a.qmd")
    write(folder, "Text without front matter.\n", "docs/b.qmd")
    assert run(["render", "--out", "pages"]) == 0
    assert capsys.readouterr().out.splitlines() == ["pages/docs/a.html", "pages/docs/b.html"]


def test_a_cell_that_raises_is_named_and_what_was_executed_is_kept(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = write(folder, DOCUMENT)
    assert run(["render", name, "--out", "pages"]) == 0
    good = (folder / "pages/docs/page.html").read_bytes()
    capsys.readouterr()
    cells = "```{python}\nprint(6 * 7)\n```\n\n```{python}\n#| label: broken\n#| echo: false\n1 / 0\n```\n"
    assert run(["render", write(folder, cells), "--out", "pages"]) == 1
    error = capsys.readouterr().err
    assert error == (
        "docs/page.qmd: cell 'broken' raised ZeroDivisionError: division by zero;"
        " what was executed is in pages/docs/page.failed.html\n"
    )
    kept = (folder / "pages/docs/page.failed.html").read_text()
    assert "42" in kept
    assert "ZeroDivisionError" in kept
    assert (folder / "pages/docs/page.html").read_bytes() == good


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("---\ntitle: [\n---\n", 2, "docs/page.qmd: front matter: not YAML"),
        ("```{python}\n#| label broken\n1\n```\n", 2, "code cell 1: must be `key: value` lines, found 'label broken'"),
        ("---\njupyter: no-such-kernel\n---\n\n```{python}\n1\n```\n", 1, "no Jupyter kernel 'no-such-kernel'"),
        ("```{python}\nimport os\nos._exit(3)\n```\n", 1, "the kernel died in code cell 1"),
        ("![x](missing.png)\n", 2, "missing.png: an image must be a file beside the document"),
        ("![x](https://example.org/x.png)\n", 2, "a page refers to nothing outside it"),
        ("A formula: $a_$\n", 2, "the formula $a_$ can't be read"),
    ],
)
def test_what_cannot_be_rendered_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, code: int, message: str
) -> None:
    assert run(["render", write(folder, text)]) == code
    assert message in capsys.readouterr().err
    assert not (folder / "docs/_site/docs/page.html").exists()


def test_a_temporary_folder_without_room_for_sockets_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ("x" * 100)).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder / ("x" * 100)))
    assert run(["render", write(folder, "```{python}\n1\n```\n")]) == 2
    assert "set TMPDIR" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.qmd"], "missing.qmd: cannot be read: no such file"),
        (["_quarto.yml"], "_quarto.yml: not a .qmd document"),
        ([], "no .qmd document; name one"),
        (["docs/page.qmd", "--engine", "quarto"], "quarto is not on the PATH"),
    ],
)
def test_wrong_usage_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    if arguments:
        write(folder, "Text.\n")
    assert run(["render", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="a shell script stands for Quarto")
def test_quarto_is_given_this_python_and_its_failure_is_ours(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    fake = folder / "bin/quarto"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\necho "$QUARTO_PYTHON" "$@"\ntest "$2" != docs/bad.qmd\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.defpath}")
    monkeypatch.delenv("QUARTO_PYTHON", raising=False)
    assert run(["render", write(folder, "Text.\n"), "--out", "pages"]) == 0
    captured = capfd.readouterr()
    assert captured.out == "pages/docs/page.html\n"
    assert re.fullmatch(rf"\S*python\S* render docs/page.qmd --output-dir {folder}/pages\n", captured.err)
    assert run(["render", write(folder, "Text.\n", "docs/bad.qmd")]) == 1
    assert "quarto ended with exit code 1" in capfd.readouterr().err


@pytest.fixture
def baseline_page(workspace: Path) -> Path:
    """The baseline's own document, rendered on a small workspace."""
    shutil.copy(ROOT / "eval/policy.toml", "eval")
    shutil.copy(ROOT / "_quarto.yml", ".")
    assert run(["freeze", "--allow", "dirty", "--allow", "saturated"]) == 0
    shutil.copy(ROOT / "docs/eval/baseline-v1.4.qmd", "docs/eval")
    assert run(["render", "--engine", "jupyter"]) == 0
    return workspace / "docs/_site/docs/eval/baseline-v1.4.html"


def test_the_baselines_page_shows_every_part_and_asks_the_network_for_nothing(baseline_page: Path) -> None:
    text = baseline_page.read_text()
    for words in ("Embedding", "Chunking", "Separators", "TopK and threshold", "eval/corpus @ ", "delta against this"):
        assert words in text
    assert text.count("<svg") == 5
    assert "```" not in text
    assert not re.search(r'(?:src|href)="(?!data:|#|\.\./)', text)
    committed = (baseline_page.parents[4] / "docs/eval/baseline-v1.4.json").read_text()
    embedded = re.search(r'<script (?=[^>]*type="application/json")[^>]*>(.*?)</script>', text, re.DOTALL)
    assert embedded is not None
    assert json.loads(embedded[1]) == json.loads(committed)
    if CHROMIUM is None:
        return
    with chromium() as page:
        for width, dark in ((1200, False), (390, True)):
            look(page, baseline_page.as_uri(), width=width, dark=dark, committed=committed)


def look(page: Any, url: str, *, width: int, dark: bool, committed: str) -> None:
    page.open(url, width=width, dark=dark)
    assert page.complaints == []
    assert {asked for asked in page.requests if not asked.startswith("data:")} == {url}
    sizes = page.evaluate("[...document.querySelectorAll('svg, img')].map(e => e.getBoundingClientRect().toJSON())")
    assert len(sizes) == 5
    assert all(size["width"] > 300 and size["height"] > 100 for size in sizes)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    shown = page.evaluate("document.getElementById('baseline-v1.4.json').textContent")
    assert json.loads(shown) == json.loads(committed)
    link = page.evaluate("document.querySelector('a[download]').href")  # the page's policy lets no script fetch it
    assert base64.b64decode(link.removeprefix("data:application/json;base64,")).decode() == committed
    ink, ground = page.evaluate(
        "[getComputedStyle(document.querySelector('svg text')).fill, getComputedStyle(document.body).backgroundColor]"
    )
    light = [sum(map(int, re.findall(r"\d+", colour)[:3])) > 382 for colour in (ink, ground)]
    assert light == ([True, False] if dark else [False, True])

"""Texts that try to be more than text, and how a page that shows them is looked at."""

from __future__ import annotations

import json
from pathlib import Path

from lxml import html

TEXTS = (
    "<script>window.attacked = 1</script>",
    "<img src=x onerror=window.attacked=2>",
    "</textarea></title></style></details><svg onload=window.attacked=3>",
    '"><iframe srcdoc="<script>parent.attacked = 4</script>"></iframe>',
    "[press](javascript:window.attacked=5) <javascript:window.attacked=6>",
    "{{< include /etc/passwd >}} {{< env HOME >}}",
    "```{python} open('attacked', 'w') ```",
    "`{python} 6 * 7` `r 6 * 7` {=html}",
    "$\\input{/etc/passwd}$ $$x$$ \\(y\\) \\[z\\]",
    "\\begin{align} a &= b \\end{align}",
    "| a | b |\n| --- | --- |",
    "::: {.callout-note} :::",
    "![beacon](https://attacker.example/beacon.png) [^1] ^[note] @cite ~~gone~~ ==SUM(A1)",
    "\x1b[2J\x1b]0;owned\x07\x9b31m cleared",
    "\u202etxt.exe\u202c reversed",
    "&lt;script&gt; &#60;b&#62;",
    "- [ ] a list\n# a heading\n\n---\n> a quote",
)
"""Each is one question, one paragraph of a document and one type of question."""

SLUG = "$x^2$ <img src=x onerror=window.attacked=7> [a](b) {{< x >}} `c`.txt"


def shown(text: str) -> str:
    """The text as a page shows it: on one line, control characters by their number."""
    line = " ".join(text.split())
    return "".join(f"\\u{ord(c):04x}" if c in "\x1b\x07\x9b\u202e\u202c" else c for c in line)


def lay_out(folder: Path) -> None:
    """An evaluation folder (that of the fixture `workspace`) whose corpus and questions hold nothing else."""
    for path in (folder / "eval/corpus").rglob("*.*"):
        path.unlink()
    paragraphs = [f"Paragraph {number} says {text}" for number, text in enumerate(TEXTS)]
    plain = "\n\n".join(" ".join(paragraph.split("\n")) for paragraph in paragraphs)
    plain = plain.replace("\x1b", "").replace("\x07", "").replace("\x9b", "")  # a text file with these is refused
    (folder / "eval/corpus" / SLUG).write_text(plain + "\n", encoding="utf-8")
    questions = [
        {
            "id": f"q{number}",
            "question": text,
            "type": text[:100],
            "relevant": [{"document": SLUG, "quote": f"Paragraph {number} says"}],
        }
        for number, text in enumerate(TEXTS)
    ]
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    (folder / "eval/questions.jsonl").write_text(lines, encoding="utf-8")
    ids = [question["id"] for question in questions]
    (folder / "eval/splits.json").write_text(
        json.dumps({"dev": ids[::3], "test": [i for i in ids if i not in ids[::3]]})
    )


def active(page: html.HtmlElement) -> list[str]:
    """What would run, load or lead away unseen in a parsed page.

    Data blocks and links within the page don't, and a link that shows its own address, which a bare address becomes,
    hides nothing.
    """
    found = [html.tostring(e, encoding="unicode")[:200] for e in page.iter("iframe", "object", "embed", "form", "base")]
    scripts = (e for e in page.iter("script") if e.get("type") != "application/json")
    found += [html.tostring(script, encoding="unicode")[:200] for script in scripts]
    for element in page.iter():
        if element.tag == "a" and element.text_content() == element.get("href", "").replace("&amp;", "&"):
            continue
        for name, value in element.items():
            bad = name.startswith("on") or (
                name in ("href", "src", "srcdoc", "action") and not value.startswith(("#", "data:"))
            )
            if bad:
                found.append(f"{element.tag} {name}={value}"[:200])
    return found


def words(page: html.HtmlElement) -> str:
    """The text of a parsed page, white space as a reader sees it."""
    return " ".join(page.text_content().split())

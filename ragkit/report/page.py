"""What a document's cells end with: values that notebooks and documents show as Markdown or as HTML."""

from __future__ import annotations

import base64
import html
import re
from dataclasses import dataclass

from ragkit.report.tables import Table
from ragkit.text import visible


@dataclass(frozen=True, slots=True)
class Text:
    """Markdown."""

    markdown: str

    def _repr_markdown_(self) -> str:
        return self.markdown


@dataclass(frozen=True, slots=True)
class Html:
    """HTML that refers to nothing outside the page.

    Shown as Markdown with a raw block: an output of type text/html would make Quarto load scripts from a network.
    """

    html: str

    def _repr_markdown_(self) -> str:
        return f"```{{=html}}\n{self.html}\n```"


def folded(shown: Table) -> Text:
    """A table behind a line that opens it: its title and length."""
    title = html.escape(f"{shown.title} ({len(shown.rows)})")
    return Text(f"<details>\n<summary>{title}</summary>\n\n{shown._repr_markdown_()}\n\n</details>")


def code(text: str, language: str) -> Text:
    """Code in a fence that nothing in it closes."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return Text(f"{fence}{language}\n{visible(text)}\n{fence}")


def embedded(name: str, content: str) -> Html:
    """A JSON file inside the page: for scripts as `<script type="application/json" id="NAME">`, for people as a link.

    `content` is the file's text. The link gives its very bytes; in the script `<` is written as an escape,
    because `</script>` in a string would end it.
    """
    safe = content.replace("<", "\\u003c")
    data = base64.b64encode(content.encode()).decode()
    shown = html.escape(name)
    return Html(
        f'<script type="application/json" id="{shown}">{safe}</script>\n'
        f'<p><a download="{shown}" href="data:application/json;base64,{data}">Download {shown}</a></p>'
    )

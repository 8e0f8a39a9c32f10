"""An executed document as one HTML page that asks the network for nothing; nbconvert is imported here alone."""

from __future__ import annotations

import html
import re
from importlib import resources
from string import Template
from typing import Any

from nbconvert import HTMLExporter
from nbformat.v4 import new_output

from ragkit.render.document import OPTIONS, Document

_IMAGES = ("image/png", "image/jpeg", "image/svg+xml")
_LINK = re.compile(r"(\]\((?![a-z]+:)[^()\s]*)\.qmd(?=[)#])")
_HEADING = re.compile(r'<h2 id="([^"]+)"[^>]*>(.*?)</h2>', re.DOTALL)


def page(document: Document) -> str:
    """The page's HTML. Options that hide or name something are carried out; documents link to each other as pages."""
    document.notebook.cells = [cell for cell in document.notebook.cells if _prepare(cell)]
    exporter = HTMLExporter(
        template_name="basic", mathjax_url="", require_js_url="", embed_images=True, exclude_anchor_links=True
    )
    body, _ = exporter.from_notebook_node(document.notebook)
    parts = resources.files("ragkit.render")
    contents = "".join(f'<li><a href="#{anchor}">{text}</a></li>' for anchor, text in _HEADING.findall(body))
    return Template((parts / "page.html").read_text(encoding="utf-8")).substitute(
        lang=html.escape(document.lang),
        title=html.escape(document.title),
        subtitle=f'<p class="subtitle">{html.escape(document.subtitle)}</p>' if document.subtitle else "",
        style=(parts / "page.css").read_text(encoding="utf-8"),
        contents=f"<nav aria-label='On this page'><ul>{contents}</ul></nav>" if document.toc and contents else "",
        body=body,
    )


def _prepare(cell: Any) -> bool:
    """Carry out a cell's options; whether it is shown at all."""
    if cell.cell_type == "markdown":
        cell.source = _LINK.sub(r"\1.html", cell.source)
        return True
    options = cell.metadata[OPTIONS]
    failed = any(output.output_type == "error" for output in cell.outputs)
    if not options["include"] and not failed:
        return False
    if not options["echo"] and not failed:
        cell.metadata["transient"] = {"remove_source": True}
    if options["output"] is False and not failed:
        cell.outputs = []
    if options["output"] == "asis":
        cell.outputs = [_as_markdown(output) for output in cell.outputs]
    for output in cell.outputs:
        for kind in _IMAGES if options.get("fig-alt") else ():
            if kind in output.get("data", {}):
                output.metadata[kind] = {**output.metadata.get(kind, {}), "alt": options["fig-alt"]}
    if options.get("fig-cap") and cell.outputs:
        cell.outputs.append(new_output("display_data", {"text/markdown": f"*{options['fig-cap']}*"}))
    return True


def _as_markdown(output: Any) -> Any:
    """What a cell prints is part of the document, HTML in it included."""
    if output.output_type == "stream" and output.name == "stdout":
        return new_output("display_data", {"text/markdown": output.text})
    return output

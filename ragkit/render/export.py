"""An executed document as one HTML page that asks the network for nothing; nbconvert is imported here alone."""

from __future__ import annotations

import base64
import html
import mimetypes
import re
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import unquote

from nbconvert import HTMLExporter
from nbformat.v4 import new_output

from ragkit.errors import FileError
from ragkit.render.document import OPTIONS, Document
from ragkit.render.formulas import with_mathml

_IMAGES = ("image/png", "image/jpeg", "image/svg+xml")
_LINK = re.compile(r"(\]\((?![a-z]+:)[^()\s]*)\.qmd(?=[)#])")
_HEADING = re.compile(r"<h([1-6])>(.*?)</h\1>", re.DOTALL)
_RAW = re.compile(r"^```\{=html\}\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
_IMAGE = re.compile(r'(<img\b[^>]*\bsrc=")(?!data:)([^"]+)')


def page(document: Document, folder: Path) -> str:
    """The page's HTML. Options that hide or name something are carried out; documents link to each other as pages.

    Images are embedded; their paths are relative to `folder`. Raises `FileError` for one that isn't a local file.
    """
    document.notebook.cells = [cell for cell in document.notebook.cells if _prepare(cell)]
    # Not embed_images: it closes every tag at the end of its line of Markdown.
    exporter = HTMLExporter(template_name="basic", mathjax_url="", require_js_url="", exclude_anchor_links=True)
    body, _ = exporter.from_notebook_node(document.notebook)
    body = _IMAGE.sub(lambda found: found[1] + _embedded(found[2], folder), body)
    contents: list[str] = []
    body = _HEADING.sub(lambda found: _anchored(found, contents), body)
    parts = resources.files("ragkit.render")
    return Template((parts / "page.html").read_text(encoding="utf-8")).substitute(
        lang=html.escape(document.lang),
        title=html.escape(document.title),
        subtitle=f'<p class="subtitle">{html.escape(document.subtitle)}</p>' if document.subtitle else "",
        style=(parts / "page.css").read_text(encoding="utf-8"),
        contents=_navigation(contents) if document.toc and contents else "",
        body=body,
    )


def _navigation(contents: list[str]) -> str:
    return f'<nav aria-label="On this page"><ul>{"".join(contents)}</ul></nav>'


def _anchored(heading: re.Match[str], contents: list[str]) -> str:
    """A heading with the anchor that Quarto would give it; those of the second level go into `contents`."""
    level, text = heading.groups()
    plain = html.unescape(re.sub(r"<[^>]*>", "", text)).lower()
    anchor = html.escape("-".join(re.sub(r"[^\w\s.-]", "", plain).split()).lstrip("0123456789_.-") or "section")
    if level == "2":
        contents.append(f'<li><a href="#{anchor}">{text}</a></li>')
    return f'<h{level} id="{anchor}">{text}</h{level}>'


def _embedded(source: str, folder: Path) -> str:
    path = folder / unquote(html.unescape(source))
    kind = mimetypes.guess_type(path.name)[0]
    if kind is None or not path.is_file():
        raise FileError(f"{source}: an image must be a file beside the document: a page refers to nothing outside it")
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _prepare(cell: Any) -> bool:
    """Carry out a cell's options; whether it is shown at all."""
    if cell.cell_type == "markdown":
        cell.source = _RAW.sub(r"\1", with_mathml(_LINK.sub(r"\1.html", cell.source)))
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
        raw = _RAW.fullmatch(output.get("data", {}).get("text/markdown", ""))
        if raw:
            output.data = {"text/html": raw[1]}
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

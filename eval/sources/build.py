"""Build the corpus's PDFs from their typst sources, the same bytes each time.

    .venv/bin/python eval/sources/build.py            build all
    .venv/bin/python eval/sources/build.py manual     build those with "manual" in their path
    .venv/bin/python eval/sources/build.py --check    build in memory, compare with the committed PDFs

eval/sources/docs/<path>.typ becomes eval/corpus/<path>.pdf. Only the fonts in eval/sources/fonts are used.
typst drops a character its fonts lack without an error, so every build also counts the characters of the
source's visible text (the templates leave it under the label <visible>) in the text pypdfium2 extracts.
"""

import argparse
import json
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pypdfium2
import typst

HERE = Path(__file__).resolve().parent
DOCS = HERE / "docs"
CORPUS = HERE.parent / "corpus"
CREATED = 1_738_540_800  # 3 February 2025, the newest date in the corpus
# typst changes these (smart quotation marks, hyphenation); a hyphen's count says nothing.
NOT_COUNTED = set("\"'-\u00ad\u2010\u2011\u2018\u2019\u201a\u201c\u201d\u201e\u2039\u203a\u00ab\u00bb")


def fold(text: str) -> Counter[str]:
    """The countable characters of a text: ligatures and compatibility forms folded, no blanks."""
    folded = unicodedata.normalize("NFKC", text)
    return Counter(
        char
        for char in folded
        if not char.isspace() and char not in NOT_COUNTED and unicodedata.category(char) not in {"Cc", "Cf"}
    )


def strings(node: object) -> Iterator[str]:
    """The text in a serialized typst content tree."""
    if isinstance(node, dict):
        if node.get("func") in {"text", "raw"}:
            yield str(node["text"])
        elif node.get("func") not in {"metadata", "label"}:
            for key, value in node.items():
                if key not in {"func", "label", "numbering", "dest", "lang", "kind", "supplement"}:
                    yield from strings(value) if not isinstance(value, str) else ()
    elif isinstance(node, list):
        for value in node:
            yield from strings(value) if not isinstance(value, str) else ()


def extracted(pdf: bytes) -> str:
    document = pypdfium2.PdfDocument(pdf)
    return "\n".join(page.get_textpage().get_text_range() for page in document)


def build(source: Path, fonts: typst.Fonts) -> tuple[bytes, list[str]]:
    """The PDF of one source and what is wrong with it."""
    compiler = typst.Compiler(str(source), root=str(HERE), font_paths=fonts)
    result, warnings = compiler.compile_with_warnings(format="pdf", timestamp=CREATED)
    if not isinstance(result, bytes):
        raise TypeError(f"typst gave no PDF for {source}")
    problems = [f"typst warns: {warning.message}" for warning in warnings]
    visible = json.loads(compiler.query("<visible>", field="value"))
    if not visible:
        return result, [*problems, "nothing is labelled <visible>: the source uses no template"]
    text = extracted(result)
    have = fold(text)
    wanted = fold("\n".join(strings(visible)))
    for char, count in sorted((wanted - have).items()):
        problems.append(f"{char!r} (U+{ord(char):04X}): {count} of {wanted[char]} missing from the extracted text")
    if "\ufffd" in text:  # U+FFFE is expected: pdfium's sign for a hyphen at a line's end
        problems.append("the extracted text holds the replacement character U+FFFD")
    return result, problems


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("part", nargs="?", default="", help="only sources with this in their path")
    parser.add_argument("--check", action="store_true", help="compare with the committed PDFs, write nothing")
    arguments = parser.parse_args()

    fonts = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[str(HERE / "fonts")])
    bad = 0
    for source in sorted(DOCS.rglob("*.typ")):
        path = source.relative_to(DOCS).with_suffix(".pdf")
        if arguments.part not in path.as_posix():
            continue
        target = CORPUS / path
        try:
            pdf, problems = build(source, fonts)
        except typst.TypstError as error:
            pdf, problems = b"", [str(error), *error.hints]
        if path.as_posix() != unicodedata.normalize("NFC", path.as_posix()):
            problems.append("the path is not in Unicode NFC")
        if arguments.check and (not target.is_file() or target.read_bytes() != pdf):
            problems.append("the committed PDF differs from a fresh build")
        if pdf and not arguments.check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(pdf)
        print(f"{'BAD' if problems else 'ok '} {path} ({len(pdf):,} bytes)")
        for problem in problems:
            print(f"    {problem}")
        bad += bool(problems)
    for target in sorted(CORPUS.rglob("*.pdf")):
        if (
            arguments.part in target.as_posix()
            and not (DOCS / target.relative_to(CORPUS)).with_suffix(".typ").is_file()
        ):
            print(f"BAD {target.relative_to(CORPUS)}: no source")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

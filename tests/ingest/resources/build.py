"""Make the PDFs of this folder again from their sources: `python tests/ingest/resources/build.py`."""

from pathlib import Path

import typst

if __name__ == "__main__":
    for source in sorted(Path(__file__).parent.glob("*.typ")):
        typst.compile(source, output=source.with_suffix(".pdf"), ignore_system_fonts=True)

"""Cut the fonts of the corpus down to the characters it can use.

    .venv/bin/python eval/sources/subset_fonts.py /path/to/noto/fonts

The argument is a folder holding the Noto fonts (Debian: fonts-noto-core and fonts-noto-cjk, searched
recursively). The output, eval/sources/fonts, is committed, so building the PDFs never needs the originals.
Latin fonts get a fixed range; the CJK fonts get exactly the characters the typst sources and templates use,
so run this again after a Japanese or Chinese source gains a character.
"""

import argparse
import sys
from pathlib import Path

from fontTools.subset import Options, Subsetter  # type: ignore[import-untyped]
from fontTools.ttLib import TTCollection, TTFont  # type: ignore[import-untyped]

HERE = Path(__file__).resolve().parent
FONTS = HERE / "fonts"
FIRST_CJK = 0x2E80

LATIN_FONTS = (
    "NotoSans-Regular",
    "NotoSans-Bold",
    "NotoSans-Italic",
    "NotoSerif-Regular",
    "NotoSerif-Bold",
    "NotoSerif-Italic",
    "NotoSansMono-Regular",
    "NotoSansMono-Bold",
    "NotoSansMath-Regular",
)
CJK_FONTS = ("NotoSansCJK-Regular", "NotoSansCJK-Bold")
CJK_FAMILY = "Noto Sans CJK JP"

LATIN_RANGES = (
    (0x0020, 0x007E),  # ASCII
    (0x00A0, 0x017F),  # Latin-1, Latin Extended-A
    (0x0391, 0x03C9),  # Greek
    (0x2010, 0x2027),  # dashes, quotation marks, bullets, ellipsis
    (0x202F, 0x203A),  # per mille, primes, angle quotation marks
    (0x2044, 0x2044),  # fraction slash
    (0x2070, 0x208E),  # superscripts and subscripts
    (0xFB00, 0xFB04),  # f-ligatures
)
LATIN_EXTRA = "€№™Ω"
MATH_EXTRA = "−±×÷·∓√∑∫∂∆∞≈≠≡≤≥≪≫∝∈←↑→↓↔⇒⇔"


def used_cjk() -> set[int]:
    """The CJK characters in the typst sources and templates."""
    text = "".join(path.read_text("utf-8") for path in sorted(HERE.rglob("*.typ")))
    return {ord(char) for char in text if ord(char) >= FIRST_CJK and not 0xFB00 <= ord(char) <= 0xFB04}


def latin() -> set[int]:
    ranged = {code for low, high in LATIN_RANGES for code in range(low, high + 1)}
    return ranged | {ord(char) for char in LATIN_EXTRA + MATH_EXTRA}


def find(folder: Path, name: str) -> Path:
    for path in sorted(folder.rglob(f"{name}.*")):
        if path.suffix in {".ttf", ".otf", ".ttc"}:
            return path
    sys.exit(f"{folder} holds no font called {name}")


def cut(font: TTFont, codes: set[int], features: list[str], target: Path) -> None:
    options = Options()
    options.layout_features = features
    options.hinting = False
    options.desubroutinize = True
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 7, 13, 14, 16, 17]
    options.drop_tables += ["vhea", "vmtx", "VORG", "BASE", "STAT"]
    options.recalc_timestamp = False
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=codes)
    subsetter.subset(font)
    font.recalcTimestamp = False
    font.save(target)
    print(f"{target.name}: {len(codes & set(font.getBestCmap()))} characters, {target.stat().st_size:,} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="folder with the original Noto fonts")
    folder: Path = parser.parse_args().folder
    FONTS.mkdir(exist_ok=True)
    math_codes = {ord(char) for char in MATH_EXTRA}
    for name in LATIN_FONTS:
        codes = math_codes if "Math" in name else latin()
        cut(TTFont(find(folder, name)), codes, ["kern", "liga", "mark", "mkmk", "ccmp"], FONTS / f"{name}.ttf")
    cjk = used_cjk()
    for name in CJK_FONTS:
        target = FONTS / f"{name.replace('CJK', 'CJKjp')}.otf"
        if not cjk:
            target.unlink(missing_ok=True)
            continue
        collection = TTCollection(find(folder, name), lazy=True)
        font = next(face for face in collection.fonts if face["name"].getDebugName(1) == CJK_FAMILY)
        lacking = cjk - set(font.getBestCmap())
        if lacking:
            sys.exit(f"{CJK_FAMILY} lacks {''.join(map(chr, sorted(lacking)))}")
        cut(font, cjk, [], target)


if __name__ == "__main__":
    main()

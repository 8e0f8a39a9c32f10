"""The coverage-guided fuzzer: `python tests/fuzz/guided.py html --seconds 600`.

Needs atheris (`pip install atheris`), which is no dependency of ragkit. It goes on after a finding: each one is
written once, by where it was raised, into `--into` (by default a temporary folder), as is an input that took
longer than `--slow` seconds. A finding that was mended goes into `tests/fuzz/findings/<target>/`, as small as it can be made.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[2]))
_INSTRUMENTED = ["ragkit", "markdown_it", "mdit_py_plugins", "docx", "tomllib", "jmespath"]
with atheris.instrument_imports(include=_INSTRUMENTED):
    from tests.fuzz.targets import FINDINGS, TARGETS


def main() -> None:
    parser = argparse.ArgumentParser(description="fuzz one target, guided by coverage")
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--slow", type=float, default=2.0, help="seconds after which an input is a finding")
    parser.add_argument("--into", type=Path, default=None, help="where inputs and findings go")
    options = parser.parse_args()
    into = (options.into or Path(tempfile.mkdtemp(prefix="ragkit-fuzz-"))).absolute()
    corpus, found = into / "corpus", into / "found"
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    target = TARGETS[options.target]
    known = [path.read_bytes() for path in sorted((FINDINGS / options.target).glob("*"))]
    for number, seed in enumerate([*target.seeds, *known]):
        (corpus / f"seed-{number}").write_bytes(seed)
    words = into / "words"
    words.write_text("".join(f'"{_quoted(word)}"\n' for word in target.words.split(" ") if word))
    print(f"findings go to {found}", flush=True)
    arguments = [
        *(
            f"-max_total_time={options.seconds}",
            "-timeout=120",
            "-rss_limit_mb=6000",
            "-max_len=6000",
            "-print_final_stats=1",
        ),
        *(f"-dict={words}", f"-artifact_prefix={found}/", str(corpus)),
    ]
    atheris.Setup([sys.argv[0], *arguments], _guarded(target.run, found, options.slow))
    atheris.Fuzz()


def _guarded(run: Callable[[bytes], None], found: Path, slow: float) -> Callable[[bytes], None]:
    seen: set[str] = set()

    def guarded(data: bytes) -> None:
        before = time.process_time()
        try:
            run(data)
            where = ""
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{type(error).__name__}-{Path(last.filename).stem}-{last.lineno}"
        if not where and (time.process_time() - before) > slow:
            where = f"slow-{len(data).bit_length()}"
        if where and where not in seen:
            seen.add(where)
            (found / where).write_bytes(data)
            print(f"FOUND {where}: {data[:80]!r}", flush=True)

    return guarded


def _quoted(word: str) -> str:
    return "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\x{byte:02x}" for byte in word.encode()
    )


if __name__ == "__main__":
    main()

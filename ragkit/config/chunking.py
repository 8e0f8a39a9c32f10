"""`[chunking]`: one type per strategy. All of them cut what is longer than `chunk_size` characters."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from ragkit.config.section import Section

Context = Literal["none", "breadcrumb", "title"]


class _Chunking(Section):
    """`across_pages`: may a chunk hold text of two pages? `context`: what is put before the embedded text."""

    chunk_size: int = Field(1000, ge=1)
    separators: tuple[str, ...] = ("\n\n", "\n", ". ", " ", "")
    across_pages: bool = True
    context: Context = "none"

    @model_validator(mode="before")
    @classmethod
    def _tuple(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("separators"), list):
            return {**data, "separators": tuple(data["separators"])}
        return data

    @model_validator(mode="after")
    def _cuts_everything(self) -> Self:
        if not self.separators or self.separators[-1] != "":
            raise ValueError('separators must end with "", so that every text can be cut')
        return self


class OverlappingChunking(_Chunking):
    """Repeats at most `chunk_overlap` characters of the chunk before, within what had to be split."""

    chunk_overlap: int = Field(50, ge=0)

    @model_validator(mode="after")
    def _overlap(self) -> Self:
        if self.chunk_overlap >= self.chunk_size:
            raise ValueError("chunk_overlap must be smaller than chunk_size")
        return self


class RecursiveChunking(OverlappingChunking):
    """Split at the first separator that gives pieces of at most `chunk_size` characters."""

    strategy: Literal["recursive"]
    chunk_size: int = Field(500, ge=1)


class HeadingChunking(OverlappingChunking):
    """A chunk is a section: a heading and what follows up to the next one; a long section is split recursively."""

    strategy: Literal["heading"]
    context: Context = "breadcrumb"


class BlockChunking(OverlappingChunking):
    """A chunk is up to `blocks` neighbouring blocks; a block longer than `chunk_size` is split recursively."""

    strategy: Literal["block"]
    blocks: int = Field(1, ge=1)


class SentenceChunking(_Chunking):
    """A chunk is up to `sentences` sentences, of which it repeats `sentence_overlap` of the one before."""

    strategy: Literal["sentence"]
    sentences: int = Field(5, ge=1)
    sentence_overlap: int = Field(1, ge=0)

    @model_validator(mode="after")
    def _overlap(self) -> Self:
        if self.sentence_overlap >= self.sentences:
            raise ValueError("sentence_overlap must be smaller than sentences")
        return self


ChunkingConfig = Annotated[
    RecursiveChunking | HeadingChunking | SentenceChunking | BlockChunking, Field(discriminator="strategy")
]

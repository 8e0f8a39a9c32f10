"""The pipeline of `ragkit eval` as an able engineer would write it plainly in an afternoon; what pipeline.py measures.

    python benchmarks/plain.py --model FOLDER --out FILE [--vectors FILE] [--batch N] [--size 500 --size 250 ...]

sentence-transformers embeds in float32, sqlite-vec searches, ir_measures scores; langchain-text-splitters cuts. Vectors of
passages are kept in one .npz by the hash of their text. Documents are read by ragkit's parsers: so both sides cut the
same text, and this one gets the quicker parsers. A chunk is relevant when the quote stands in it, word for word but for
white space; a question whose quote is cut in two keeps its place in the mean.

It gives no answers, citations, token budgets, intervals, chance levels, ties or losses, and writes no report: less than `ragkit
eval` does.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import ir_measures
import numpy as np
import sqlite_vec
from ir_measures import RR, Qrel, R, ScoredDoc, nDCG
from langchain_text_splitters import RecursiveCharacterTextSplitter
from numpy.typing import NDArray

from ragkit.ingest import read_corpus

MEASURES = {"Recall@5": R @ 5, "Recall@10": R @ 10, "MRR": RR @ 10, "nDCG@10": nDCG @ 10}
SEPARATORS = ["\n\n", "\n", ". ", " ", ""]
K = 100

Vectors = NDArray[np.float32]


@dataclass
class Chunk:
    document: str
    text: str


class Embedder:
    """The model, and the vectors of the passages that it has seen."""

    def __init__(self, model: Path, vectors: Path | None, batch: int) -> None:
        from sentence_transformers import SentenceTransformer

        prompts = {"query": "query: ", "document": "passage: "}
        self.model = SentenceTransformer(str(model), device="cpu", local_files_only=True, prompts=prompts)
        self.vectors, self.batch = vectors, batch
        self.known: dict[str, Vectors] = {}
        if vectors and vectors.exists():
            with np.load(vectors) as stored:
                self.known = dict(zip(stored["keys"].tolist(), stored["vectors"], strict=True))

    def passages(self, texts: list[str]) -> Vectors:
        keys = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self.known}
        if missing:
            found = self.model.encode_document(list(missing.values()), batch_size=self.batch, normalize_embeddings=True)
            self.known |= dict(zip(missing, found, strict=True))
            if self.vectors:
                np.savez(self.vectors, keys=np.array(list(self.known)), vectors=np.stack(list(self.known.values())))
        return np.stack([self.known[key] for key in keys])

    def queries(self, texts: list[str]) -> Vectors:
        return self.model.encode_query(texts, batch_size=self.batch, normalize_embeddings=True)


def index_of(vectors: Vectors) -> apsw.Connection:
    """sqlite-vec in memory. apsw, since many builds of Python can't load extensions into sqlite3."""
    database = apsw.Connection(":memory:")
    database.enable_load_extension(True)
    database.load_extension(sqlite_vec.loadable_path())
    database.execute(
        f"create virtual table chunks using vec0(embedding float[{vectors.shape[1]}] distance_metric=cosine)"
    )
    with database:
        rows = ((number, vector.tobytes()) for number, vector in enumerate(vectors))
        database.executemany("insert into chunks (rowid, embedding) values (?, ?)", rows)
    return database


def search(database: apsw.Connection, question: Vectors) -> list[tuple[int, float]]:
    found = database.execute(
        "select rowid, distance from chunks where embedding match ? and k = ?", (question.tobytes(), K)
    )
    return [(number, 1 - distance) for number, distance in found]


def qrels(questions: list[dict[str, Any]], chunks: list[Chunk]) -> list[Qrel]:
    """Every chunk of the judged document that has the quote; one that can't be found if there is none."""
    of_document: dict[str, list[tuple[str, str]]] = {}
    for number, chunk in enumerate(chunks):
        of_document.setdefault(chunk.document, []).append((str(number), " ".join(chunk.text.split())))
    found = []
    for question in questions:
        for position, judgment in enumerate(question["relevant"]):
            quote = " ".join(judgment.get("quote", "").split())
            held = [number for number, text in of_document.get(judgment["document"], []) if quote in text]
            grade = judgment.get("grade", 1)
            found += [Qrel(question["id"], number, grade) for number in held or [f"cut-{position}"]]
    return found


def evaluate(embedder: Embedder, corpus: Path, questions_file: Path, size: int) -> dict[str, float]:
    questions = [json.loads(line) for line in questions_file.read_text(encoding="utf-8").splitlines() if line]
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=size // 10, separators=SEPARATORS, keep_separator="end"
    )
    chunks = [Chunk(each.slug, text) for each in read_corpus(corpus) for text in splitter.split_text(each.text)]
    database = index_of(embedder.passages([chunk.text for chunk in chunks]))
    run = [
        ScoredDoc(question["id"], str(number), score)
        for question, vector in zip(questions, embedder.queries([q["question"] for q in questions]), strict=True)
        for number, score in search(database, vector)
    ]
    found = ir_measures.calc_aggregate(MEASURES.values(), qrels(questions, chunks), run)
    return {"chunks": len(chunks), **{name: float(found[measure]) for name, measure in MEASURES.items()}}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, default=Path("eval/corpus"))
    parser.add_argument("--questions", type=Path, default=Path("eval/questions.jsonl"))
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--size", type=int, action="append", default=[])
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    embedder = Embedder(given.model, given.vectors, given.batch)
    sizes = given.size or [500]
    found = {size: evaluate(embedder, given.corpus, given.questions, size) for size in sizes}
    given.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

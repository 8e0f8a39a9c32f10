"""Which stage is blamed for a judgment that was not found."""

import pytest

from ragkit.measures.losses import STAGES, find_losses
from ragkit.records import Hit, Trace


@pytest.fixture(scope="module")
def hits(document, chunk):
    """`hits("xAB")`: one hit per letter, scores falling; what a hit covers is decided by its text."""
    d = document("a", "ABxyz")
    return lambda letters: tuple(
        Hit(chunk(d, d.text.index(c), d.text.index(c) + 1), 1 - i / 10, i + 1) for i, c in enumerate(letters)
    )


def _covered(chunk):
    return {"A": (0,), "B": (1,)}.get(chunk.text, ())


def _stages(trace, k=2, located=(True, True), coverable=(True, True)):
    return {loss.judgment: loss.stage for loss in find_losses(trace, _covered, k, located, coverable)}


def test_found_judgment_is_no_loss(hits):
    found = hits("AB")
    assert _stages(Trace(found, found, found)) == {}


def test_each_stage_is_blamed_for_what_it_lost(hits):
    everything = hits("xyBA")
    assert _stages(Trace(everything, everything, everything)) == {0: "rank", 1: "rank"}
    assert _stages(Trace(hits("xAyB"), hits("xAyB"), hits("xyAB"))) == {0: "rerank", 1: "rank"}
    assert _stages(Trace(hits("xyAB"), hits("xyA"), hits("xyA"))) == {0: "rank", 1: "threshold"}
    assert _stages(Trace(hits("xA"), hits("xA"), hits("xA"))) == {1: "candidates"}
    assert _stages(Trace((), (), ()), coverable=(True, False)) == {0: "candidates", 1: "chunk"}
    assert _stages(Trace((), (), ()), located=(False, True), coverable=(False, False)) == {0: "parse", 1: "chunk"}


def test_judgment_is_kept_by_its_last_covering_chunk(hits):
    """Two chunks cover A: the one that falls under the threshold does not matter."""
    assert _stages(Trace(hits("xyAA"), hits("xyA"), hits("xyA")), located=(True,), coverable=(True,)) == {0: "rank"}


def test_within_k_before_reranking_is_counted_after_the_threshold(hits):
    """Third of the candidates, second of those kept: reranking had it within k = 2, and lost it."""
    assert _stages(Trace(hits("xyAB"), hits("yABx"), hits("ByxA")), k=2) == {0: "rerank"}


def test_nearest_wrong_hit_covers_no_judgment_of_the_question(hits):
    ranking = hits("Axy")
    (loss,) = find_losses(Trace(ranking, ranking, ranking), _covered, 3, (True, True), (True, True))
    assert (loss.judgment, loss.nearest_wrong) == (1, ranking[1])
    (loss,) = find_losses(Trace(ranking, ranking[:1], ranking[:1]), _covered, 3, (True, True), (True, True))
    assert loss.nearest_wrong is None


def test_stages_are_named_in_the_order_they_are_passed():
    assert STAGES == ("parse", "chunk", "candidates", "threshold", "rerank", "rank")

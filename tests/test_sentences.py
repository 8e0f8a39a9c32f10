"""Where sentences end, in six languages, and where they don't."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.records import Block, BlockKind, Document
from ragkit.sentences import cut, split_block


def paragraph(text: str, kind: BlockKind = "paragraph", start: int = 0) -> Block:
    return Block(3, kind, None, (), text, start, start + len(text))


@pytest.mark.parametrize(
    "sentences",
    [
        ["The seal is pressed at 63 N.", "See Fig. 3 for the place.", "Is it tight? yes, mostly."],
        ["Open the lid (e.g. with a coin).", '"Done!"', "Dr. J. R. Smith approved it."],
        ["It needs 3.6 V.", "The battery lasts 5 min. in the test.", "Then it is empty…", "Replace it!"],
        [
            "Am 3. Mai wurde gemessen, z. B. bei 20 °C.",
            "Abb. 4 zeigt den 2. Versuch.",
            "Die Werte, vgl. Tab. 2, stimmen.",
        ],
        ["Est-ce tenu ?", "« Oui. »", "M. Durand a noté 4,5 m.", "Voir p. ex. la fig. 2."],
        ["¿Cuánto dura la batería?", "¡Seis años!", "La Sra. Ruiz lo confirmó en la pág. 12."],
    ],
)
def test_sentences_of_spaced_languages(sentences: list[str]) -> None:
    assert [s.text for s in split_block("a.md", paragraph(" ".join(sentences)))] == sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["电池寿命为六年。", "能换吗？", "可以！", "（见第3页。）", "版本2.3以后。"],
        ["校正は年1回です。", "「終わりました。」と表示されたら、蓋を閉じます。", "『次へ。』", "温度は20℃。"],
    ],
)
def test_sentences_of_languages_without_spaces(sentences: list[str]) -> None:
    assert [s.text for s in split_block("a.md", paragraph("".join(sentences)))] == sentences


@pytest.mark.parametrize("kind", ["heading", "list_item", "code"])
def test_other_blocks_are_one_sentence(kind: BlockKind) -> None:
    assert [s.text for s in split_block("a.md", paragraph("Press it. Then\nwait. 完。", kind))] == [
        "Press it. Then wait. 完。"
    ]


def test_every_row_of_a_table_is_a_sentence() -> None:
    rows = ["Model | Range", "Std. Model | 10 m. Measured.", "Deep | 40 m"]
    found = split_block("a.md", paragraph("\n".join(rows), "table", start=100))
    assert [s.text for s in found] == rows
    assert (found[1].block, found[1].start, found[1].end) == (3, 114, 114 + len(rows[1]))


def test_line_breaks_within_a_sentence_are_spaces_and_offsets_are_the_documents() -> None:
    (first, second) = split_block("a.md", paragraph("One\n two.\nThree.  ", start=10))
    assert (first.text, first.start, first.end) == ("One two.", 10, 19)
    assert (second.text, second.start, second.end) == ("Three.", 20, 26)


def test_nothing_is_cut_from_white_space() -> None:
    assert split_block("a.md", paragraph(" \n ")) == []
    assert cut("a.md", paragraph("a  b"), 1, 3) is None


@given(
    st.text(alphabet="aB3. !?…\n。！「」»\u00a0は", max_size=60), st.sampled_from(["paragraph", "table", "list_item"])
)
def test_no_character_is_lost_or_told_twice(text: str, kind: BlockKind) -> None:
    found = split_block("a.md", paragraph(text, kind))
    assert "".join("".join(text[s.start : s.end].split()) for s in found) == "".join(text.split())
    assert all(s.text == " ".join(text[s.start : s.end].split()) and s.text for s in found)
    assert all(one.end <= two.start for one, two in pairwise(found))


def test_a_chunk_gives_back_offsets_into_its_document(make_document: Callable[..., Document]) -> None:
    document = make_document("a.md", ["First. Second.", "Third one."])
    found = [s for block in document.blocks for s in split_block("a.md", block)]
    assert [document.text[s.start : s.end] for s in found] == ["First.", "Second.", "Third one."]

"""Pages, and the font they are written in."""

import builtins
import unicodedata

import pytest

from gateway.reports import paper as paper_module
from gateway.reports.paper import GREY, HEIGHT, MISSING, Face, Ink, Paper, WriterMissing, drawable
from gateway.reports.paper import width_of as width
from tests.unit.pdf_text import Placed, pages_of

PORTUGUESE = "áàâãçéêíóôõúüÁÀÂÃÇÉÊÍÓÔÕÚÜºª€–—“”‘’R$&@"
INK = Ink(size=10)


def paper() -> Paper:
    return Paper("Title", "pt-BR")


def test_texts_stand_where_they_were_written():
    """Places count from the top; in the file they count from the bottom."""
    sheet = paper()
    sheet.write((42, 100), "left (1)", INK)
    sheet.write_right((500, 100), "right\\", Ink(size=8, face=Face.BOLD, colour=GREY))
    sheet.turn()

    placed = pages_of(sheet.content())[0]

    right = Ink(size=8, face=Face.BOLD)
    assert placed[0] == Placed(42, pytest.approx(HEIGHT - 100), 10, "left (1)")
    assert placed[1].left == pytest.approx(500 - width("right\\", right), abs=0.01)
    assert (placed[1].size, placed[1].text) == (8, "right\\")


def test_every_turn_ends_a_page():
    sheet = paper()
    for number in range(3):
        sheet.write((1, 20), str(number), INK)
        sheet.rule(1, 2, 30)
        sheet.turn()

    pages = pages_of(sheet.content())

    assert [[placed.text for placed in page] for page in pages] == [["0"], ["1"], ["2"]]


def test_every_letter_of_portuguese_is_in_the_font():
    for face in Face:
        sheet = paper()
        sheet.write((1, 20), PORTUGUESE, Ink(size=8, face=face))
        sheet.turn()

        assert pages_of(sheet.content())[0][0].text == PORTUGUESE
        assert width(PORTUGUESE, Ink(size=8, face=face)) > 0


def test_what_the_font_lacks_is_replaced_visibly():
    wrong = [
        text
        for text in ["漢字", "😀", "\u202e", "\x07", "\ud800"]
        if drawable(f"a{text}b") != f"a{MISSING * len(text)}b"
    ]

    assert wrong == []


def test_every_character_that_can_be_drawn_comes_out():
    """More than one byte tells apart: the font is embedded in several parts then."""
    every = [c for c in map(chr, range(0x20, 0x2500)) if drawable(c) == c]
    letters = "".join(c for c in every if unicodedata.category(c)[0] in "LNP")
    sheet = paper()
    sheet.write((1, 20), letters, INK)
    sheet.turn()

    assert len(letters) > 200
    assert pages_of(sheet.content())[0][0].text == letters


def test_every_font_of_the_file_is_embedded():
    """A reader must not choose one of its own."""
    sheet = paper()
    sheet.write((1, 20), "text", INK)
    sheet.turn()
    content = sheet.content()

    assert b"Helvetica" not in content
    assert content.count(b"/Subtype /TrueType") == content.count(b"/FontFile2") == 1


def test_a_width_grows_with_text_and_size():
    assert width("", INK) == 0
    assert width("ab", INK) == pytest.approx(width("a", INK) + width("b", INK))
    assert width("a", Ink(size=20)) == pytest.approx(2 * width("a", INK))


def test_without_the_library_it_says_so(monkeypatch: pytest.MonkeyPatch):
    """PDF is an extra: the other formats must not miss it."""
    honest = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name.startswith("reportlab"):
            raise ImportError(name)
        return honest(name, *rest)  # type: ignore[arg-type]

    paper_module._widths.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(WriterMissing):
        paper()

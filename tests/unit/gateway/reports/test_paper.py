"""The pages as another program reads them."""

import io
import unicodedata
from collections.abc import Sequence

from pypdf import PdfReader

from gateway.reports.document import Row
from gateway.reports.paper import MISSING, Frame, pages

FRAME = Frame(
    title="Title",
    heading="Heading",
    under="under",
    warning="",
    foot="foot",
    columns=("one", "two", "three"),
)
PORTUGUESE = "áàâãçéêíóôõúüÁÀÂÃÇÉÊÍÓÔÕÚÜºª€–—“”‘’R$&@<b>&lt;"


def row(text: str) -> Row:
    """A movement of these words."""
    return Row(when="noon", lines=[text], identifiers="", amount="1,00", owed=False)


def drawn(*texts: str) -> Sequence[str]:
    """The lines of all pages."""
    reader = PdfReader(io.BytesIO(pages(FRAME, [], map(row, texts))))
    return [line for page in reader.pages for line in page.extract_text().split("\n")]


def test_letters_of_portuguese_and_signs_of_markup_come_out():
    assert PORTUGUESE in drawn(PORTUGUESE)


def test_what_the_font_lacks_is_replaced_visibly():
    texts = ["漢字", "😀", "\u202e", "\ud800"]

    shown = drawn(*(f"a{text}b" for text in texts))

    assert [text for text in texts if f"a{MISSING * len(text)}b" not in shown] == []


def test_every_character_that_can_be_drawn_comes_out():
    """More than one byte tells apart: the font is embedded in several parts then."""
    every = "".join(c for c in map(chr, range(0x21, 0x2500)) if unicodedata.category(c)[0] in "LN")
    parts = [every[at : at + 40] for at in range(0, len(every), 40)]

    shown = set("".join(drawn(*parts)))

    assert len(shown & set(every)) > 150


def test_every_font_of_the_file_is_embedded():
    """A reader must not choose one of its own."""
    content = pages(FRAME, [], [row("text")])

    assert b"Helvetica" not in content
    assert content.count(b"/Subtype /TrueType") == content.count(b"/FontFile2") == 2


def test_a_word_wider_than_its_column_is_broken():
    shown = drawn("W" * 400)

    assert "".join(line for line in shown if set(line) == {"W"}) == "W" * 400
    assert max(map(len, shown)) < 60

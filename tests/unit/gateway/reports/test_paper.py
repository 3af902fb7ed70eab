"""The pages as another program reads them."""

import io
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from pypdf import PdfReader

from gateway.banks.port.charges import Party
from gateway.panel.vendor import FOLDER
from gateway.reports.document import Row
from gateway.reports.paper import MISSING, Frame, pages
from gateway.reports.pdf import row as movement
from tests.unit.reporting import entry

FRAME = Frame(
    title="Title",
    heading="Heading",
    under="under",
    warning="",
    foot="foot",
    columns=("one", "two", "three"),
)
NOWHERE = Path("/nowhere")
"""Where no font was installed."""
PORTUGUESE = "áàâãçéêíóôõúüÁÀÂÃÇÉÊÍÓÔÕÚÜºª€–—“”‘’R$&@<b>&lt;"


def row(text: str) -> Row:
    return Row(when="noon", lines=[text], identifiers="", amount="1,00", owed=False)


def drawn(*texts: str, fonts: Path = FOLDER) -> Sequence[str]:
    reader = PdfReader(io.BytesIO(pages(FRAME, [], map(row, texts), fonts)))
    return [line for page in reader.pages for line in page.extract_text().split("\n")]


def test_portuguese_letters_and_markup_characters_are_printed():
    assert PORTUGUESE in drawn(PORTUGUESE)


def test_characters_missing_in_the_font_are_replaced_visibly():
    texts = ["漢字", "👍🏽", "\ud800"]

    shown = drawn(*(f"a{text}b" for text in texts))

    assert [f"a{MISSING * count}b" in shown for count in (2, 1, 1)] == [True] * 3


def test_a_note_lists_missing_characters():
    shown = " ".join(drawn("漢字", "é", "👍🏽漢"))

    assert f"Onde se lê {MISSING}" in shown
    assert "letras U+6F22 U+5B57; símbolos e emoji U+1F44D." in shown
    assert "instalada" not in shown
    assert f"Onde se lê {MISSING}" not in " ".join(drawn("é → ✓"))


def test_symbols_are_drawn_or_written_in_ascii():
    """Invisible characters are not drawn, and do not change the direction."""
    text = "bem\u2011te\u2011vi\u202f\u2032 → ✓ a\u00adb\u200bc\u202egpj\u2066"

    assert "bem\u2011te\u2011vi \u2032 → ✓ abcgpj" in drawn(text)
    assert "bem-te-vi ' -> ok abcgpj" in drawn(text, fonts=NOWHERE)


def test_without_its_font_a_pdf_has_western_letters_and_a_note():
    shown = drawn(PORTUGUESE, "שלום", fonts=NOWHERE)

    assert PORTUGUESE in shown
    assert MISSING * 4 in shown
    assert "A fonte de outras escritas não está instalada aqui." in " ".join(shown)


def test_arabic_and_hebrew_are_in_visual_order():
    """Right to left, joined, with mirrored brackets."""
    cases = {
        "שלום (עולם) 12 a": "12 (םלוע) םולש a",
        "שלום (עולם) a": "(םלוע) םולש a",
        "(שלום) עולם": "(םולש) םלוע",
        "שלום ((אב)) «a»": "((בא)) םולש «a»",
        "Loja سلام": "Loja \ufee1\ufefc\ufeb3",
    }

    assert {text: visual(text) for text in cases} == cases


def visual(text: str) -> str:
    """Read the words of a row from left to right, as it is drawn."""
    (page,) = PdfReader(io.BytesIO(pages(FRAME, [], [row(text)]))).pages
    (line,) = [
        each for each in page.extract_text(extraction_mode="layout").split("\n") if "noon" in each
    ]
    return " ".join(line.split()[1:-1])


@given(text=st.text(alphabet=st.characters(codec=None), max_size=40))
@example(text="\u1ce4א\u23bc")
@example(text="\u202dمرحبا\ufdf2\U0010ffff")
def test_any_text_can_be_drawn(text: str):
    assert pages(FRAME, [("label", f"{text} א")], [])


def test_a_wrapped_right_to_left_text_starts_on_the_first_line():
    words = " ".join(["שלום"] * 40 + ["סוף"])

    lines = [line for line in drawn(words) if "\u05d5" in line]

    assert len(lines) > 1
    assert "\u05e1" not in lines[0]


def test_every_drawable_character_is_printed():
    """More than one byte of codes: the font is embedded in several parts then."""
    every = "".join(c for c in map(chr, range(0x21, 0x2500)) if unicodedata.category(c)[0] in "LN")
    parts = [every[at : at + 40] for at in range(0, len(every), 40)]

    shown = set("".join(drawn(*parts)))

    assert len(shown & set(every)) > 150


def test_every_font_of_the_file_is_embedded():
    """Otherwise a reader would substitute its own."""
    content = pages(FRAME, [], [row("text")])

    assert b"Helvetica" not in content
    assert content.count(b"/Subtype /TrueType") == content.count(b"/FontFile2") == 2


def test_a_word_wider_than_its_column_is_broken():
    shown = drawn("W" * 400)

    assert "".join(line for line in shown if set(line) == {"W"}) == "W" * 400
    assert max(map(len, shown)) < 60


def test_a_right_to_left_name_does_not_reorder_what_follows():
    """Neither the number after it, nor a bracket at its end."""
    names = ("شركة (سلام)", "Loja (שלום)", "Loja")

    shown = [
        visual(movement(entry(counterparty=Party(name=name, tax_number="52998224725"))).lines[1])
        for name in names
    ]

    assert [line.endswith(" - 529.982.247-25") for line in shown] == [True] * 3
    assert shown[0].startswith("(")
    assert shown[1] == "Loja (םולש) - 529.982.247-25"

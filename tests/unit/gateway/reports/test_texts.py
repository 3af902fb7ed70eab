"""Texts of a bank's customers are nobody's program, and fit into every file."""

import pytest

from gateway.reports.texts import ascii_line, cell, encodable, one_line


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+5511999999999",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "\tplain",
        "\rplain",
        "\nplain",
        "  =1+1",
        "\u00a0=1+1",
        "\uff1d1+1",
        "\uff0b1",
        "\uff0d1",
        "\uff20a",
    ],
)
def test_what_a_spreadsheet_would_run_is_made_text(text: str):
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize(
    "text", ["", "pão", "a=b", "1+1", "maria@example.com", "529.982.247-25", "'=1", " a"]
)
def test_all_else_stands(text: str):
    assert cell(text) == text


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ufffe", "\uffff"])
def test_what_no_file_can_carry_is_replaced_visibly(text: str):
    written = cell(text).encode()

    assert "\ufffd" in written.decode()
    assert encodable(text) == written.decode()


def test_what_can_be_carried_stands():
    assert encodable("a\tb\n漢😀") == "a\tb\n漢😀"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("  pão \r\n doce\t", "pão   doce"),
        ("a\x00\x1bb", "a b"),
        ("a\u2028b", "a b"),
        ("pa\u0303o", "pão"),
        ("\x00", ""),
    ],
)
def test_a_line_has_no_control_characters_and_whole_letters(text: str, line: str):
    assert one_line(text) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Conceição Araújo Ünal", "Conceicao Araujo Unal"),
        ("1º - 2ª", "1o - 2a"),
        ("a – b — “c” ‘d’", "a - b - \"c\" 'd'"),
        ("漢", "?"),
        ("x\ud800", "x?"),
    ],
)
def test_ascii_keeps_letters_without_their_accents(text: str, line: str):
    assert ascii_line(text) == line


@pytest.mark.parametrize("hidden", ["\u200b", "\ufeff", "\u00a0", "\u2060 ", "\u202e"])
def test_a_formula_behind_something_invisible_is_none_either(hidden):
    assert cell(f"{hidden}=1+1").startswith("'")


def test_what_turns_the_writing_is_shown():
    assert cell("a\u202eb\u2066c") == "a\N{OPEN BOX}b\N{OPEN BOX}c"

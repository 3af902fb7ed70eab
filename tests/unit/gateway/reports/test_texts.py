"""Texts of a bank's customers are nobody's program, and fit into every file."""

from gateway.reports.texts import ascii_line, cell, encodable, one_line


def test_what_a_spreadsheet_would_run_is_made_text():
    cases = [
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
    ]

    wrong = [text for text in cases if cell(text) != f"'{text}"]

    assert wrong == []


def test_all_else_stands():
    cases = ["", "pão", "a=b", "1+1", "maria@example.com", "529.982.247-25", "'=1", " a"]

    wrong = [text for text in cases if cell(text) != text]

    assert wrong == []


def test_what_no_file_can_carry_is_replaced_visibly():
    for text in ["\ud800", "a\udfffb", "\ufffe", "\uffff"]:
        written = cell(text).encode()

        assert "\ufffd" in written.decode()
        assert encodable(text) == written.decode()


def test_what_can_be_carried_stands():
    assert encodable("a\tb\n漢😀") == "a\tb\n漢😀"


def test_a_line_has_no_control_characters_and_whole_letters():
    cases = [
        ("  pão \r\n doce\t", "pão   doce"),
        ("a\x00\x1bb", "a b"),
        ("a\u2028b", "a b"),
        ("pa\u0303o", "pão"),
        ("\x00", ""),
    ]

    wrong = [(text, line) for text, line in cases if one_line(text) != line]

    assert wrong == []


def test_ascii_keeps_letters_without_their_accents():
    cases = [
        ("Conceição Araújo Ünal", "Conceicao Araujo Unal"),
        ("1º - 2ª", "1o - 2a"),
        ("a – b — “c” ‘d’", "a - b - \"c\" 'd'"),
        ("漢", "?"),
        ("x\ud800", "x?"),
    ]

    wrong = [(text, line) for text, line in cases if ascii_line(text) != line]

    assert wrong == []


def test_a_formula_behind_something_invisible_is_none_either():
    wrong = [
        hidden
        for hidden in ["\u200b", "\ufeff", "\u00a0", "\u2060 ", "\u202e"]
        if not cell(f"{hidden}=1+1").startswith("'")
    ]

    assert wrong == []


def test_what_turns_the_writing_is_shown():
    assert cell("a\u202eb\u2066c") == "a\N{OPEN BOX}b\N{OPEN BOX}c"

"""Texts of a bank's customers are never executed, and fit into every file."""

from gateway.reports.texts import ascii_line, cell, encodable, one_line, text_cell


def test_formulas_are_written_as_text():
    cases = [
        "=1+1",
        "+5511999999999",
        "-1",
        "@SUM(A1)",
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


def test_no_cell_is_a_formula_when_read_with_another_separator():
    """Excel in Portuguese separates by semicolons, whatever the file uses."""
    text = cell("a;=cmd|'/C calc'!A0 , +1,2\t\u200b@x | -3")

    for separator in ",;|\t":
        cells = [each.strip(" \u200b") for each in text.split(separator)]
        assert not [each for each in cells if each.startswith(tuple("=+-@"))], separator


def test_a_cell_starting_with_a_control_character_is_escaped():
    """A reader may begin a new cell after it."""
    cases = {"\t=1": "'\t'=1", "\r=1": "'\r'=1", "\n=1": "'\n'=1", "a\n-1": "a\n'-1"}

    assert {text: cell(text) for text in cases} == cases


def test_ordinary_text_is_unchanged():
    cases = ["", "pão", "a=b", "1+1", "maria@example.com", "529.982.247-25", " a", "'a"]

    wrong = [text for text in cases if cell(text) != text]

    assert wrong == []


def test_an_unencodable_character_is_replaced_visibly():
    for text in ["\ud800", "a\udfffb", "\ufffe", "\uffff"]:
        written = cell(text).encode()

        assert "\ufffd" in written.decode()
        assert encodable(text) == written.decode()


def test_encodable_characters_are_unchanged():
    assert encodable("a\tb\n漢😀") == "a\tb\n漢😀"


def test_a_line_has_no_control_characters_and_composed_letters():
    cases = [
        ("  pão \r\n doce\t", "pão   doce"),
        ("a\x00\x1bb", "a b"),
        ("a\u2028b", "a b"),
        ("pa\u0303o", "pão"),
        ("\x00", ""),
    ]

    wrong = [(text, line) for text, line in cases if one_line(text) != line]

    assert wrong == []


def test_ascii_text_keeps_letters_without_accents():
    cases = [
        ("Conceição Araújo Ünal", "Conceicao Araujo Unal"),
        ("1º - 2ª", "1o - 2a"),
        ("a – b — “c” ‘d’", "a - b - \"c\" 'd'"),
        ("漢", "?"),
        ("x\ud800", "x?"),
        ("nota n° 5", "nota no 5"),
        ("½ hora, 2½ horas", "1/2 hora, 2 1/2 horas"),
        ("Jose\u200bfina\u202fda\u2009Silva\u2060", "Josefina da Silva"),
        ("bem\u2011te\u2011vi \u2212 €\u00a05 × 2", "bem-te-vi - EUR 5 x 2"),
        ("«a» • ≥ 3 → § 2 ± µ ©", '"a" . >= 3 -> par. 2 +/- u (c)'),
        ("2\ufe0f\u20e3 a\u0301\u00ad", "2 a"),
    ]

    wrong = [(text, line) for text, line in cases if ascii_line(text) != line]

    assert wrong == []


def test_letters_without_a_decomposition_are_transliterated():
    assert ascii_line("Straße Đorđe Łódź Ærø 漢") == "Strasse Dorde Lodz AEro ?"


def test_a_formula_after_an_invisible_character_is_escaped():
    wrong = [
        hidden
        for hidden in ["\u200b", "\ufeff", "\u00a0", "\u2060 ", "\u202e"]
        if not cell(f"{hidden}=1+1").startswith("'")
    ]

    assert wrong == []


def test_bidirectional_control_characters_are_shown():
    assert cell("a\u202eb\u2066c") == "a\N{OPEN BOX}b\N{OPEN BOX}c"


def test_texts_that_look_like_values_are_escaped():
    """Excel keeps 15 digits of a number, and turns a month and a year into a date."""
    values = [
        *("12345678901234567891", "0001234", "73928e03", "1E5", "10,50", "R$ 10", "11222333000181"),
        *("MARÇO 2026", "mar/26", "2 de março", "March 3, 2026", "20/11/2026", "10:30", "3-4"),
        *("2026-11-20T13:40:11Z", "VERDADEIRO", "false", "1/2"),
    ]
    texts = [
        *("", "Maria", "Março", "order-1042", "Loja 24 horas", "529.982.247-25", "***.982.247-**"),
        *("11.222.333/0001-81", "6f1c2f0e-5d3a-4b7e-9c1d-2a4f6b8c0d1e", "trf_0190c4c2"),
        *("E0000000020261120134011abcdefghij", "True love", "Rua 7 de Setembro, casa 3"),
        *("E00000000202611201340677449399E8", "E1823612020241128123401234567890"),
    ]

    assert [text for text in values if text_cell(text) != f"'{text}"] == []
    assert [text for text in texts if text_cell(text) != text] == []
    assert text_cell("=1") == cell("=1") == "'=1"
    assert [text for text in values if cell(text) != text] == []

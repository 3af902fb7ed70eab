"""Letters in ASCII."""

import unicodedata

from gateway.core.ascii_letters import ascii_letters


def test_latin_letters_are_written_in_ascii():
    """Letters that Unicode does not decompose follow their languages; other characters stay."""
    cases = {
        "São João": "Sao Joao",
        "Straße STRAẞE": "Strasse STRASSE",
        "Đorđe Łódź Ærø": "Dorde Lodz AEro",
        "Þór Iğdır": "Thor Igdir",
        "Œuvre Ħal": "OEuvre Hal",
        "漢 10": "漢 10",
    }

    assert {text: ascii_letters(text) for text in cases} == cases


def test_symbols_are_written_in_ascii():
    cases = {
        "n° 5, 3ª": "no 5, 3a",
        "2½ e ½": "2 1/2 e 1/2",
        "10 € × 3 ≥ 30": "10 EUR x 3 >= 30",
        "«bem‑te‑vi» … • ·": '"bem-te-vi" ... . .',
    }

    assert {text: ascii_letters(text) for text in cases} == cases


def test_spaces_and_dashes_are_unified_and_invisible_characters_removed():
    """By Unicode's properties of Latin characters and general punctuation."""
    every = [chr(code) for code in (*range(0x250), *range(0x2000, 0x2070), 0x3000, 0xFEFF)]
    kinds = {
        " ": [each for each in every if each.isspace()],
        "-": [each for each in every if unicodedata.category(each) == "Pd"],
        "": [each for each in every if unicodedata.category(each) == "Cf"],
    }

    wrong = [
        each
        for plain, those in kinds.items()
        for each in those
        if ascii_letters(f"a{each}b") != f"a{plain}b"
    ]

    assert wrong == []

"""Letters in ASCII."""

from gateway.domain.kernel.ascii_letters import ascii_letters


def test_latin_letters_are_written_without_accents():
    """Those that Unicode does not take apart as their languages write them; the rest stands."""
    cases = {
        "São João": "Sao Joao",
        "Straße STRAẞE": "Strasse STRASSE",
        "Đorđe Łódź Ærø": "Dorde Lodz AEro",
        "Þór Iğdır": "Thor Igdir",
        "Œuvre Ħal": "OEuvre Hal",
        "漢 10 €": "漢 10 €",
    }

    assert {text: ascii_letters(text) for text in cases} == cases

"""Bodies are read strictly, and money exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provider_adapters.testing.bank import messages
from provider_adapters.testing.bank.kernel.refusals import Refusal
from tests.world.tables import cases


def field(text: str) -> messages.Fields:
    return messages.read(f'{{"x": {text}}}'.encode())


@given(centavos=st.integers(1, messages.LARGEST))
def test_reais_become_centavos_exactly(centavos):
    """1.15 is 115 and not 114: no float in between."""
    assert field(f"{centavos // 100}.{centavos % 100:02d}").reais("x") == centavos


@cases(("text", "centavos"), [("10", 1000), ("10.5", 1050), ("0.01", 1)])
def test_fewer_decimals_are_fine(text, centavos):
    assert field(text).reais("x") == centavos


@cases(
    "text",
    ["0", "0.00", "-1", "1.001", "1e2", "1e999999999", "true", '"10.50"', "null", "[]", "9" * 14],
)
def test_what_is_no_amount_in_reais_is_refused(text):
    with pytest.raises(Refusal, match="x is"):
        field(text).reais("x")


@cases("text", ["0", "-5", "1.0", "1e2", "true", '"5"', "null", "10" + "0" * 14])
def test_what_is_no_amount_in_centavos_is_refused(text):
    with pytest.raises(Refusal, match="x is"):
        field(text).centavos("x")


@cases("raw", [b"[]", b"5", b"{", b"\xff", b"[" * 100_000, b'{"x": 1' + b"0" * 5000])
def test_what_is_no_object_is_refused(raw):
    with pytest.raises(Refusal, match="JSON object"):
        messages.read(raw)


def test_an_empty_body_is_an_empty_object():
    assert "x" not in messages.read(b"")


@cases(
    ("reader", "text"),
    [
        ("text", "5"),
        ("text", "1.5"),
        ("text", '""'),
        ("text", "null"),
        ("whole", "true"),
        ("whole", "1.5"),
        ("whole", '"5"'),
        ("seconds", '"5"'),
        ("seconds", "false"),
        ("whole", "NaN"),
        ("flag", "1"),
        ("flag", '"yes"'),
        ("inside", "[]"),
        ("inside", "null"),
    ],
)
def test_another_type_is_refused(reader, text):
    with pytest.raises(Refusal) as refused:
        getattr(field(text), reader)("x")

    assert (refused.value.status, refused.value.code) == (400, "INVALID_REQUEST")


def test_the_right_type_is_read():
    body = messages.read(b'{"t": "a", "n": -5, "s": -1.5, "f": true, "o": {"t": "b"}, "z": null}')

    assert (body.text("t"), body.whole("n"), body.seconds("s"), body.flag("f")) == (
        "a",
        -5,
        -1.5,
        True,
    )
    assert (body.inside("o").text("t"), body.text("z", "d"), body.whole("z", 7)) == ("b", "d", 7)
    assert (body.flag("absent"), "z" in body, body.says_null("z")) == (False, False, True)


def test_a_choice_is_one_of_its_words():
    words = {"sim": "yes"}

    assert field('"sim"').choice("x", words) == "yes"
    with pytest.raises(Refusal, match="one of sim"):
        field('"nao"').choice("x", words)


def test_a_list_of_objects_is_read_one_by_one():
    body = messages.read(b'{"all": [{"a": "1"}, {"a": "2"}], "not": [1], "none": {}}')

    assert [each.text("a") for each in body.inside_all("all")] == ["1", "2"]
    for name in ("not", "none", "absent"):
        with pytest.raises(Refusal):
            body.inside_all(name)

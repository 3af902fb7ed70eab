"""Damaged text in a bank's answer: what is repaired, and what stays undecodable."""

from __future__ import annotations

import json

import msgspec
import pytest

from gateway.banks.client.messages import ProviderAnswer, ProviderRequest
from gateway.banks.port.providers import BadReply
from gateway.core.money import Money
from gateway.core.strict import Malformed
from provider_adapters.kit import money as amounts
from provider_adapters.kit.answers import provider_id, read_document, try_body, try_document
from provider_adapters.kit.tolerant import repaired, salvaged, shallow
from tests.world.tables import cases


class Paid(msgspec.Struct):
    id: str
    value: amounts.JsonNumber
    status: str
    name: str | None = None


PAID = msgspec.json.Decoder(Paid)
CALLS = ("create_payout", "find_payout", "find_refund", "get_charge", "list_statement")


def answer_to(operation: str, body: bytes, status: int = 200) -> ProviderAnswer:
    request = ProviderRequest(operation=operation, method="GET", template="/x", path="/x")
    return ProviderAnswer(status=status, headers={}, body=body, request=request)


def shown(paid: Paid) -> tuple[str, Money, str, str | None]:
    return provider_id(paid.id), amounts.from_json(paid.value), paid.status, paid.name


def read(body: bytes, operation: str = "find_payout") -> tuple[object, ...] | str:
    try:
        return read_document(answer_to(operation, body), PAID, shown)
    except BadReply as refused:
        return str(refused.reason)


def document(text: bytes, *, field: bytes = b"name") -> bytes:
    return b'{"id": "7", "value": 10.50, "status": "PAID", "%s": "%s"}' % (field, text)


DAMAGED: dict[bytes, str] = {
    rb"parab\u00e9ns \ud83d": "parabéns \ufffd",
    rb"\ude00 first": "\ufffd first",
    rb"\ud83d\ud83d\ude00": "\ufffd\U0001f600",
    rb"\ud83d\\ude00": "\ufffd\\ude00",
    rb"\\ud83d": "\\ud83d",
    b"(5\n%)\t\x00": "(5\n%)\t\x00",
    "José".encode("latin-1"): "Jos\ufffd",
    "José".encode()[:-1]: "Jos\ufffd",
    b"\xf0\x9f\x98 cut": "\ufffd cut",
    b"\xed\xa0\xbd": "\ufffd\ufffd\ufffd",
    b"\xc0\xa2": "\ufffd\ufffd",
    rb"C:\Users\x \u12": "C:\ufffdUsers\ufffdx \ufffdu12",
    rb"a \" quote, [brackets], {braces}": 'a " quote, [brackets], {braces}',
}


def test_damaged_text_is_repaired_in_every_answer():
    wrong = [
        (operation, text, said)
        for text, clean in DAMAGED.items()
        for operation in CALLS
        if (said := read(document(text), operation)) != ("7", Money(1050), "PAID", clean)
    ]

    assert wrong == []


def test_damage_in_an_unread_field_is_ignored():
    """Including words that JSON does not have."""
    bodies = [document(text, field=b"memo") for text in DAMAGED]
    words = (b"NaN", b"-Infinity", b"undefined", b"01", b"+1", b".5", b"None", b"0x1f")
    plain = document(b"x").removesuffix(b"}")
    bodies += [plain + b', "rate": %s}' % word for word in words]
    bodies += [plain + b', "rates": [1, %s, {"a": %s}]}' % (word, word) for word in words]

    assert {read(body)[:3] for body in bodies} == {("7", Money(1050), "PAID")}


@cases(
    "body",
    [
        document(b"x").replace(b"10.50", b"10.50\xff"),
        document(b"x").replace(b"10.50", b"NaN"),
        document(b"x").replace(b"10.50", b"1\x000.50"),
        document(b"x").replace(b"10.50", b"1 0.50"),
        document(b"x").replace(b"10.50", b"010.50"),
        document(b"x").replace(b'"7"', b'"7\xff"'),
        document(b"x").replace(b'"7"', rb'"7\ud83d"'),
        document(b"x").replace(b'"7"', b'"7\n"'),
        document(b"x").replace(b'"7"', b"NaN"),
        document(b"x").replace(b'"value"', b'"value\xff"'),
        document(b"x").replace(b'"value"', b'"val\xffue"'),
        document(b"x").replace(b'"value"', b'"value\x00"'),
        document(b"x").replace(b'"value"', rb'"val\ue"'),
        document(b"\xff")[:-1],
        document(b"\xff")[:-2],
        document(b"\xff") + b"}",
        document(b"\xff") + b"\x00",
        document(b"\xff") + document(b"\xff"),
        b"\x00" + document(b"\xff"),
        document(b'"'),
        document(b"\\"),
        b'{"id": "7", "value": 10.50, "status": "PAID", "name": "\xff}',
        b"<html>\xff</html>",
        b"\xff",
        b"",
    ],
)
def test_damaged_money_fields_and_truncated_documents_are_refused(body: bytes):
    """Damaged text never becomes another amount, id, state or field."""
    assert {read(body, call) for call in CALLS} <= {"not_json", "wrong_shape"}


def test_a_damaged_state_matches_no_known_state():
    assert read(document(b"x").replace(b"PAID", b"PAI\xc4")) == ("7", Money(1050), "PAI\ufffd", "x")


def test_the_last_value_of_a_repeated_field_counts_damaged_or_not():
    twice = document(b"@").replace(b'"id"', b'"value": 99.00, "id"')

    assert read(twice.replace(b"@", b"\xff")) == ("7", Money(1050), "PAID", "\ufffd")
    assert read(twice) == ("7", Money(1050), "PAID", "@")


def test_an_undamaged_document_is_unchanged():
    emoji = document("José \U0001f600".encode())
    for body in (document(b"x"), emoji, b"[]", b" [1, 2.50e3]", b"7"):
        assert repaired(body) == body


def test_a_long_document_is_repaired_in_one_pass():
    """Unterminated strings, escaped quotation marks and unlimited nesting."""
    for body in (b'{"' + b'\\"' * 100_000, b'{"\\' * 50_000, b"[" * 200_000, b'{"a":"' + b"\\" * 9):
        assert read(body) in {"not_json", "wrong_shape"}
    assert salvaged(b"[" * 200_000 + b"]" * 200_000 + b"}") is not None


DEEP = b"[" * 3_000 + b"]" * 3_000


def test_values_nested_too_deep_hide_no_other_value():
    """It is no value of a field that is read, and what decides about money is not read past it."""
    typed = document(b"@").replace(b'"@"', DEEP)
    other = typed.replace(b"10.50", b'"10.50"')
    amount = document(b"@").replace(b"10.50", DEEP)
    unread = typed.replace(b'"name"', b'"memo"')

    for body in (typed, other, unread, unread.replace(b"{", b'{"a": "\xff", ', 1)):
        assert read(body, "get_charge") == ("7", Money(1050), "PAID", None)
        refused = {read(body, each) for each in ("create_payout", "find_payout", "find_refund")}
        assert refused <= {"not_json", "wrong_shape"}
    assert read(amount, "get_charge") == read(unread[:-1], "get_charge") == "not_json"


def test_a_hundred_levels_are_left_as_they_are():
    body = b'{"a": "[{", "b": ' + b"[" * 99 + b"]" * 99 + b', "c": 1}'
    deeper = body.replace(b"[]", b'["]", {"d": [[1]]}, [2], 3]')

    assert shallow(body) == body
    assert shallow(deeper) == body.replace(b"[]", b'["]", [[]], [[]], 3]')
    assert shallow(deeper[: deeper.index(b"[1]")]) == body[: body.index(b"[]")] + b'["]", [[]]'


def test_a_damaged_document_in_another_format_is_read():
    """Whichever of the two the decoder meets first."""
    other = document(b"\xe3").replace(b"10.50", b'"10.50"')
    unread = document(b"\xe3", field=b"memo").replace(b"10.50", b'"10.50"')

    assert read(other, "get_charge") == ("7", Money(1050), "PAID", "\ufffd")
    assert read(unread, "get_charge")[:3] == ("7", Money(1050), "PAID")


def test_a_refusal_keeps_its_code_despite_a_damaged_text():
    body = rb'{"id": "7", "value": 1, "status": "S", "name": "n' + b"\xe3" + rb'o \ud83d"}'

    found = try_document(answer_to("find_payout", body, 400), PAID)

    assert found is not None
    assert found.status == "S"


class Subject(msgspec.Struct):
    id: str = ""


class Told(msgspec.Struct):
    event: str = ""
    paid: Subject | None = None


TOLD = msgspec.json.Decoder(Told)


def test_the_readable_part_of_a_truncated_callback_is_read():
    whole = json.dumps({"event": "e", "paid": {"id": "7", "value": 1, "status": "PAID"}}).encode()
    cut = whole[:-2] + b', "name": "Jos\xc3'

    assert try_body(whole, TOLD) == try_body(cut, TOLD) == Told(event="e", paid=Subject(id="7"))
    assert try_body(b'{"event": "e", "paid"', TOLD) == Told(event="e")
    assert try_body(b'{"event": "e", "text": "he said "no", twice"}', TOLD) == Told(event="e")


@cases(
    ("body", "said"),
    [
        (b"", None),
        (b"garbage", None),
        (b"]}", None),
        (b'{"a": "b', {"a": None}),
        (b'{"a": [1, {"b": "c"', {"a": [1, {"b": "c"}]}),
        (b'{"a": 1, "a": 2}', {"a": 1}),
        (b'{"a": "\xff"}}} {"c": 1}', {"a": "\ufffd"}),
    ],
)
def test_salvaging_a_document_never_fails(body: bytes, said: object):
    assert salvaged(body) == said


@pytest.mark.parametrize("text", ["tr_\ufffd", "\ufffd"])
def test_a_damaged_id_is_refused(text: str):
    """It would name another payout, or none."""
    with pytest.raises(Malformed):
        provider_id(text)

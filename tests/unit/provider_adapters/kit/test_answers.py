"""Reading a bank's JSON."""

from __future__ import annotations

import msgspec
import pytest

from gateway.banks.client.messages import ProviderAnswer
from gateway.banks.port.providers import BadReply, NotFound, RateLimited, Refused, Unavailable
from gateway.core.money import Money
from gateway.core.strict import Malformed
from provider_adapters.kit.answers import (
    inside,
    is_e2e_id,
    known,
    listed,
    listed_error,
    provider_id,
    read_document,
    reader,
    try_document,
)
from tests.world.tables import cases


class Paid(msgspec.Struct):
    centavos: int


DECODER = msgspec.json.Decoder(Paid)


def answering(body: bytes, status: int = 200) -> ProviderAnswer:
    return ProviderAnswer(status=status, headers={}, body=body)


def money(document: Paid) -> Money:
    return Money(document.centavos)


def test_an_amount_is_read_exactly():
    read = read_document(answering(b'{"centavos": 999999999999999}'), DECODER, money)

    assert read == Money(999_999_999_999_999)


@cases(
    ("body", "reason"),
    [
        (b"", "not_json"),
        (b"{", "not_json"),
        (b'{"centavos": NaN}', "not_json"),
        (b'{"centavos": Infinity}', "not_json"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "not_json"),
        (b'{"\xff": 1}', "wrong_shape"),
        (b'{"centavos": 10.0}', "wrong_shape"),
        (b'{"centavos": 1e3}', "wrong_shape"),
        (b'{"centavos": "1050"}', "wrong_shape"),
        (b'{"centavos": true}', "wrong_shape"),
        (b'{"centavos": null}', "wrong_shape"),
        (b'{"centavos": 1000000000000000}', "wrong_shape"),
        (b'{"centavos": ' + b"9" * 5000 + b"}", "wrong_shape"),
        (b"{}", "wrong_shape"),
        (b"[]", "wrong_shape"),
    ],
)
def test_an_unreadable_answer_is_a_bad_reply(body: bytes, reason: str):
    with pytest.raises(BadReply) as failed:
        read_document(answering(body), DECODER, money)

    assert failed.value.reason == reason
    assert failed.value.http_status == 200


@cases("problem", [ValueError("x"), OverflowError("x"), ZeroDivisionError("x")])
def test_an_answer_of_an_unexpected_shape_is_a_bad_reply(problem: Exception):
    def shape(_: Paid) -> Money:
        raise problem

    with pytest.raises(BadReply):
        read_document(answering(b'{"centavos": 1}'), DECODER, shape)


def test_an_error_status_is_reported_before_its_document():
    with pytest.raises(Unavailable):
        read_document(answering(b'{"centavos": 1}', 500), DECODER, money)


@cases("body", [b"", b"<html>", b"[]", b'{"centavos": "\xff"}'])
def test_an_unreadable_document_is_none(body: bytes):
    assert try_document(answering(body), DECODER) is None


def test_a_readable_document_is_returned():
    assert try_document(answering(b'{"centavos": 1}'), DECODER) == Paid(1)


@cases(
    ("text", "is_one"),
    [
        ("E99999999202611201340abcDEF12345", True),
        ("D99999999202611201340abcDEF12345", True),
        ("E9999999920261120134abcDEF123456", False),
        ("e99999999202611201340abcDEF12345", False),
        ("E99999999202611201340abcDEF1234", False),
        ("E99999999202611201340abcDEF12345\n", False),
        ("E99999999202611201340abcDEF1234é", False),
        ("", False),
    ],
)
def test_an_end_to_end_id_must_have_the_central_bank_s_format(text: str, is_one: bool):
    assert is_e2e_id(text) is is_one


@cases("text", ["a\x00b", "a\nb", "x" * 129])
def test_an_id_that_cannot_be_stored_is_refused(text: str):
    with pytest.raises(Malformed):
        provider_id(text)


def test_an_ordinary_id_is_accepted():
    assert provider_id("trf_77ab") == "trf_77ab"


def test_one_field_of_a_document_is_read_with_its_cursor():
    """For a list also its cursor, which may be absent; other fields are ignored."""
    paged = inside("rows", list[Paid], "next")

    assert inside("paid", Paid).decode(b'{"paid": {"centavos": 1}, "x": {}}').inside == Paid(1)
    assert paged.decode(b'{"rows": [], "next": "2"}').cursor == "2"
    assert paged.decode(b'{"rows": []}').cursor is None


@cases("body", [b"{}", b'{"paid": null}', b'{"paid": {"centavos": "1"}}', b"[]"])
def test_a_document_without_its_field_is_a_bad_reply(body: bytes):
    with pytest.raises(BadReply):
        read_document(answering(body), inside("paid", Paid), lambda found: found.inside)


def test_an_unlisted_word_is_refused_when_no_default_is_safe():
    assert listed({"C": 1}, "C") == 1
    with pytest.raises(ValueError, match="unknown_status"):
        listed({"C": 1}, "D")


@cases(
    ("status", "code", "kind"),
    [
        (400, "ABSENT", NotFound),
        (409, "ABSENT", Refused),
        (400, "", Refused),
        (500, "", Unavailable),
    ],
)
def test_a_refusal_is_classified_by_status_and_code(status: int, code: str, kind: type):
    errors = {(400, "ABSENT"): (NotFound, "not_found")}

    assert type(listed_error(answering(b"", status), code, errors)) is kind


def test_a_listed_refusal_keeps_its_retry_after():
    slow = ProviderAnswer(status=429, headers={"Retry-After": "7"}, body=b"")

    failure = listed_error(slow, "SLOW", {(429, "SLOW"): (RateLimited, "rate_limited")})

    assert (failure.reason, failure.retry_after) == ("rate_limited", 7)


def test_an_unlisted_word_is_counted_and_gets_the_safe_default():
    answer = answering(b"")

    assert known({"A": 1}, "A", 0, answer.unknown_word) == 1
    assert known({"A": 1}, "B", 0, answer.unknown_word) == 0
    assert answer.unknown_words == 1


def test_an_unexpected_status_is_raised_as_the_bank_s_own_error():
    read = reader(lambda answer: NotFound("not_found", http_status=answer.status))

    assert read(answering(b'{"centavos": 1}'), DECODER, money) == Money(1)
    assert read(answering(b'{"centavos": 1}', 201), DECODER, money, {200, 201}) == Money(1)
    with pytest.raises(NotFound):
        read(answering(b'{"centavos": 1}', 201), DECODER, money)

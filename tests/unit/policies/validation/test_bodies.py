"""Bodies that structs declare."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

import msgspec
import pytest

from gateway.core.calls import RawRequest
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.reasons import sentence
from gateway.core.user_errors import VALIDATION_FAILED
from policies.validation.bodies import body
from tests.unit.refusals import refusal_of, refused


class Word(StrEnum):
    ONE = "one"


class Inner(msgspec.Struct):
    name: str
    kinds: list[Literal["cpf", "cnpj"]] = []


class Strict(msgspec.Struct, forbid_unknown_fields=True):
    name: str = ""


class Wanted(msgspec.Struct):
    name: str
    count: Annotated[int, msgspec.Meta(le=9)] = 1
    words: list[str] = []
    word: Word = Word.ONE
    code: Annotated[str, msgspec.Meta(pattern="^[0-9]*$", min_length=1)] = "1"
    at: datetime | None = None
    inner: Inner | None = None
    inners: list[Inner] = []
    strict: Strict | None = None
    credentials: str = ""


class Said(msgspec.Struct):
    """A body that need not be there."""

    reason: str = ""


class Paid(msgspec.Struct):
    plain: Money = Money(0)
    optional: Money | None = None
    annotated: Annotated[Money | None, msgspec.Meta(description="A limit.")] = None


BODY = body(Wanted)


def asked(body: str) -> RawRequest:
    return RawRequest(path={}, content_type="application/json", body=body.encode())


def test_a_body_is_read_and_an_unknown_field_is_counted():
    came = asked('{"name": "n", "count": 3, "words": ["a"], "other": {"x": [1]}}')

    wanted = BODY.read(came)

    assert (wanted.name, wanted.count, wanted.words) == ("n", 3, ["a"])
    assert came.unknown_fields == 1


@pytest.mark.parametrize("name", ["plain", "optional", "annotated"])
@pytest.mark.parametrize("amount", ["0", "-1", "0.001", "1e2", '"1.00"'])
def test_every_money_field_is_read_as_an_amount(name: str, amount: str):
    """Also an optional and annotated one."""
    assert body(Paid).read(asked(f'{{"{name}": 10.5}}')) == Paid(**{name: Money(1050)})
    with pytest.raises(ServiceError):
        body(Paid).read(asked(f'{{"{name}": {amount}}}'))


def test_null_counts_as_an_absent_field():
    assert BODY.read(asked('{"name": "n", "count": null}')).count == 1


def test_a_secret_may_contain_line_breaks():
    assert BODY.read(asked('{"name": "n", "credentials": "a\\nb"}')).credentials == "a\nb"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "{",
        "{}",
        '{"name": null}',
        '{"name": 1}',
        '{"name": "a\\u0000"}',
        '{"name": "a\\nb"}',
        '{"name": "n", "count": 1.5}',
        '{"name": "n", "count": -1}',
        '{"name": "n", "count": true}',
        '{"name": "n", "count": "1"}',
        '{"name": "n", "words": ["\\u0007"]}',
        '{"name": "n", "words": [1]}',
        '{"name": "n", "name": "m"}',
    ],
)
def test_a_malformed_body_is_refused(body: str):
    assert refusal_of(lambda: BODY.read(asked(body))) is VALIDATION_FAILED


@pytest.mark.parametrize(
    ("body", "field", "reason"),
    [
        ("{", "", "json"),
        ("{}", "name", "missing"),
        ('{"name": ""}', "name", "missing"),
        ('{"name": 1}', "name", "wrong_type"),
        ('{"name": "a\\nb"}', "name", "text_form"),
        ('{"name": "n", "count": -1}', "count", "form"),
        ('{"name": "n", "count": 10}', "count", "out_of_range"),
        ('{"name": "n", "words": ["a", 1]}', "words", "wrong_type"),
        ('{"name": "n", "words": ["\\u0007"]}', "words", "form"),
        ('{"name": "n", "word": "s3cret"}', "word", "not_one_of"),
        ('{"name": "n", "code": "s3cret"}', "code", "form"),
        ('{"name": "n", "code": ""}', "code", "length"),
        ('{"name": "n", "at": "s3cret"}', "at", "form"),
        ('{"name": "n", "inner": {}}', "inner.name", "missing"),
        ('{"name": "n", "inner": {"name": 1}}', "inner.name", "wrong_type"),
        ('{"name": "n", "credentials": ["s3cret"]}', "credentials", "wrong_type"),
    ],
)
def test_the_invalid_field_is_named_without_its_value(body: str, field: str, reason: str):
    """The messages of msgspec are parsed."""
    with refused(VALIDATION_FAILED) as refusal:
        BODY.read(asked(body))

    assert (refusal.value.field, refusal.value.reason) == (field, reason)
    assert "s3cret" not in sentence(reason, field) + refusal.value.detail


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"name": "n", "word": "s3cret"}', ("one",)),
        ('{"name": "n", "inner": {"name": "n", "kinds": ["cpf", "s3cret"]}}', ("cnpj", "cpf")),
        ('{"name": "n", "code": "s3cret"}', ()),
    ],
)
def test_the_words_that_a_field_may_be_are_named(body: str, words: tuple[str, ...]):
    with refused(VALIDATION_FAILED) as refusal:
        BODY.read(asked(body))

    assert tuple(refusal.value.words) == words


def test_an_unknown_field_is_ignored_whatever_it_contains():
    """And counted."""
    came = asked('{"name": "n", "further": "\\u0007"}')

    assert BODY.read(came) == Wanted("n")
    assert came.unknown_fields == 1


@pytest.mark.parametrize("further", ['"\\u0007"', "5.04e-06", '{"a": [0.5]}', "[1e400]"])
def test_an_unknown_member_of_an_object_is_ignored_whatever_it_contains(further: str):
    inner = f'{{"name": "n", "further": {further}}}'

    found = BODY.read(asked(f'{{"name": "n", "inner": {inner}, "inners": [{inner}]}}'))

    assert found == Wanted("n", inner=Inner("n"), inners=[Inner("n")])


def test_an_object_that_forbids_unknown_members_refuses_them():
    """Left out, a misspelt one would go unnoticed."""
    with refused(VALIDATION_FAILED):
        BODY.read(asked('{"name": "n", "strict": {"nmae": "n"}}'))


def test_a_field_read_as_sent_may_contain_any_characters():
    taken = body(Inner, as_sent={"name"})

    assert taken.read(asked('{"name": " a\\u0007\\n"}')).name == " a\x07\n"


def test_a_body_without_required_fields_may_be_absent():
    """Only then; many clients send a media type even without a body."""
    said = body(Said)

    assert (said.may_be_absent, BODY.may_be_absent) == (True, False)
    assert said.read(RawRequest(path={})) == said.read(asked("")) == Said()
    for taken, sent in ((BODY, ""), (said, " ")):
        assert refusal_of(lambda taken=taken, sent=sent: taken.read(asked(sent))) is (
            VALIDATION_FAILED
        )

"""What of a bank's answer is read in another form, and what never is."""

from __future__ import annotations

import json

import msgspec
import pytest

from gateway.banks.client.messages import Kind, ProviderAnswer, ProviderRequest
from gateway.banks.port.providers import BadReply, NotFound
from gateway.core.money import Money
from provider_adapters.kit import money as amounts
from provider_adapters.kit.answers import of_status, read_document, try_body
from tests.world.tables import cases


class Paid(msgspec.Struct):
    centavos: int


class Person(msgspec.Struct):
    """A payer, of texts alone."""

    name: str | None = None


class Row(msgspec.Struct):
    id: str
    value: amounts.JsonNumber
    at: int
    refunds: list[Paid] = []
    payer: Person | None = None
    note: str | None = None
    place: str | int | None = None


class Listing(msgspec.Struct):
    rows: list[Row]


PLAIN = {"id": "17", "value": 10.5, "at": 3}
ROW = msgspec.json.Decoder(Row)
LISTING = msgspec.json.Decoder(Listing)
DECIDING = ("create_payout", "find_payout", "create_refund", "find_refund", "a_call_of_nobody")


def asked(operation: str, path: str = "/x/{id}", method: str = "GET") -> ProviderRequest:
    return ProviderRequest(operation=operation, method=method, template=path, path="/x/1")


def answer_to(operation: str, said: object, status: int = 200) -> ProviderAnswer:
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    request = asked(operation)
    return ProviderAnswer(status=status, headers={}, body=body, request=request)


def shown(row: Row) -> tuple[object, ...]:
    value = amounts.from_json(row.value)
    return row.id, value, row.at, [each.centavos for each in row.refunds], row.note, row.place


def read_row(operation: str, said: object) -> tuple[object, ...]:
    return read_document(answer_to(operation, said), ROW, shown)


def ids(operation: str, rows: list[object], *, whole: bool = False) -> tuple[list[str], int]:
    """Read a list; returns what its rows are called, and how many were left out."""
    answer = answer_to(operation, {"rows": rows})

    def shape(page: Listing) -> list[str]:
        return [str(shown(each)[0]) for each in page.rows]

    return read_document(answer, LISTING, shape, whole=whole), answer.rows_unreadable


SAME = {
    "a text for a whole number": {**PLAIN, "at": "3"},
    "a number for a text": {**PLAIN, "id": 17},
    "a text for an amount": {**PLAIN, "value": "10.50"},
    "a fraction of zeros": {**PLAIN, "at": 3.0},
    "null for an empty list": {**PLAIN, "refunds": None},
    "an unknown field": {**PLAIN, "novo": {"a": [None]}},
    "a name that is no text": {**PLAIN, "note": {"a": 1}},
    "a person that is no object": {**PLAIN, "payer": "Maria"},
}
"""The same answer, written otherwise."""


def test_equivalent_answer_formats_are_read_alike():
    wrong = {
        name: said
        for name, said in SAME.items()
        if read_row("get_charge", said) != ("17", Money(1050), 3, [], None, None)
    }

    assert wrong == {}
    assert read_row("get_charge", {**PLAIN, "place": 7.0})[-1] == "7.0"


def test_answers_that_decide_about_money_are_read_strictly():
    taken = []
    for operation in DECIDING:
        for name in set(SAME) - {"an unknown field"}:
            try:
                taken.append((operation, name, read_row(operation, SAME[name])))
            except BadReply:
                continue

    assert taken == []


def test_a_payout_answer_is_always_read_strictly():
    request = ProviderRequest(
        operation="get_charge", method="POST", template="/x", path="/x", kind=Kind.PAYOUT
    )
    body = json.dumps(SAME["a text for an amount"]).encode()
    answer = ProviderAnswer(status=200, headers={}, body=body, request=request)

    with pytest.raises(BadReply):
        read_document(answer, ROW, shown)


@cases(
    "said",
    [
        {**PLAIN, "value": 10.505},
        {**PLAIN, "value": "10,50"},
        {**PLAIN, "value": None},
        {**PLAIN, "value": True},
        {**PLAIN, "at": 3.5},
        {**PLAIN, "at": "3.5"},
        {**PLAIN, "at": " 3"},
        {**PLAIN, "at": True},
        {**PLAIN, "id": None},
        {**PLAIN, "id": True},
        {**PLAIN, "refunds": {}},
        {**PLAIN, "refunds": [{"centavos": "x"}]},
        {**PLAIN, "place": []},
        {"value": 10.5, "at": 3},
    ],
)
def test_ambiguous_values_are_refused(said: object):
    """A value that could be money, a time or a list is never left out."""
    with pytest.raises(BadReply):
        read_row("get_charge", said)


ODD = {**PLAIN, "value": 0.001}


def test_an_odd_row_is_left_out_and_counted():
    good = [{**PLAIN, "id": str(number)} for number in range(5)]

    assert ids("list_statement", [*good[:2], ODD, *good[2:], {}]) == (["0", "1", "2", "3", "4"], 2)
    assert ids("list_statement", [ODD, {**PLAIN, "id": 5}]) == (["5"], 1)
    assert ids("list_statement", good)[1] == 0


@cases("first", [PLAIN, SAME["a text for an amount"]])
def test_a_row_nested_too_deep_is_left_out_only_where_its_value_is_read(first: object):
    """Whichever the decoder meets first, the depth or another form."""
    rows = [first, {**PLAIN, "at": "@"}, {**PLAIN, "id": "3", "note": "@", "unread": "@"}]
    body = json.dumps({"rows": rows}).encode()
    answer = answer_to("list_statement", body.replace(b'"@"', b"[" * 3_000 + b"]" * 3_000))

    found = read_document(answer, LISTING, lambda page: [each.id for each in page.rows])

    assert (found, answer.rows_unreadable) == (["17", "3"], 1)


def test_rows_are_not_left_out_where_this_could_hide_something():
    """No row of one thing's parts, no part of a row, not every row, and not very many."""
    in_a_row = {**PLAIN, "refunds": [{"centavos": 1}, {"centavos": "x"}]}
    lists: dict[str, tuple[str, list[object]]] = {
        "of one thing": ("get_charge_payment", [PLAIN, ODD]),
        "of a payout": ("find_payout", [PLAIN, ODD]),
        "every row": ("list_received", [ODD, ODD]),
        "very many": ("list_received", [PLAIN, *[ODD] * 101]),
    }
    taken = []
    for name, (operation, rows) in lists.items():
        try:
            taken.append((name, ids(operation, rows)))
        except BadReply:
            continue

    assert taken == []
    assert ids("list_received", [PLAIN, in_a_row]) == (["17"], 1)
    with pytest.raises(BadReply):
        ids("list_received", [PLAIN, ODD], whole=True)


def test_a_byte_order_mark_is_ignored():
    marked = b"\xef\xbb\xbf" + json.dumps(PLAIN).encode()

    assert [read_row(operation, marked)[0] for operation in ("get_charge", "find_payout")] == [
        "17",
        "17",
    ]
    assert try_body(marked, ROW) is not None


def test_a_404_means_not_found_when_one_record_was_requested():
    said = [b'{"erros": []}', b'{"type": null}', b'{"title": "x", "status": 404}', b"{}"]
    named = [asked("get_charge"), asked("cancel_charge", method="PATCH"), asked("find_received")]

    found = [of_status(refused(request, body)) for request in named for body in said]

    assert {type(each) for each in found} == {NotFound}


def test_a_404_does_not_mean_not_found_when_it_proves_nothing():
    """For a payout, a list, a creation, and from a proxy: the address may be wrong."""
    doubtful = [
        (asked("find_payout"), b"{}"),
        (asked("find_refund"), b"{}"),
        (asked("get_balance"), b"{}"),
        (asked("get_charge", "/x"), b"{}"),
        (asked("create_charge", method="PUT"), b"{}"),
        (asked("get_charge"), b"<html>"),
        (asked("get_charge"), b""),
        (asked("get_charge"), b"[]"),
        (None, b"{}"),
    ]

    wrong = [each for each in doubtful if type(of_status(refused(*each))) is not BadReply]

    assert wrong == []


def refused(request: ProviderRequest | None, body: bytes) -> ProviderAnswer:
    return ProviderAnswer(status=404, headers={}, body=body, request=request)


def test_a_callback_is_read_as_tolerantly_as_an_answer():
    read = [try_body(json.dumps(each).encode(), ROW) for each in (*SAME.values(), {}, [])]

    assert [each is not None for each in read] == [True] * len(SAME) + [False, False]

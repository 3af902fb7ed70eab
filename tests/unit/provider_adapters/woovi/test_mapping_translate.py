"""The bank's answers to reads, as values."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.pix_keys import PixKey, PixKeyStatus, PixKeyType
from gateway.banks.port.providers import (
    NOT_ALLOWED,
    BadReply,
    CredentialsRefused,
    NotFound,
    RateLimited,
    Refused,
    Unavailable,
)
from gateway.banks.port.statements import Direction
from gateway.core.money import Money, Sum
from gateway.core.windows import Window
from provider_adapters.kit import paging
from provider_adapters.woovi import mapping
from tests.world.banks.woovi import answer, refused
from tests.world.tables import cases

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
WINDOW = Window(date(2026, 11, 22), date(2026, 11, 22))
ACCOUNT = {"accountId": "a1", "balance": {"total": 129430, "blocked": 30, "available": 129400}}
LINE = {
    "id": "507f1f77bcf86cd799439011",
    "time": "2026-11-22T10:30:00.000Z",
    "description": "Payment received from customer",
    "balance": 1500.5,
    "value": 100,
    "type": "CREDIT",
}
CHARGE = {
    "correlationID": "pedido/1",
    "status": "ACTIVE",
    "value": 1050,
    "type": "DYNAMIC",
    "pixKey": "loja@example.com",
    "customer": {"name": "Ana", "taxID": {"taxID": "31324227036", "type": "BR:CPF"}},
    "brCode": "00020126580014br.gov.bcb.pix013600ad360c-92c7-45ab-adb3-188307a6e4d05204000053039865"
    "802BR5910Woovi_Demo6009Sao_Paulo62170513identificador63040E64",
    "createdAt": "2026-11-22T10:00:00.000Z",
    "expiresDate": "2026-11-23T10:00:00.000Z",
}


def charge(document: object, reference: str = "pedido/1"):
    said = answer({"charge": document})
    return mapping.charge(said, reference, NOW)


def test_a_balance_must_be_of_the_requested_account():
    said = answer({"account": ACCOUNT})

    assert mapping.balance(said, "a1").balance == Sum(129430)
    assert mapping.balance(said, "a1").blocked == Sum(30)
    with pytest.raises(BadReply):
        mapping.balance(said, "a2")
    with pytest.raises(BadReply):
        mapping.balance(answer({"account": {"accountId": "a1", "balance": {"total": 1}}}), "a1")


def test_a_statement_is_limited_to_its_window_and_sorted_newest_first():
    lines = [
        LINE,
        {**LINE, "id": "2", "time": "2026-11-22T11:00:00Z", "type": "DEBIT", "value": -100},
        {**LINE, "id": "3", "time": "2026-11-23T00:00:00Z"},
    ]

    page = mapping.statement(answer(lines), None, WINDOW)

    assert [entry.provider_id for entry in page.items] == ["2", LINE["id"]]
    assert page.items[0].direction is Direction.DEBIT
    assert page.items[0].value == Money(100)
    assert paging.number_of(page.next_cursor) == 3


@cases(
    "wrong",
    [
        {"type": "TRANSFER"},
        {"value": -1},
        {"value": 1.5},
        {"time": "2026-11-22T10:00:00"},
        {"id": 1},
    ],
)
def test_an_unreadable_line_is_a_bad_reply(wrong):
    with pytest.raises(BadReply):
        mapping.statement(answer([{**LINE, **wrong}]), None, WINDOW)


def test_keys_have_no_provider_id():
    said = {"pixKeys": [{"key": "loja@example.com", "type": "EMAIL", "isDefault": True}]}

    page = mapping.keys(answer(said), None)

    assert page.items[0].provider_id == ""
    assert (page.items[0].type, page.items[0].status) == (PixKeyType.EMAIL, PixKeyStatus.ACTIVE)


@cases(
    "said",
    [
        {"key": "11222333000181", "type": "CNPJ"},
        {"pixKey": {"pixKey": "11222333000181", "type": "CNPJ", "isDefault": True}},
    ],
)
def test_a_new_key_is_read_in_both_documented_formats(said):
    assert mapping.created_key(answer(said, 201)).key == "11222333000181"


@cases("said", [{}, {"key": "x", "type": "OTHER"}, {"pixKey": "x"}])
def test_a_new_key_in_neither_format_is_a_bad_reply(said):
    with pytest.raises(BadReply):
        mapping.created_key(answer(said, 201))


def test_a_cancelled_key_is_recognized_by_an_empty_answer():
    key = PixKey(
        provider_id="", key="x", type=PixKeyType.EVP, status=PixKeyStatus.ACTIVE, created_at=None
    )

    assert mapping.cancelled_key(answer(b"", 204), key).status is PixKeyStatus.CANCELED
    with pytest.raises(NotFound):
        mapping.cancelled_key(refused("Pix key not found", 404), key)
    with pytest.raises(BadReply):
        mapping.cancelled_key(answer(b"", 404), key)


def test_a_key_owner_is_masked_and_has_the_bank_s_number():
    said = {
        "pixKey": "maria@example.com",
        "type": "EMAIL",
        "owner": {"name": "Maria", "taxID": "52998224725", "psp": "60701190", "branch": "****"},
    }

    owner = mapping.owner(answer(said))

    assert owner.tax_number == "***.982.247-**"
    assert (owner.bank_number, owner.ispb, owner.branch) == ("341", "60701190", "****")


def test_a_charge_is_read_with_the_values_of_its_payload():
    found = charge(CHARGE)

    assert (found.receiver.name, found.city) == ("Woovi_Demo", "Sao_Paulo")
    assert (found.key, found.value) == ("loja@example.com", Money(1050))
    assert found.payer is not None
    assert found.payer.tax_number == "31324227036"


def test_an_invalid_payload_is_returned_unchanged():
    wrong = str(CHARGE["brCode"])[:-1] + "0"

    found = charge({**CHARGE, "brCode": wrong})

    assert (found.emv, found.city) == (wrong, "")


def test_a_charge_with_another_reference_is_not_found():
    """The bank also finds charges by its own ids."""
    with pytest.raises(NotFound):
        charge(CHARGE, "Q2hhcmdlOjE=")


@cases(
    ("status", "ours", "expired"),
    [
        ("ACTIVE", ChargeStatus.ACTIVE, False),
        ("COMPLETED", ChargeStatus.PAID, False),
        ("EXPIRED", ChargeStatus.ACTIVE, True),
    ],
)
def test_every_charge_status_is_read(status, ours, expired):
    said = answer({"charge": {**CHARGE, "status": status}})

    found = mapping.charge(said, "pedido/1", NOW)

    assert (found.status, found.is_expired(NOW), said.unknown_words) == (ours, expired, 0)


@cases("strange", [{"status": "REMOVED"}, {"type": "PIX_CREDITO"}])
def test_an_unknown_status_or_type_of_a_charge_is_counted(strange):
    said = answer({"charge": {**CHARGE, **strange}})

    assert mapping.charge(said, "pedido/1", NOW).status is ChargeStatus.ACTIVE
    assert said.unknown_words == 1


@cases(("said", "kind", "reason"), [
        (refused("Charge not found"), NotFound, "not_found"),
        (refused("Company not found"), Refused, "refused"),
        (answer({"errors": [{"message": "appID inválido"}]}, 401), CredentialsRefused,
         "credentials_refused"),
        (refused("x", 403, "NO_PERMISSION"), Refused, NOT_ALLOWED),
        (refused("x", 404, "PIX_KEY_INFO_NOT_FOUND"), NotFound, "not_found"),
        (refused("x", 429, "TOO_MANY_REQUESTS"), RateLimited, "rate_limited"),
        (answer({}, 404), BadReply, "unexpected_status"),
        (answer(b"<html>", 503), Unavailable, "server_error"),
    ])  # fmt: skip
def test_each_refusal_has_its_error(said, kind, reason):
    error = mapping.failure(said)

    assert (type(error), error.reason) == (kind, reason)


def test_the_bank_s_public_keys_are_read_with_their_ids():
    said = answer({"public_keys": [{"key_identifier": "k", "is_current": True, "key": "PEM"}]})

    assert mapping.public_keys(said.body) == [("k", "PEM")]
    assert mapping.reached(said) is None
    with pytest.raises(BadReply):
        mapping.reached(answer(b"<html>"))

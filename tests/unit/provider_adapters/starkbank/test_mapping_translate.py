"""The bank's answers as our values."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.banks.port.pix_keys import PixKeyStatus, PixKeyType
from gateway.banks.port.providers import (
    BadReply,
    CredentialsRefused,
    NotFound,
    ProviderError,
    RateLimited,
    Refused,
    Unavailable,
)
from gateway.banks.port.statements import Direction, MovementKind
from gateway.core.money import Money, Sum
from provider_adapters.starkbank import mapping
from tests.unit.provider_adapters.starkbank.making import ENTRY, KEY, answering, refusing
from tests.unit.provider_adapters.starkbank.translate import MOVEMENT
from tests.world.tables import cases


@cases(
    ("codes", "status", "kind"),
    [
        (["invalidSignature"], 401, CredentialsRefused),
        (["invalidCredentials"], 400, CredentialsRefused),
        ([], 401, CredentialsRefused),
        (["invalidTransfer"], 400, Refused),
        (["invalidJson"], 400, Refused),
        ([], 404, BadReply),
        (["invalidId"], 404, BadReply),
        ([], 429, RateLimited),
        (["internalServerError"], 500, Unavailable),
    ],
)
def test_a_refused_list_never_means_not_found(
    codes: list[str], status: int, kind: type[ProviderError]
):
    with pytest.raises(kind) as failed:
        mapping.balance(refusing(*codes, status=status))

    assert not isinstance(failed.value, NotFound)


@cases("status", [400, 404])
def test_not_found_requires_the_bank_s_own_code_alone(status: int):
    with pytest.raises(NotFound):
        mapping.directory_entry(refusing("invalidPixKey", status=status))
    with pytest.raises(ProviderError) as failed:
        mapping.directory_entry(refusing("invalidPixKey", "invalidJson", status=status))
    assert not isinstance(failed.value, NotFound)
    with pytest.raises(ProviderError) as bare:
        mapping.directory_entry(answering({}, status))
    assert not isinstance(bare.value, NotFound)


def test_a_balance_has_no_blocked_amount():
    held = {"id": "1", "amount": -5, "currency": "BRL", "updated": "2026-11-20T12:00:00+00:00"}

    read = mapping.balance(answering({"balances": [held]}))

    assert (read.balance, read.blocked) == (Sum(-5), None)
    assert read.updated_at == datetime(2026, 11, 20, 12, tzinfo=UTC)


@cases("balances", [[], [{"amount": 1, "currency": "USD"}], [{"amount": 1, "currency": "BRL"}] * 2])
def test_a_balance_other_than_one_in_brl_is_a_bad_reply(balances: list[object]):
    with pytest.raises(BadReply):
        mapping.balance(answering({"balances": balances}))


@cases(
    ("source", "kind", "is_pix", "unknown"),
    [
        ("transfer/2", MovementKind.PIX, True, 0),
        ("transfer/2/chargeback", MovementKind.PIX_RETURN, True, 0),
        ("deposit/2", MovementKind.PIX, True, 0),
        ("invoice/2", MovementKind.PIX, True, 0),
        ("boleto/2", MovementKind.BOLETO, False, 0),
        ("self", MovementKind.OTHER, False, 0),
        ("wormhole/2", MovementKind.OTHER, False, 1),
        ("", MovementKind.OTHER, False, 1),
    ],
)
def test_the_kind_of_a_movement_follows_from_its_source(
    source: str, kind: MovementKind, unknown: int, *, is_pix: bool
):
    answer = answering({"transactions": [{**MOVEMENT, "source": source}], "cursor": "c"})
    page = mapping.statement(answer, None)
    (entry,) = page.items

    assert (entry.kind, entry.is_pix, answer.unknown_words) == (kind, is_pix, unknown)
    assert (entry.direction, entry.value) == (Direction.DEBIT, Money(1050))
    assert (entry.provider_key, entry.description, page.next_cursor) == (KEY, "Pix to Maria", "c")


@cases("created", ["2026", "2026-01-01T00:00:00"])
def test_a_movement_without_a_valid_time_is_a_bad_reply(created: str):
    with pytest.raises(BadReply):
        mapping.statement(answering({"transactions": [{**MOVEMENT, "created": created}]}), None)


@cases("cursor", [None, ""])
def test_a_list_ends_without_a_cursor(cursor: str | None):
    answer = answering({"transactions": [], "cursor": cursor})

    assert mapping.statement(answer, "c").next_cursor is None


def test_keys_are_converted_to_our_format():
    said = [
        {"id": "529.982.247-25", "type": "cpf", "status": "registered"},
        {"id": "maria@example.com", "type": "email", "status": "melting"},
    ]

    answer = answering({"keys": said})
    cpf, email = mapping.keys(answer, None).items

    assert (cpf.key, cpf.type, cpf.status) == (
        "52998224725", PixKeyType.CPF, PixKeyStatus.ACTIVE,
    )  # fmt: skip
    assert (email.status, answer.unknown_words) == (PixKeyStatus.PENDING, 1)
    with pytest.raises(BadReply):
        mapping.keys(answering({"keys": [{**said[0], "type": "iban"}]}), None)


def test_a_key_owner_is_shown_without_encrypted_fields():
    owner = mapping.owner(answering({"key": ENTRY}), "maria@example.com")

    assert (owner.branch, owner.account, owner.tax_number) == ("", "", "***.982.247-**")
    assert (owner.name, owner.ispb, owner.bank_name) == (
        "Maria da Silva", "88888888", "Outro Banco",
    )  # fmt: skip
    with pytest.raises(BadReply):
        mapping.owner(answering({"key": ENTRY}), "other@example.com")


def test_a_complete_cpf_of_a_key_owner_is_masked():
    owner = mapping.owner(
        answering({"key": {**ENTRY, "taxId": "529.982.247-25"}}), "maria@example.com"
    )

    assert owner.tax_number == "***.982.247-**"


def test_any_answer_in_the_bank_s_format_counts_as_reached():
    mapping.reached(answering({"publicKeys": [{"content": "pem"}]}))
    mapping.reached(refusing("invalidAccessId", status=401))
    with pytest.raises(ProviderError):
        mapping.reached(answering("<html>"))
    with pytest.raises(ProviderError):
        mapping.reached(answering({}, 401))

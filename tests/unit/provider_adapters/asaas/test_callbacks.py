"""Callbacks are believed by their token, and name a payout by both its ids."""

from __future__ import annotations

import json

import pytest

from gateway.banks.port.provider_callbacks import (
    CallbackKind,
    Delivery,
    NamedBy,
    Notice,
    ProofRefused,
)
from provider_adapters.asaas.callbacks import TOKEN, AsaasProof
from provider_adapters.testing.verify.stage import SentHeaders
from tests.world.tables import cases

RIGHT, FORMER = b"r" * 40, b"f" * 40
TRANSFER = {
    "id": "evt_05b708f961d739ea7eba7e4db318f621&368604920",
    "event": "TRANSFER_DONE",
    "transfer": {"id": "777eb7c8", "status": "DONE", "externalReference": "0" * 32},
}


def came(document: object, token: str = RIGHT.decode(), header: str = TOKEN) -> Delivery:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return Delivery(headers=SentHeaders({header: token}), body=body)


async def notice(document: object) -> Notice:
    (said,) = await AsaasProof([RIGHT]).check(came(document)) or ()
    return said


@cases("token", ["", "r", RIGHT.decode() + "r", RIGHT.decode().upper(), "é"])
async def test_a_wrong_token_proves_nothing(token: str):
    assert await AsaasProof([RIGHT]).check(came(TRANSFER, token)) is None


async def test_a_token_in_another_header_proves_nothing():
    assert await AsaasProof([RIGHT]).check(came(TRANSFER, header="access_token")) is None


def test_without_a_token_callbacks_cannot_be_proven():
    with pytest.raises(ProofRefused):
        AsaasProof([])


async def test_a_transfer_callback_has_our_key_and_the_bank_s_id():
    assert await notice(TRANSFER) == Notice(
        event=TRANSFER["id"],  # type: ignore[arg-type]
        kind=CallbackKind.PAYOUT,
        subject="0" * 32,
        provider_id="777eb7c8",
    )


async def test_a_charge_callback_identifies_its_account_by_the_charge():
    said = await notice(
        {"id": "evt_1", "event": "PAYMENT_RECEIVED", "payment": {"externalReference": "r/1"}}
    )

    assert (said.kind, said.subject) == (CallbackKind.CHARGE, "r/1")
    assert (said.account, said.named_by) == ("r/1", NamedBy.CHARGE)


@cases(
    "document",
    [
        TRANSFER | {"transfer": {"id": "1", "externalReference": None}},
        TRANSFER | {"transfer": None},
        TRANSFER | {"event": "TRANSFER_NOVO"},
        {"id": "evt_1", "event": "PAYMENT_RECEIVED", "payment": {}},
        {"event": "INVOICE_CREATED"},
        {},
        [],
        b"",
        b"\xff{",
        b"[" * 100_000,
    ],
)
async def test_an_event_about_other_records_is_accepted_and_ignored(document: object):
    assert (await notice(document)).kind is CallbackKind.OTHER


@cases("text", [rb"\ud83d", b"a\nb", b"Jos\xe9", b"cut \xf0\x9f", b"\x00"])
async def test_a_damaged_description_does_not_hide_the_payout(text: bytes):
    plain = json.dumps(TRANSFER).encode().removesuffix(b"}")

    for body in (plain + b', "description": "%s"}' % text, plain + b', "description": "%s' % text):
        [notice] = await AsaasProof([RIGHT]).check(came(body)) or ()

        assert (notice.kind, notice.subject) == (CallbackKind.PAYOUT, "0" * 32)
        assert (notice.event, notice.provider_id) == (TRANSFER["id"], "777eb7c8")

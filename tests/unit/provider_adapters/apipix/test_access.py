"""Tokens, certificates and refusals of API Pix."""

from __future__ import annotations

import json

import pytest

from gateway.banks.port.providers import (
    Accepted,
    BadReply,
    CredentialsRefused,
    NotFound,
    ProviderError,
    RateLimited,
    Refused,
    Unavailable,
    Unknown,
)
from provider_adapters.apipix.access import accepted, amount, error_code, failure, readable
from provider_adapters.kit.answers import ProviderAnswer
from tests.unit.provider_adapters.apipix.conftest import Standing
from tests.unit.provider_adapters.apipix.efi.calls import far, order
from tests.world.tables import cases


def said(status: int, document: object) -> ProviderAnswer:
    return ProviderAnswer(status=status, headers={}, body=json.dumps(document).encode())


SHAPES = [
    ({"nome": "pix_nao_encontrado", "mensagem": "x"}, "pix_nao_encontrado"),
    ({"type": "https://pix.bcb.gov.br/api/v2/error/AcessoNegado"}, "AcessoNegado"),
    ({"error": "insufficient_scope", "error_description": "x"}, "insufficient_scope"),
    ({}, ""),
    ([], ""),
    ({"nome": 7}, ""),
]


@cases(("document", "code"), SHAPES)
def test_an_error_is_read_in_each_of_its_three_formats(document: object, code: str):
    assert error_code(said(400, document)) == code


@cases(
    ("status", "code", "kind"),
    [
        (404, "NaoEncontrado", NotFound),
        (400, "pix_nao_encontrado", NotFound),
        (400, "chave_nao_encontrada", NotFound),
        (403, "AcessoNegado", CredentialsRefused),
        (409, "txid_duplicado", Refused),
        # What is not listed with its status is decided by the status alone.
        (404, "pix_nao_encontrado", BadReply),
        (404, "", BadReply),
        (400, "", Refused),
        (401, "", CredentialsRefused),
        (429, "", RateLimited),
        (503, "ServicoIndisponivel", Unavailable),
    ],
)
def test_a_refusal_is_classified_by_status_and_name(
    status: int, code: str, kind: type[ProviderError]
):
    assert type(failure(said(status, {"nome": code}))) is kind


@cases("text", ["-1.00", "1.001", "1,00", "", "1e1", "NaN"])
def test_an_amount_with_a_sign_or_three_decimals_is_refused(text: str):
    with pytest.raises(ValueError, match=r".*"):
        amount(text)


def test_a_value_that_cannot_be_read_is_a_bad_reply():
    with pytest.raises(BadReply), readable():
        raise OverflowError


def test_any_success_status_is_accepted_when_no_document_is_expected():
    accepted(said(201, {}))
    with pytest.raises(Unavailable):
        accepted(said(503, {}))


async def test_after_a_revoked_token_was_refused_the_next_change_succeeds(efi: Standing):
    await efi.adapter.list_keys(efi.account)
    await efi.stage.revoke_tokens()

    with pytest.raises(CredentialsRefused):
        await efi.adapter.create_key(efi.account, efi.stage.new_key())
    made = await efi.adapter.create_key(efi.account, efi.stage.new_key())

    assert made in await efi.adapter.list_keys(efi.account)


async def test_an_order_with_a_revoked_token_is_sent_only_once(efi: Standing):
    """The refused call may still have paid; the next order uses a new token."""
    await efi.adapter.get_balance(efi.account)
    await efi.stage.revoke_tokens()

    outcome = await efi.adapter.create_payout(efi.account, order(efi), far())
    again = await efi.adapter.create_payout(efi.account, order(efi), far())

    assert isinstance(outcome, Unknown)
    assert isinstance(again, Accepted)
    assert [call.operation for call in efi.told.calls][2:] == [
        *("create_payout", "get_token", "create_payout"),
    ]

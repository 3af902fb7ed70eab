"""What is asked of the bank, where, and as whom."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.domain.bank.providers import ProviderAccount, Refused
from gateway.net.client.messages import Kind
from provider_adapters.sandbox.client import Question, asking, ordering
from tests.contract.adapters.harness import ACCOUNT, KEY, order


def test_a_read_is_made_as_the_account():
    question = Question(
        operation="get_charge",
        path="/cobrancas/{referencia}",
        steps={"referencia": "a/b"},
        query={"cursor": "x y&z"},
    )

    request = asking(ACCOUNT, question)

    assert request.path == "/v1/contas/cc_1/cobrancas/a%2Fb?cursor=x%20y%26z"
    assert request.template == "/v1/contas/{conta}/cobrancas/{referencia}"
    assert request.headers == {"Authorization": "Bearer token-of-the-bank"}
    assert (request.method, request.kind) == ("GET", Kind.READ)


def test_the_fields_of_a_query_keep_their_order_and_every_sign_of_theirs_is_encoded():
    query = {"de": "2026-11-20T00:00:00.000Z", "limite": "25", "cursor": "a/b+c=ção"}

    request = asking(ACCOUNT, Question(operation="list_statement", path="/extrato", query=query))

    assert request.path == (
        "/v1/contas/cc_1/extrato"
        "?de=2026-11-20T00%3A00%3A00.000Z&limite=25&cursor=a%2Fb%2Bc%3D%C3%A7%C3%A3o"
    )


def test_an_order_travels_with_our_key_and_nothing_of_the_partner_s():
    request = ordering(ACCOUNT, order())

    assert request.headers["Idempotency-Key"] == KEY
    assert request.path == "/v1/contas/cc_1/transferencias"
    assert (request.method, request.kind) == ("POST", Kind.PAYOUT)


@pytest.mark.parametrize("name", ["", "..", "\ud800"])
def test_an_account_that_cannot_be_a_path_is_refused(name: str):
    account = ProviderAccount(account_id="", provider_account=name)

    with pytest.raises(Refused):
        ordering(account, order())


def test_text_that_cannot_be_written_is_refused():
    with pytest.raises(Refused):
        ordering(ACCOUNT, replace(order(), description="\ud800"))

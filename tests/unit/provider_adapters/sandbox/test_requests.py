"""What is requested of the bank, where, and as whom."""

from __future__ import annotations

from datetime import date

import pytest

from gateway.banks.client.messages import Kind
from gateway.banks.port.providers import ProviderAccount, Refused
from gateway.core.windows import Window
from provider_adapters.sandbox import requests
from tests.world.banks.harness import ACCOUNT
from tests.world.tables import cases

WHERE = "/v1/contas/cc_1"
DAY = Window(date(2026, 11, 20), date(2026, 11, 21))


def test_a_read_uses_the_account_s_token():
    request = requests.charge(ACCOUNT, "a/b", "get_charge")

    assert request.path == f"{WHERE}/cobrancas/a%2Fb"
    assert request.template == "/v1/contas/{conta}/cobrancas/{referencia}"
    assert request.headers == {"Authorization": "Bearer token-of-the-bank"}
    assert (request.method, request.kind) == ("GET", Kind.READ)


def test_query_parameters_keep_their_order_and_are_escaped():
    query = {"de": "2026-11-20T00:00:00.000Z", "limite": "25", "cursor": "a/b+c=ção"}

    request = requests.below_account(ACCOUNT, "list_statement", "/extrato", query)

    assert request.path == (
        f"{WHERE}/extrato?de=2026-11-20T00%3A00%3A00.000Z&limite=25&cursor=a%2Fb%2Bc%3D%C3%A7%C3%A3o"
    )


@cases(("limit", "sent"), [(0, "1"), (500, "500"), (501, "500")])
def test_the_requested_page_size_is_capped_at_the_bank_s_maximum(limit: int, sent: str):
    assert requests.refunds(ACCOUNT, DAY, None, limit).path.endswith(f"&limite={sent}")


@cases("name", ["", "..", "\ud800"])
def test_an_account_unfit_for_a_path_is_refused(name: str):
    account = ProviderAccount(account_id="", provider_account=name)

    with pytest.raises(Refused):
        requests.balance(account)

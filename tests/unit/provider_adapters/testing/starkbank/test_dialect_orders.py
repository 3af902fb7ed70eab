"""Orders are read as strictly as the bank reads them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from provider_adapters.testing.bank.kernel.clock import to_micros
from provider_adapters.testing.bank.kernel.refusals import Refusal
from provider_adapters.testing.bank.messages import Fields
from provider_adapters.testing.bank.pix import keys
from provider_adapters.testing.bank.pix.charges import NewCharge
from provider_adapters.testing.bank.pix.keys import NewKey
from provider_adapters.testing.starkbank import dialect
from tests.world.tables import cases

PAYER = {"amount": 1050, "name": "Maria", "taxId": "529.982.247-25"}


@pytest.fixture
def workspace(books, account) -> str:
    keys.add(books, account.id, NewKey(type="evp", key=None))
    return str(account.id)


def test_days_begin_in_sao_paulo_and_are_included():
    read = dialect.read_page({"after": "2026-11-20", "before": "2026-11-20", "limit": "7"})

    assert read.since == to_micros(datetime(2026, 11, 20, 3, tzinfo=UTC))
    assert read.until == to_micros(datetime(2026, 11, 21, 3, tzinfo=UTC))
    assert read.limit == 7


@cases("query", [{"limit": "101"}, {"limit": "0"}, {"limit": "x"}, {"after": "yesterday"},
              {"after": "2026-11-20T00:00:00Z"}, {"cursor": "?"}])  # fmt: skip
def test_another_query_is_refused(query: dict[str, str]):
    with pytest.raises(Refusal):
        dialect.read_page(query)


def test_an_invoice_ends_when_it_says_or_after_61_days(books, workspace):
    def read(body: Fields) -> tuple[NewCharge, list[str]]:
        return dialect.read_invoice(books, workspace, body), dialect.read_tags(body)

    due = {"due": "2026-11-20T14:40:11.123456+00:00", "expiration": 60}

    usual, _ = read(Fields(PAYER))
    said, tags = read(Fields({**PAYER, **due, "tags": ["A"]}))

    assert usual.expires_in == 61 * 86400 * 1_000_000
    assert (said.expires_in, tags) == (3660 * 1_000_000, ["A"])
    assert said.payer.tax_number == "52998224725"


@pytest.mark.parametrize(
    "change", [{"due": "2026-11-20", "expiration": 0}, {"due": "soon"}, {"taxId": "1"},
               {"amount": -1}, {"amount": "1"}, {"name": ""}, {"expiration": -1}]
)  # fmt: skip
def test_another_invoice_is_refused(books, workspace, change: dict[str, object]):
    with pytest.raises(Refusal):
        dialect.read_invoice(books, workspace, Fields({**PAYER, **change}))


def test_a_workspace_without_a_key_asks_nobody_for_money(books, account):
    with pytest.raises(Refusal):
        dialect.read_brcode(books, account.id, Fields({"amount": 1}))

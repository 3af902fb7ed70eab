"""Money that came in."""

from __future__ import annotations

from dataclasses import replace

from gateway.domain.bank.charges import Payer
from gateway.domain.bank.providers import Unavailable
from gateway.domain.bank.refunds import IncomingPayment
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.kernel.windows import Paging
from gateway.http.backoffice.money.received import incoming
from gateway.http.rendering import dumps
from gateway.operations.bank.pages import Listed
from tests.unit.gateway.http.backoffice.surface import OFFICE, becomes, line
from tests.unit.offering import E2E_ID
from tests.world.standing import NOON

PAYMENT = IncomingPayment(
    reference="order-1",
    e2e_id=E2E_ID,
    provider_id="7",
    value=Money(1050),
    refunded=Money(50),
    paid_at=NOON,
    payer=Payer(name="Maria", tax_number="52998224725"),
)


def test_the_row_is_the_one_decided():
    assert line("pix_transactions") == ("POST", "/pix/transactions/search", "transaction:read", 200)


def test_a_failure_has_the_rows_own_code():
    assert becomes("pix_transactions", Unavailable("a")) == "transaction_unavailable"
    assert becomes("pix_transactions", StoreUnavailable()) == "store_unavailable"


def test_a_payment_says_how_much_was_given_back():
    shown = incoming(Listed(items=[PAYMENT], paging=Paging(1, 25), total=1), OFFICE)

    (data,) = shown["data"]
    assert b'"status":"partly_refunded","value":10.50,"refunded":0.50' in dumps(data)
    assert data["payer"]["name"] == "Maria"


def test_a_payment_of_nobody_has_no_payer():
    page = Listed(items=[replace(PAYMENT, payer=None)], paging=Paging(1, 25), total=1)

    assert "payer" not in incoming(page, OFFICE)["data"][0]

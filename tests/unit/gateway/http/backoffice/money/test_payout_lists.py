"""The row that searches payouts of every account."""

from __future__ import annotations

from dataclasses import replace

from gateway.domain.backoffice.payout_search import (
    FoundPayout,
    PayoutCounts,
    PayoutPlace,
    PayoutsFound,
    StateCount,
)
from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.kernel import errors
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.payouts.payouts import Failure, PayoutState
from gateway.domain.payouts.status import Certainty
from gateway.http.backoffice.money.payout_lists import _page
from policies.validation.backoffice.payout_searches import place_of
from tests.unit.gateway.http.backoffice.surface import STAFF, becomes, line
from tests.world.stores.samples import ACCOUNT, NOW, payout

FAILED = replace(payout(), state=PayoutState.FAILED, failure=Failure(FailureCode.NOT_SENT))
PLACE = PayoutPlace(NOW, ACCOUNT, b"\x00" * 32)


def page(after: PayoutPlace | None = None) -> PayoutsFound:
    alike = StateCount(
        state=PayoutState.FAILED,
        certainty=Certainty.NOT_SENT,
        review=False,
        count=1,
        value=Money(1050),
    )
    counts = PayoutCounts(by_state=[alike], complete=True)
    return PayoutsFound(payouts=[FoundPayout(FAILED, "Padaria")], counts=counts, after=after)


def test_the_row_is_the_one_decided():
    assert line("payouts") == ("POST", "/payouts/search", "payout:read", 200)
    assert becomes("payouts", StoreUnavailable("down")) == errors.STORE_UNAVAILABLE.name


def test_a_payout_is_shown_without_the_whole_tax_number():
    (shown,) = _page(page(), STAFF)["data"]

    assert shown["payee_tax_number"] == "***.982.247-**"
    assert (shown["certainty"], shown["failure_code"]) == ("not_sent", "NOT_SENT")
    assert (shown["status"], shown["account_name"]) == ("failed", "Padaria")


def test_the_end_of_a_page_is_the_beginning_of_the_next():
    assert _page(page(), STAFF)["next"] == ""
    assert place_of(_page(page(PLACE), STAFF)["next"]) == PLACE
    assert _page(page(), STAFF)["counts"]["by_state"][0]["count"] == 1

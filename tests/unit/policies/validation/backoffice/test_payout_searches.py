"""Searches of payouts across accounts: which days, which filters, and where a page begins."""

from datetime import UTC, datetime

import pytest

from gateway.domain.backoffice.payout_search import PayoutOrder, PayoutPlace
from gateway.domain.identity.errors import VALIDATION_FAILED
from gateway.domain.kernel.money import Money
from gateway.domain.payouts.payouts import PayoutState
from gateway.domain.payouts.status import Certainty
from policies.validation.backoffice.payout_searches import PAYOUTS, place_of, place_text
from tests.unit.refusals import refused
from tests.world.people import posted

DAYS = {"init": "2026-11-20", "ends": "2026-11-20"}
ACCOUNT = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
PLACE = PayoutPlace(datetime(2026, 11, 20, 12, 30, 15, 123456, tzinfo=UTC), ACCOUNT, b"\x9f" * 32)


def test_a_day_is_one_of_brasilia():
    wanted = PAYOUTS.read(posted(DAYS)).wanted

    assert wanted.start == datetime(2026, 11, 20, 3, tzinfo=UTC)
    assert wanted.end == datetime(2026, 11, 21, 3, tzinfo=UTC)


def test_without_filters_nothing_is_limited():
    query = PAYOUTS.read(posted(DAYS))

    assert (query.limit, query.order, query.after) == (25, PayoutOrder.NEWEST, None)
    assert (query.wanted.states, query.wanted.review, query.wanted.least) == (set(), None, None)


@pytest.mark.parametrize(("body", "days"), [({}, 7), ({"days": 30}, 30), (DAYS, None)])
def test_without_days_it_is_the_last_week(body: dict[str, object], days: int | None):
    query = PAYOUTS.read(posted(body))

    assert query.days == days
    assert (query.wanted.start is None) is (days is not None)


def test_filters_are_read():
    body = {
        **DAYS,
        "states": ["sending", "accepted"],
        "certainty": "settled",
        "review": False,
        "least": 10.5,
        "account_id": ACCOUNT.upper(),
        "limit": 1000,
        "order": "oldest",
        "after": place_text(PLACE),
    }

    query = PAYOUTS.read(posted(body))

    assert query.wanted.states == {PayoutState.SENDING, PayoutState.ACCEPTED}
    assert (query.wanted.certainty, query.wanted.review) == (Certainty.SETTLED, False)
    assert (query.wanted.least, query.wanted.account_id) == (Money(1050), ACCOUNT)
    assert (query.limit, query.order, query.after) == (100, PayoutOrder.OLDEST, PLACE)


@pytest.mark.parametrize(
    ("more", "field", "reason"),
    [
        ({"init": None}, "init", "missing"),
        ({"ends": None}, "ends", "missing"),
        ({"days": 91}, "days", "out_of_range"),
        ({"ends": "2026-11-19"}, "ends", "window_backwards"),
        ({"ends": "2027-11-19"}, "ends", "window_long"),
        ({"states": ["lost"]}, "states", "not_one_of"),
        ({"statuss": "paid"}, "statuss", "unknown_field"),
        ({"states": "paid"}, "states", "wrong_type"),
        ({"least": -1}, "least", "not_positive"),
        ({"least": 1.005}, "least", "amount_form"),
        ({"limit": 0}, "limit", "out_of_range"),
        ({"after": "1.2.3"}, "after", "form"),
        ({"after": f"{'9' * 18}.{ACCOUNT}.{'00' * 32}"}, "after", "form"),
        ({"after": f"1.{'-' * 36}.{'00' * 32}"}, "after", "form"),
    ],
)
def test_what_has_another_form_is_refused(more: dict[str, object], field: str, reason: str):
    with refused(VALIDATION_FAILED) as refusal:
        PAYOUTS.read(posted({**DAYS, **more}))

    assert (refusal.value.field, refusal.value.reason) == (field, reason)


def test_where_a_page_ends_is_written_and_read():
    assert place_of(place_text(PLACE)) == PLACE

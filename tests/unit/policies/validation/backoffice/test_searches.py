"""Searches in a body: read as the query is."""

from datetime import date

import pytest

from gateway.banks.port.refunds import IncomingStatus, RefundStatus
from gateway.core import errors
from gateway.core.catalogue import ErrorCode
from gateway.core.windows import LocalWindow, Paging, Search, Window
from gateway.payouts.model import PayoutSearch, PayoutStatus
from gateway.payouts.search import WITHDRAWS
from gateway.refunds.searches import INCOMING, REFUNDS, IncomingSearch, RefundSearch
from tests.unit.refusals import refusal_of, refused
from tests.world.people import posted
from tests.world.tables import cases

DAYS = {"init": "2026-01-01", "ends": "2026-01-31"}
JANUARY = Window(date(2026, 1, 1), date(2026, 1, 31))


@pytest.mark.parametrize(
    ("more", "paging"),
    [
        ({}, Paging(1, 25)),
        ({"page": None, "limit": None}, Paging(1, 25)),
        ({"page": 3, "limit": 10}, Paging(3, 10)),
        ({"limit": 101}, Paging(1, 100)),
    ],
)
def test_days_and_page_of_a_search_body_are_read(more: dict[str, object], paging: Paging):
    assert WITHDRAWS.read(posted({**DAYS, **more})) == PayoutSearch(Search(JANUARY, paging))


@pytest.mark.parametrize("status", [None, "", "absent"])
def test_without_a_status_all_are_searched_for(status: str | None):
    body = DAYS if status == "absent" else {**DAYS, "status": status}

    assert INCOMING.read(posted(body)).status is None
    assert REFUNDS.read(posted(body)).status is None
    assert WITHDRAWS.read(posted(body)).status is None


def test_a_status_is_read_as_one_of_its_values():
    everything = Search(JANUARY, Paging(1, 25))

    payments = INCOMING.read(posted({**DAYS, "status": "partly_refunded"}))
    refunds = REFUNDS.read(posted({**DAYS, "status": "failed"}))
    payouts = WITHDRAWS.read(posted({**DAYS, "status": "processing"}))

    assert payments == IncomingSearch(everything, IncomingStatus.PARTLY_REFUNDED)
    assert refunds == RefundSearch(everything, RefundStatus.FAILED)
    assert payouts == PayoutSearch(everything, PayoutStatus.PROCESSING)


@pytest.mark.parametrize("takes", [INCOMING, REFUNDS], ids=["in", "back"])
def test_days_may_be_given_in_brasilia_time(takes):
    plain = takes.read(posted({**DAYS, "days": None})).search.window
    local = takes.read(posted({**DAYS, "days": "local"})).search.window

    assert (type(plain), type(local)) == (Window, LocalWindow)
    assert (local.init, local.ends) == (JANUARY.init, JANUARY.ends)
    assert refusal_of(lambda: takes.read(posted({**DAYS, "days": "utc"}))) is errors.PAYLOAD_INVALID


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("[]", errors.PAYLOAD_INVALID),
        ({}, errors.FIELD_MISSING),
        ({"init": "2026-01-01"}, errors.FIELD_MISSING),
        ({**DAYS, "ends": ""}, errors.FIELD_MISSING),
        ({**DAYS, "ends": 20260131}, errors.DATE_INVALID),
        ({**DAYS, "ends": "31/01/2026"}, errors.DATE_INVALID),
        ({**DAYS, "ends": "2025-12-31"}, errors.WINDOW_INVALID),
        ({**DAYS, "ends": "2026-04-01"}, errors.WINDOW_INVALID),
        ({**DAYS, "page": 0}, errors.NUMBER_INVALID),
        ({**DAYS, "page": "1"}, errors.NUMBER_INVALID),
        ({**DAYS, "limit": 1.5}, errors.NUMBER_INVALID),
        ({**DAYS, "limit": -1}, errors.NUMBER_INVALID),
        ({**DAYS, "status": "lost"}, errors.PAYLOAD_INVALID),
        ({**DAYS, "status": 1}, errors.PAYLOAD_INVALID),
    ],
)
@pytest.mark.parametrize("takes", [INCOMING, REFUNDS, WITHDRAWS], ids=["in", "back", "out"])
def test_an_invalid_search_body_has_the_same_code_as_an_invalid_query(
    takes, body: object, error: ErrorCode
):
    assert refusal_of(lambda: takes.read(posted(body))) is error
    assert error in takes.refuses


@cases(("name", "field"), [("statuss", "statuss"), ("<b>", "")])
def test_an_unknown_field_of_a_search_body_is_refused(name: str, field: str):
    """A misspelt filter would match everything; a name unlike ours is not repeated."""
    with refused(errors.PAYLOAD_INVALID) as refusal:
        WITHDRAWS.read(posted({**DAYS, name: "paid"}))

    assert (refusal.value.reason, refusal.value.field) == ("unknown_field", field)

"""Stops: what they hold for, and until when."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from gateway.domain.payouts.stops import Stop, StopScope
from tests.world.people import ACCOUNT, CLIENT, COMPANY, SISTER, account, principal
from tests.world.standing import NOON

END = NOON + timedelta(hours=1)
STOP = Stop(
    id="1",
    scope=StopScope.ACCOUNT,
    subject=ACCOUNT,
    reason="r",
    created_by="maria",
    created_at=NOON,
    ends_at=END,
)


def test_a_stop_holds_for_its_subject():
    cases = [
        (StopScope.PROVIDER, "sandbox", True),
        (StopScope.PROVIDER, "other", False),
        (StopScope.ACCOUNT, ACCOUNT, True),
        (StopScope.ACCOUNT, SISTER, False),
        (StopScope.COMPANY, COMPANY, True),
        (StopScope.COMPANY, ACCOUNT, False),
        (StopScope.CREDENTIAL, CLIENT, True),
        (StopScope.CREDENTIAL, COMPANY, False),
    ]

    for scope, subject, holds in cases:
        stop = replace(STOP, scope=scope, subject=subject)

        assert stop.holds(principal(), account(), NOON) is holds


@pytest.mark.parametrize(
    ("at", "holds"), [(NOON, True), (END - timedelta(microseconds=1), True), (END, False)]
)
def test_a_stop_ends_by_itself(at: datetime, holds: bool):
    assert STOP.holds(principal(), account(), at) is holds


def test_a_lifted_stop_holds_no_more():
    assert not replace(STOP, lifted_at=NOON).holds(principal(), account(), NOON)

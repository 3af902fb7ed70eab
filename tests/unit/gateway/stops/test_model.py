"""Stops: what they hold for, and until when."""

from datetime import timedelta

from gateway.core.company_scope import StopScope
from tests.world.people import ACCOUNT, CLIENT, COMPANY, SISTER, account, principal
from tests.world.standing import NOON
from tests.world.stops import sample

END = NOON + timedelta(hours=1)


def test_a_stop_blocks_its_subject_until_it_ends():
    cases = [
        (StopScope.PROVIDER, "sandbox", True),
        (StopScope.PROVIDER, "other", False),
        (StopScope.ACCOUNT, ACCOUNT, True),
        (StopScope.ACCOUNT, SISTER, False),
        (StopScope.COMPANY, COMPANY, True),
        (StopScope.COMPANY, ACCOUNT, False),
        (StopScope.CREDENTIAL, CLIENT, True),
        (StopScope.CREDENTIAL, COMPANY, False),
        (StopScope.EVERYTHING, "", True),
    ]

    for scope, subject, holds in cases:
        stop = sample(scope=scope, subject=subject, ends_at=END)

        assert stop.holds(principal(), account(), NOON) is holds
        assert stop.holds(principal(), account(), END - timedelta(microseconds=1)) is holds
        assert not stop.holds(principal(), account(), END)

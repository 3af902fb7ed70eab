"""Who calls, and how operations see them."""

from __future__ import annotations

import pytest

from gateway.core.company_scope import EVERY_COMPANY
from gateway.http.backoffice.callers import (
    admit_office,
    admit_staff,
)
from tests.unit.gateway.http.backoffice.surface import CLOCK, MARIA, OFFICE, STAFF
from tests.world.people import account, call


def test_somebody_who_signed_in_is_admitted():
    assert admit_staff(CLOCK.now)(call(person=MARIA, scope=EVERY_COMPANY)) == STAFF


def test_somebody_at_an_account_is_admitted_whole():
    assert (
        admit_office(CLOCK.now)(call(person=MARIA, scope=EVERY_COMPANY, account=account()))
        == OFFICE
    )


@pytest.mark.parametrize(
    "half",
    [
        {"person": MARIA},
        {"account": account()},
        {"person": MARIA, "account": account()},
        {"person": MARIA, "scope": EVERY_COMPANY},
        {},
    ],
)
def test_nobody_is_admitted_by_half(half: dict[str, object]):
    """A policy that was forgotten is a mistake, not an open door."""
    with pytest.raises(RuntimeError, match="policy"):
        admit_office(CLOCK.now)(call(**half))


def test_nobody_is_no_staff():
    for half in ({"account": account()}, {"person": MARIA}):
        with pytest.raises(RuntimeError, match="policy"):
            admit_staff(CLOCK.now)(call(**half))

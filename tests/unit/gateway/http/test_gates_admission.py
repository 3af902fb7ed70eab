"""Who is let in, and what is asked of a browser's scripts."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.core.company_scope import EVERY_COMPANY
from gateway.http.gates import (
    PanelPolicies,
    UserPolicies,
    admit_anonymous,
    admit_at_account,
    admit_signed_in,
    admit_staff,
)
from policies.traffic.csrf import CsrfToken, ReadFromOurPage, WriteFromOurPage
from tests.unit.gateway.http.surface import CLOCK, MARIA, OFFICE
from tests.world.people import account, call, headed, somebody

ASKED = headed(("User-Agent", "curl"))


def test_an_anonymous_caller_is_known_by_its_address():
    guest = admit_anonymous(call(ASKED))

    assert (guest.client.address, guest.client.user_agent) == ("203.0.113.7", "curl")
    assert (guest.client.panel, guest.client.bound_to, guest.browser) == (False, "", None)


def test_a_signed_in_caller_has_its_user():
    maria = somebody()

    member = admit_signed_in(call(ASKED, person=maria))

    assert member.person is maria
    assert member.logout_headers == {}


def test_a_signed_in_route_without_a_user_is_an_error():
    """A gate that forgot authentication is an error, not an open door."""
    with pytest.raises(RuntimeError, match="a policy of this gate is missing"):
        admit_signed_in(call(ASKED))


def test_a_missing_user_agent_is_empty():
    assert admit_anonymous(call(headed())).client.user_agent == ""


def test_a_user_at_an_account_is_admitted_with_user_scope_and_account():
    assert (
        admit_at_account(CLOCK.now)(call(person=MARIA, scope=EVERY_COMPANY, account=account()))
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
def test_an_incomplete_admission_at_an_account_is_an_error(half: dict[str, object]):
    """A forgotten policy is an error, not an open door."""
    with pytest.raises(RuntimeError, match="policy"):
        admit_at_account(CLOCK.now)(call(**half))


def test_an_incomplete_admission_of_staff_is_an_error():
    for half in ({"account": account()}, {"person": MARIA}):
        with pytest.raises(RuntimeError, match="policy"):
            admit_staff(CLOCK.now)(call(**half))


def origin() -> str:
    return "https://panel.example"


def test_the_origin_is_checked_before_the_session_and_writes_prove_their_page():
    session: Any = object()
    users: Any = UserPolicies(
        bearer=session, factor=session, address_quota=session, user_quota=session, origin=origin
    )
    asked = PanelPolicies(users=users, browser=session, device=session, session=session)

    assert asked.reads == (ReadFromOurPage(origin=origin, marked=True), session)
    assert asked.writes == (WriteFromOurPage(origin), session, CsrfToken())

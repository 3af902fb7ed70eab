"""What is asked of a browser's scripts, in order."""

from typing import Any

from gateway.http.people import PanelPolicies, UserPolicies
from policies.traffic.csrf import CsrfToken, ReadFromOurPage, WriteFromOurPage


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

"""Sign-ins of other users: listed and ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from gateway.domain.identity.rights import Area
from gateway.domain.identity.sessions import Session
from gateway.http.backoffice.administration.user_acts import UserActs
from gateway.http.backoffice.callers import ABSENT, CHANGED, BackOfficeCaller
from gateway.http.backoffice.cells import NO_BODY, NO_CONTENT, done, reading, writing
from gateway.http.common import STORE_FAILS
from gateway.http.identity.represent import public_id
from gateway.http.rendering import instant
from gateway.http.resources.documents import Instant, Total
from gateway.http.route import Row, route
from policies.validation.backoffice import inputs


class SignInDocument(TypedDict):
    """A sign-in that holds."""

    id: str
    panel: bool
    created_at: Instant
    seen_at: Instant
    ends_at: Instant
    address: str
    user_agent: str


class SignInList(TypedDict):
    """The sign-ins of a user, oldest first."""

    data: list[SignInDocument]
    meta: Total


class EndedDocument(TypedDict):
    """How many sign-ins ended."""

    ended: int


_USER = inputs.of_path("user_id")


_SIGN_IN = inputs.two_of_path(_USER, inputs.word_of_path("session_id"))


def sign_in_rows(does: UserActs) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows on the sign-ins of others."""
    return (
        route(
            "GET",
            "/users/{user_id}/sessions",
            name="backoffice.user_sessions",
            summary="List a user's open sessions.",
            needs=reading(Area.SESSION),
            limits=NO_BODY,
            takes=_USER,
            runs=does.sessions,
            shows=_sign_ins,
            fails=STORE_FAILS,
            raises=ABSENT,
        ),
        route(
            "DELETE",
            "/users/{user_id}/sessions",
            name="backoffice.user_sessions_end",
            summary="End all of a user's sessions, with all of their tokens.",
            needs=writing(Area.SESSION),
            limits=NO_BODY,
            takes=_USER,
            runs=does.end_sessions,
            shows=_ended,
            fails=STORE_FAILS,
            raises=CHANGED,
        ),
        route(
            "DELETE",
            "/users/{user_id}/sessions/{session_id}",
            name="backoffice.user_session_end",
            summary="End one of a user's sessions.",
            needs=writing(Area.SESSION),
            limits=NO_BODY,
            takes=_SIGN_IN,
            runs=does.end_session,
            shows=done,
            fails=STORE_FAILS,
            raises=ABSENT,
            status=NO_CONTENT,
        ),
    )


def _sign_ins(found: Sequence[Session], _who: BackOfficeCaller) -> SignInList:
    data: list[SignInDocument] = [
        {
            "id": public_id(each.id),
            "panel": each.panel,
            "created_at": instant(each.created_at),
            "seen_at": instant(each.seen_at),
            "ends_at": instant(each.ends_at),
            "address": each.address,
            "user_agent": each.user_agent,
        }
        for each in found
    ]
    return {"data": data, "meta": {"total": len(data)}}


def _ended(count: int, _who: BackOfficeCaller) -> EndedDocument:
    return {"ended": count}

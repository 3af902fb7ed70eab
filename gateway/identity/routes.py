"""Users, their roles and their sessions in the back office."""

from __future__ import annotations

from typing import Annotated, Final, TypedDict

from gateway.core import errors
from gateway.core.fields import meaning
from gateway.core.user_errors import FORBIDDEN
from gateway.core.versions import version_of_user
from gateway.core.windows import Listed
from gateway.http.common import Meter, meter
from gateway.http.gates import StaffCaller
from gateway.http.route import OK
from gateway.http.routing import ABSENT, CHANGED, CONDITIONAL, TAKEN, Routes, Shape
from gateway.identity.model import UserStanding
from gateway.identity.users import Users
from policies.validation.backoffice import inputs

_USER: Final = "/users/{user_id}"
_SESSION: Final = {"session_id": inputs.word_of_path("session_id")}
_ORDER: Final[Shape] = {
    "version": version_of_user,
    "raises": (*CONDITIONAL, errors.ALREADY_IN_USE),
    "status": OK,
}
_INVITE: Final[Shape] = {"version": version_of_user, "raises": (*TAKEN, FORBIDDEN)}
_CHANGE: Final[Shape] = {"version": version_of_user, "raises": CONDITIONAL, "status": OK}
_READ: Final[Shape] = {"version": version_of_user, "raises": ABSENT, "status": OK}
_GRANT: Final = (*CONDITIONAL, FORBIDDEN, errors.ALREADY_IN_USE)


class UserRecordList(TypedDict):
    """The users you may see, oldest first."""

    data: Annotated[list[UserStanding], meaning("The rows of this page.")]
    meta: Meter


def routes(users: Users) -> Routes:
    """Return the routes."""
    office = Routes()
    office.get("/users", "users", users.page, shows=_listed)
    office.get(_USER, "user", users.get, **_READ)
    office.post("/users", "user_invite", users.invite, **_INVITE)
    office.post(
        f"{_USER}/invitation", "user_invite_again", users.invite_again, raises=CHANGED, status=OK
    )
    office.patch(_USER, "user_rename", users.rename, **_CHANGE)
    office.post(f"{_USER}/unlock", "user_unlock", users.unlock, **_READ)
    office.put(
        f"{_USER}/roles", "user_roles", users.set_roles, version=version_of_user, raises=_GRANT
    )
    office.put(f"{_USER}/companies", "user_companies", users.set_companies, **_ORDER)
    office.post(f"{_USER}/disable", "user_disable", users.disable, **_CHANGE)
    office.post(f"{_USER}/enable", "user_enable", users.enable, **_ORDER)
    office.post(f"{_USER}/reset-mfa", "user_reset_mfa", users.reset_mfa, **_ORDER)
    office.get("/roles", "roles", users.roles)
    office.get(f"{_USER}/sessions", "user_sessions", users.sessions, raises=ABSENT)
    office.delete(
        f"{_USER}/sessions", "user_sessions_end", users.end_sessions, raises=CHANGED, status=OK
    )
    office.delete(
        f"{_USER}/sessions/{{session_id}}",
        "user_session_end",
        users.end_session,
        takes=_SESSION,
        raises=ABSENT,
    )
    return office


def _listed(found: Listed[UserStanding], _who: StaffCaller) -> UserRecordList:
    return {"data": list(found.items), "meta": meter(found.paging, found.total)}

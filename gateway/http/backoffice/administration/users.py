"""Users: invited, given roles and companies, disabled and enabled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from gateway.approvals.model import Approval, ApprovalDocument
from gateway.domain.identity.errors import FORBIDDEN
from gateway.domain.identity.rights import Area, Role
from gateway.domain.identity.users import User
from gateway.domain.kernel import errors
from gateway.domain.requests.versions import version_of_user
from gateway.http.backoffice.administration.user_acts import (
    CompaniesBody,
    InvitationBody,
    NameBody,
    RolesBody,
    Standing,
    UserActs,
)
from gateway.http.backoffice.callers import ABSENT, CHANGED, CONDITIONAL, TAKEN, BackOfficeCaller
from gateway.http.backoffice.cells import (
    CREATED,
    NO_BODY,
    WAITS,
    WITH_BODY,
    ReasonBody,
    managing,
    reading,
    versioned,
    waiting,
)
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import instant
from gateway.http.resources.documents import Instant, Meter
from gateway.http.resources.represent import meter
from gateway.http.route import Answer, Row, VersionedAnswer, route
from gateway.operations.bank.pages import Listed
from policies.validation.backoffice import inputs
from policies.validation.bodies import body

RoleName = Literal["viewer", "operator", "approver", "security", "admin"]


class UserRecordDocument(TypedDict):
    """A user; never a password or a secret."""

    id: str
    email: str
    name: str
    roles: list[RoleName]
    companies: list[str]
    state: Literal["active", "disabled", "invited"]
    has_factor: bool
    created_at: Instant
    updated_at: Instant


class UserStandingDocument(UserRecordDocument):
    """
    A user, their last sign-in that is on record, and whether they are locked out.

    ``locked_until`` is empty where only a reset of the password or an
    administrator lets them in again.
    """

    last_sign_in_at: Instant
    locked: bool
    locked_until: Instant


class UserRecordList(TypedDict):
    """The users you may see, oldest first."""

    data: list[UserStandingDocument]
    meta: Meter


_USER = inputs.of_path("user_id")


_WAITS = {WAITS: ApprovalDocument}


def user_rows(does: UserActs) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows of people."""
    return (
        route(
            "GET",
            "/users",
            name="backoffice.users",
            summary="List the users you may see.",
            needs=reading(Area.USER),
            limits=NO_BODY,
            takes=inputs.PAGE,
            runs=does.list,
            shows=_users,
            fails=STORE_FAILS,
            raises=(),
        ),
        route(
            "GET",
            "/users/{user_id}",
            name="backoffice.user",
            summary="Read one user.",
            needs=reading(Area.USER),
            limits=NO_BODY,
            takes=_USER,
            runs=does.stands,
            shows=_standing,
            fails=STORE_FAILS,
            raises=ABSENT,
        ),
        route(
            "POST",
            "/users",
            name="backoffice.user_invite",
            summary=(
                "Create a user and send a link valid for three days."
                " Roles that may write need approval."
            ),
            needs=managing(Area.USER),
            limits=WITH_BODY,
            takes=body(InvitationBody),
            runs=does.invite,
            shows=_user_or_order,
            fails=STORE_FAILS,
            raises=(*TAKEN, FORBIDDEN),
            status=CREATED,
            also=_WAITS,
        ),
        route(
            "POST",
            "/users/{user_id}/invitation",
            name="backoffice.user_invite_again",
            summary="Send a new link to a user who has not accepted yet; the old one is void.",
            needs=managing(Area.USER),
            limits=NO_BODY,
            takes=_USER,
            runs=does.invite_again,
            shows=_user,
            fails=STORE_FAILS,
            raises=CHANGED,
        ),
        *_change_rows(does),
    )


def _change_rows(does: UserActs) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows that change a user; most of them end the user's sessions."""
    return (
        route(
            "PATCH",
            "/users/{user_id}",
            name="backoffice.user_rename",
            summary="Rename a user.",
            needs=managing(Area.USER),
            limits=WITH_BODY,
            takes=inputs.both(_USER, NameBody),
            runs=does.rename,
            shows=_versioned,
            fails=STORE_FAILS,
            raises=CONDITIONAL,
        ),
        route(
            "POST",
            "/users/{user_id}/unlock",
            name="backoffice.user_unlock",
            summary="Unlock a user who gave too many wrong passwords or codes.",
            needs=managing(Area.USER),
            limits=NO_BODY,
            takes=_USER,
            runs=does.unlock,
            shows=_standing,
            fails=STORE_FAILS,
            raises=ABSENT,
        ),
        route(
            "PUT",
            "/users/{user_id}/roles",
            name="backoffice.user_roles",
            summary=(
                "Replace a user's roles. Removed roles end at once;"
                " a new role that may write needs approval."
            ),
            needs=managing(Area.USER),
            limits=WITH_BODY,
            takes=inputs.both(_USER, RolesBody),
            runs=does.set_roles,
            shows=_user_or_order,
            fails=STORE_FAILS,
            raises=(*CONDITIONAL, FORBIDDEN, errors.ALREADY_IN_USE),
            also=_WAITS,
        ),
        route(
            "PUT",
            "/users/{user_id}/companies",
            name="backoffice.user_companies",
            summary=(
                "Limit a user to these companies; an empty list removes the limit."
                " Showing more to a user who may write waits."
            ),
            needs=managing(Area.USER),
            limits=WITH_BODY,
            takes=inputs.both(_USER, CompaniesBody),
            runs=does.set_companies,
            shows=_user_or_order,
            fails=STORE_FAILS,
            raises=(*CONDITIONAL, errors.ALREADY_IN_USE),
            also=_WAITS,
        ),
        route(
            "POST",
            "/users/{user_id}/disable",
            name="backoffice.user_disable",
            summary="Disable a user.",
            needs=managing(Area.USER),
            limits=WITH_BODY,
            takes=inputs.both(_USER, ReasonBody),
            runs=does.disable,
            shows=_versioned,
            fails=STORE_FAILS,
            raises=CONDITIONAL,
        ),
        route(
            "POST",
            "/users/{user_id}/enable",
            name="backoffice.user_enable",
            summary="Enable a user again; waits where the user may write.",
            needs=managing(Area.USER),
            limits=NO_BODY,
            takes=_USER,
            runs=does.enable,
            shows=_user_or_order,
            fails=STORE_FAILS,
            raises=(*CONDITIONAL, errors.ALREADY_IN_USE),
            also=_WAITS,
        ),
        route(
            "POST",
            "/users/{user_id}/reset-mfa",
            name="backoffice.user_reset_mfa",
            summary="Take a second factor and recovery codes away; waits where the user may write.",
            needs=managing(Area.USER),
            limits=NO_BODY,
            takes=_USER,
            runs=does.reset_mfa,
            shows=_user_or_order,
            fails=STORE_FAILS,
            raises=(*CONDITIONAL, errors.ALREADY_IN_USE),
            also=_WAITS,
        ),
    )


def _user_or_order(
    found: User | Approval, who: BackOfficeCaller
) -> VersionedAnswer[UserRecordDocument] | Answer[ApprovalDocument]:
    if isinstance(found, Approval):
        return waiting(found, who)
    return _versioned(found, who)


def _user(found: User, _who: BackOfficeCaller) -> UserRecordDocument:
    return {
        "id": found.id,
        "email": found.email,
        "name": found.name,
        "roles": [each.value for each in Role if each in found.roles],
        "companies": sorted(found.companies),
        "state": _state(found),
        "has_factor": found.has_factor,
        "created_at": instant(found.created_at),
        "updated_at": instant(found.updated_at),
    }


def _versioned(found: User, who: BackOfficeCaller) -> VersionedAnswer[UserRecordDocument]:
    return versioned(_user(found, who), version_of_user(found))


def _state(found: User) -> Literal["active", "disabled", "invited"]:
    if not found.active:
        return "disabled"
    return "active" if found.password else "invited"


def _stands(found: Standing, who: BackOfficeCaller) -> UserStandingDocument:
    until = found.lockout.until if found.lockout else None
    return {
        **_user(found.user, who),
        "last_sign_in_at": instant(found.signed_in_at),
        "locked": found.lockout is not None,
        "locked_until": instant(until),
    }


def _standing(found: Standing, who: BackOfficeCaller) -> VersionedAnswer[UserStandingDocument]:
    return versioned(_stands(found, who), version_of_user(found.user))


def _users(found: Listed[Standing], who: BackOfficeCaller) -> UserRecordList:
    data = [_stands(each, who) for each in found.items]
    return {"data": data, "meta": meter(found.paging, found.total)}

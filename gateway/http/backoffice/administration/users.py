"""People: invited, given roles, kept out; their sessions, and what the roles are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from gateway.domain.backoffice.approvals import Approval
from gateway.domain.identity.errors import FORBIDDEN
from gateway.domain.identity.rights import RIGHTS, Area, Role
from gateway.domain.identity.sessions import Session
from gateway.domain.identity.users import User
from gateway.domain.kernel import errors
from gateway.domain.requests.versions import version_of_user
from gateway.http.backoffice import calls
from gateway.http.backoffice.administration.user_acts import (
    CompaniesBody,
    InvitationBody,
    NameBody,
    RolesBody,
    UserActs,
    WhyBody,
)
from gateway.http.backoffice.administration.user_documents import (
    EndedDocument,
    RoleDocument,
    RoleList,
    SignInDocument,
    SignInList,
    UserRecordDocument,
    UserRecordList,
    UserStandingDocument,
)
from gateway.http.backoffice.administration.user_standing import Standing
from gateway.http.backoffice.callers import Staff
from gateway.http.backoffice.documents import ApprovalDocument
from gateway.http.backoffice.represent import WAITS, waiting
from gateway.http.common import STORE_FAILS
from gateway.http.identity.represent import public_id
from gateway.http.json import instant
from gateway.http.resources.represent import meter
from gateway.http.route import Answer, Row, VersionedAnswer, route
from gateway.operations.bank.pages import Listed
from policies.validation.backoffice import inputs
from policies.validation.inputs import NOTHING


async def _roles(_who: Staff, _taken: None) -> Sequence[Role]:
    return tuple(Role)


_USER = inputs.of_path("user_id")
_WAITS = {WAITS: ApprovalDocument}
_SIGN_IN = inputs.two_of_path(_USER, inputs.word_of_path("session_id"))


def user_rows(does: UserActs) -> Sequence[Row[Staff]]:
    """Return the rows of people."""
    return (
        route(
            "GET",
            "/users",
            name="backoffice.users",
            summary="List the people that are shown to you.",
            needs=calls.reading(Area.USER),
            limits=calls.READ,
            takes=inputs.filters(inputs.Filters.paging, *inputs.PAGING),
            runs=does.list,
            shows=_users,
            fails=STORE_FAILS,
            raises=(),
        ),
        route(
            "GET",
            "/users/{user_id}",
            name="backoffice.user",
            summary="Read one person.",
            needs=calls.reading(Area.USER),
            limits=calls.READ,
            takes=_USER,
            runs=does.stands,
            shows=_standing,
            fails=STORE_FAILS,
            raises=calls.ABSENT,
        ),
        route(
            "GET",
            "/roles",
            name="backoffice.roles",
            summary="What each role may do.",
            needs=calls.reading(Area.USER),
            limits=calls.READ,
            takes=NOTHING,
            runs=_roles,
            shows=_role_list,
            fails=STORE_FAILS,
            raises=(),
        ),
        route(
            "POST",
            "/users",
            name="backoffice.user_invite",
            summary="Make a person and send them a link, good for three days. Who may write waits.",
            needs=calls.managing(Area.USER),
            limits=calls.WRITE,
            takes=inputs.body(InvitationBody),
            runs=does.invite,
            shows=_user_or_order,
            fails=STORE_FAILS,
            raises=(*calls.TAKEN, FORBIDDEN),
            status=calls.CREATED,
            also=_WAITS,
        ),
        route(
            "POST",
            "/users/{user_id}/invitation",
            name="backoffice.user_invite_again",
            summary="Send a new link to who has not accepted yet; the one before is void.",
            needs=calls.managing(Area.USER),
            limits=calls.ACT,
            takes=_USER,
            runs=does.invite_again,
            shows=_user,
            fails=STORE_FAILS,
            raises=calls.CHANGED,
        ),
        *_change_rows(does),
    )


def _change_rows(does: UserActs) -> Sequence[Row[Staff]]:
    """Return the rows that change somebody; each ends their sign-ins."""
    return (
        route(
            "PATCH",
            "/users/{user_id}",
            name="backoffice.user_rename",
            summary="Give a person another name.",
            needs=calls.managing(Area.USER),
            limits=calls.WRITE,
            takes=inputs.both(_USER, NameBody),
            runs=does.rename,
            shows=_versioned,
            fails=STORE_FAILS,
            raises=calls.CONDITIONAL,
        ),
        route(
            "POST",
            "/users/{user_id}/unlock",
            name="backoffice.user_unlock",
            summary="Let a person in again who gave too many wrong passwords or codes.",
            needs=calls.managing(Area.USER),
            limits=calls.ACT,
            takes=_USER,
            runs=does.unlock,
            shows=_standing,
            fails=STORE_FAILS,
            raises=calls.ABSENT,
        ),
        route(
            "PUT",
            "/users/{user_id}/roles",
            name="backoffice.user_roles",
            summary="Take every other role at once; giving a role that may write waits.",
            needs=calls.managing(Area.USER),
            limits=calls.WRITE,
            takes=inputs.both(_USER, RolesBody),
            runs=does.set_roles,
            shows=_user_or_order,
            fails=STORE_FAILS,
            raises=(*calls.CONDITIONAL, FORBIDDEN, errors.ALREADY_IN_USE),
            also=_WAITS,
        ),
        route(
            "PUT",
            "/users/{user_id}/companies",
            name="backoffice.user_companies",
            summary="Show a person these companies alone, or all for none.",
            needs=calls.managing(Area.USER),
            limits=calls.WRITE,
            takes=inputs.both(_USER, CompaniesBody),
            runs=does.set_companies,
            shows=_versioned,
            fails=STORE_FAILS,
            raises=calls.CONDITIONAL,
        ),
        route(
            "POST",
            "/users/{user_id}/disable",
            name="backoffice.user_disable",
            summary="Keep a person out from now on.",
            needs=calls.managing(Area.USER),
            limits=calls.WRITE,
            takes=inputs.both(_USER, WhyBody),
            runs=does.disable,
            shows=_versioned,
            fails=STORE_FAILS,
            raises=calls.CONDITIONAL,
        ),
        route(
            "POST",
            "/users/{user_id}/enable",
            name="backoffice.user_enable",
            summary="Let a person in again.",
            needs=calls.managing(Area.USER),
            limits=calls.ACT,
            takes=_USER,
            runs=does.enable,
            shows=_versioned,
            fails=STORE_FAILS,
            raises=calls.CONDITIONAL,
        ),
        route(
            "POST",
            "/users/{user_id}/reset-mfa",
            name="backoffice.user_reset_mfa",
            summary="Take a second factor and recovery codes away; waits where the user may write.",
            needs=calls.managing(Area.USER),
            limits=calls.ACT,
            takes=_USER,
            runs=does.reset_mfa,
            shows=_user_or_order,
            fails=STORE_FAILS,
            raises=(*calls.CONDITIONAL, errors.ALREADY_IN_USE),
            also=_WAITS,
        ),
    )


def sign_in_rows(does: UserActs) -> Sequence[Row[Staff]]:
    """Return the rows on the sign-ins of others."""
    return (
        route(
            "GET",
            "/users/{user_id}/sessions",
            name="backoffice.user_sessions",
            summary="List a person's sign-ins that hold.",
            needs=calls.reading(Area.SESSION),
            limits=calls.READ,
            takes=_USER,
            runs=does.sessions,
            shows=_sign_ins,
            fails=STORE_FAILS,
            raises=calls.ABSENT,
        ),
        route(
            "DELETE",
            "/users/{user_id}/sessions",
            name="backoffice.user_sessions_end",
            summary="End all of a person's sign-ins, with all of their tokens.",
            needs=calls.writing(Area.SESSION),
            limits=calls.ACT,
            takes=_USER,
            runs=does.end_sessions,
            shows=_ended,
            fails=STORE_FAILS,
            raises=calls.CHANGED,
        ),
        route(
            "DELETE",
            "/users/{user_id}/sessions/{session_id}",
            name="backoffice.user_session_end",
            summary="End one of a person's sign-ins.",
            needs=calls.writing(Area.SESSION),
            limits=calls.ACT,
            takes=_SIGN_IN,
            runs=does.end_session,
            shows=calls.done,
            fails=STORE_FAILS,
            raises=calls.ABSENT,
            status=calls.NO_CONTENT,
        ),
    )


def _user_or_order(
    found: User | Approval, who: Staff
) -> VersionedAnswer[UserRecordDocument] | Answer[ApprovalDocument]:
    if isinstance(found, Approval):
        return waiting(found)
    return _versioned(found, who)


def _user(found: User, _who: Staff) -> UserRecordDocument:
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


def _versioned(found: User, who: Staff) -> VersionedAnswer[UserRecordDocument]:
    return calls.versioned(_user(found, who), version_of_user(found))


def _state(found: User) -> Literal["active", "disabled", "invited"]:
    if not found.active:
        return "disabled"
    return "active" if found.password else "invited"


def _stands(found: Standing, who: Staff) -> UserStandingDocument:
    until = found.lockout.until if found.lockout else None
    return {
        **_user(found.user, who),
        "last_sign_in_at": instant(found.signed_in_at),
        "locked": found.lockout is not None,
        "locked_until": instant(until),
    }


def _standing(found: Standing, who: Staff) -> VersionedAnswer[UserStandingDocument]:
    return calls.versioned(_stands(found, who), version_of_user(found.user))


def _users(found: Listed[Standing], who: Staff) -> UserRecordList:
    data = [_stands(each, who) for each in found.items]
    return {"data": data, "meta": meter(found.paging, found.total)}


def _sign_ins(found: Sequence[Session], _who: Staff) -> SignInList:
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


def _ended(count: int, _who: Staff) -> EndedDocument:
    return {"ended": count}


def _role_list(found: Sequence[Role], _who: Staff) -> RoleList:
    data: list[RoleDocument] = [
        {"name": each.value, "rights": sorted(map(str, RIGHTS[each]))} for each in found
    ]
    return {"data": data, "meta": {"total": len(data)}}

"""Roles: what each of them may do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from gateway.domain.identity.rights import RIGHTS, Area, Role
from gateway.http.backoffice.administration.users import RoleName
from gateway.http.backoffice.callers import BackOfficeCaller
from gateway.http.backoffice.cells import NO_BODY, reading
from gateway.http.common import STORE_FAILS
from gateway.http.resources.documents import Total
from gateway.http.route import Row, route
from policies.validation.inputs import NOTHING


class RoleDocument(TypedDict):
    """A role, and everything it may do."""

    name: RoleName
    rights: list[str]


class RoleList(TypedDict):
    """The table of roles."""

    data: list[RoleDocument]
    meta: Total


def role_rows() -> Sequence[Row[BackOfficeCaller]]:
    """Return the row that lists the roles."""
    return (
        route(
            "GET",
            "/roles",
            name="backoffice.roles",
            summary="List what each role may do.",
            needs=reading(Area.USER),
            limits=NO_BODY,
            takes=NOTHING,
            runs=_roles,
            shows=_role_list,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


async def _roles(_who: BackOfficeCaller, _taken: None) -> Sequence[Role]:
    return tuple(Role)


def _role_list(found: Sequence[Role], _who: BackOfficeCaller) -> RoleList:
    data: list[RoleDocument] = [
        {"name": each.value, "rights": sorted(map(str, RIGHTS[each]))} for each in found
    ]
    return {"data": data, "meta": {"total": len(data)}}

"""Cells that rows share."""

from __future__ import annotations

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel.company_scope import scope_of
from gateway.http.backoffice.callers import BackOfficeCaller
from gateway.http.backoffice.cells import done, reading, writing
from gateway.operations.kernel.audit_context import AuditContext
from tests.unit.gateway.http.backoffice.registers import person
from tests.world.standing import Clock


def staff(*companies: str) -> BackOfficeCaller:
    return BackOfficeCaller(
        person(*companies), AuditContext("x", Clock().now), scope_of(frozenset(companies))
    )


def test_rights_are_named_by_their_action():
    assert reading(Area.STOP) == Right(Area.STOP, Action.READ)
    assert writing(Area.STOP) == Right(Area.STOP, Action.WRITE)


def test_nothing_is_shown_of_what_is_done():
    assert done(None, staff()).content is None

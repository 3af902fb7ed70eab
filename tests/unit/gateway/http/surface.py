"""The described surface of the back office, and a user at an account."""

from __future__ import annotations

from typing import Any

from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.core.company_scope import EVERY_COMPANY
from gateway.http.gates import AccountCaller, StaffCaller
from gateway.http.route import Route, code_of
from tests.world.people import account, somebody
from tests.world.standing import Clock
from tests.world.surfaces import surface_named

SURFACE = surface_named("backoffice")
ROUTES: dict[str, Route[Any]] = {
    route.name: route for gate in SURFACE.gates for route in gate.routes
}
CLOCK = Clock()
MARIA = somebody()
_MARIA = Staff(AuditContext(MARIA.actor, CLOCK.now), EVERY_COMPANY, MARIA)
STAFF = StaffCaller(_MARIA)
OFFICE = AccountCaller(staff=_MARIA, account=account())


def gate_of(name: str) -> list[str]:
    """Return the policies in front of a route, by name."""
    (gate,) = (gate for gate in SURFACE.gates if ROUTES[f"backoffice.{name}"] in gate.routes)
    return [type(policy).__name__ for policy in gate.policies]


def becomes(name: str, problem: Exception) -> str:
    """Return the name of the code of a failure in a route; empty if undeclared."""
    error = code_of(problem, ROUTES[f"backoffice.{name}"].fails)
    return error.name if error else ""

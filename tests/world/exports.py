"""Limits of files and look-ups, as a test sets them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from gateway.core.access import Staff
from gateway.core.allowances import Allowance
from gateway.core.audit_context import AuditContext
from gateway.core.clocks import Monotonic
from gateway.core.exports import ExportKind, Exports, Turns
from gateway.core.limits import CallRate
from gateway.core.rights import Role
from gateway.payouts.owner_mismatches import OwnerMismatches
from tests.world.people import somebody
from tests.world.standing import NOON

PLENTY = 1_000_000


def allowance(burst: int = PLENTY, clock: Monotonic = lambda: 0.0) -> Allowance:
    """Return buckets of so many tokens, of which one comes back in a second."""
    return Allowance("test", CallRate(rate=1, burst=burst), clock, lambda _label: None)


def owner_mismatches(burst: int = PLENTY) -> OwnerMismatches:
    """Return a limit of wrong owners, with a clock that stands still."""
    return OwnerMismatches(allowance(burst), lambda: 0.0)


async def _ignore(_who: Staff, _kind: ExportKind) -> None:
    """Record nothing."""


def exports(
    turns: Turns | None = None,
    *,
    files: int = PLENTY,
    rows: int = PLENTY,
    alarming: int = PLENTY,
    listed: int = PLENTY,
    on_alarm: Callable[[Staff, ExportKind], Awaitable[None]] = _ignore,
) -> Exports:
    """Return limits of files and rows, with a clock that stands still."""
    return Exports(
        turns=turns or Turns(),
        files=allowance(files),
        rows=allowance(rows),
        alarming=allowance(alarming),
        listed=allowance(listed),
        on_alarm=on_alarm,
    )


def signed_in(user_id: str = "maria") -> Staff:
    """Return a person of every role and company."""
    email = f"{user_id}@example.com"
    person = somebody(*Role, user_id=user_id, email=email)
    return Staff(AuditContext(person.actor, lambda: NOON), person=person)

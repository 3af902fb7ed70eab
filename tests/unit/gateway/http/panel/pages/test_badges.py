"""Waiting work is counted once for users with the same access, and shown only to them."""

from __future__ import annotations

from gateway.core.access import Staff, StaffOf
from gateway.core.company_scope import CompanyScope
from gateway.http.panel.pages.badges import Badges
from gateway.http.panel.pages.visit import Visit, admit_visitor
from gateway.payouts.documents import OpenWork
from tests.world.people import call, somebody
from tests.world.standing import Clock


def badges_at(clock: Clock) -> Badges:
    """Count how often it was counted, as unresolved, and of how many companies, as stops."""
    taken: list[CompanyScope] = []

    async def count(who: Staff) -> OpenWork:
        taken.append(who.scope)
        companies = len(who.scope.companies or ())
        return OpenWork(unresolved=len(taken), review=0, approvals=0, stops=companies)

    return Badges(StaffOf(clock.now, frozenset()), count)


def looks(*companies: str) -> Visit:
    return admit_visitor(call(person=somebody(companies=frozenset(companies))))


async def test_counts_cover_the_companies_a_user_sees():
    badges = badges_at(Clock())

    counts = [await badges.of(looks(*each)) for each in ((), ("a",), ("a", "b"))]

    assert [each["stops"] for each in counts] == [0, 1, 2]


async def test_counts_are_at_most_five_seconds_old():
    clock = Clock()
    badges = badges_at(clock)

    first = await badges.of(looks("a"))
    clock.passes(5)
    again = await badges.of(looks("a"))
    clock.passes(1)
    later = await badges.of(looks("a"))

    assert [each["unresolved"] for each in (first, again, later)] == [1, 1, 2]

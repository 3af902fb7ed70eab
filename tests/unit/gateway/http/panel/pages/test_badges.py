"""What waits is counted for people who see the same, and shown to nobody else."""

from __future__ import annotations

from typing import TypedDict

from gateway.domain.identity.rights import Area
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.http.backoffice.callers import BackOfficeCaller, admit_staff, in_scope
from gateway.http.backoffice.cells import NO_BODY, reading
from gateway.http.panel.pages.badges import Badges
from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.visit import Visit, admit_visitor
from gateway.http.route import Gate, Surface, route
from policies.authorization.user import DecidesCompanyScope
from policies.validation.inputs import NOTHING
from tests.world.people import call, somebody
from tests.world.standing import Clock


class Counted(TypedDict):
    """What a count tells here: how often it was taken, and of how many companies."""

    times: int
    companies: int


def badges_at(clock: Clock) -> Badges:
    """Count with a row that tells what it was asked for."""
    taken: list[CompanyScope] = []

    async def count(scope: CompanyScope, _taken: None) -> CompanyScope:
        taken.append(scope)
        return scope

    def shows(scope: CompanyScope, _who: BackOfficeCaller) -> Counted:
        return {"times": len(taken), "companies": len(scope.companies or ())}

    row = route(
        "GET",
        "/counts",
        name="backoffice.counts",
        summary="Count.",
        needs=reading(Area.REVIEW),
        limits=NO_BODY,
        takes=NOTHING,
        runs=in_scope(count),
        shows=shows,
        fails={},
        raises=(),
    )
    gate = Gate(policies=(DecidesCompanyScope(),), admits=admit_staff(clock.now), rows=(row,))
    surface = Surface(
        name="backoffice",
        prefix="",
        gates=(gate,),
        challenge="",
        body_bytes=0,
        exempt=frozenset(),
    )
    return Badges(RowCalls([surface], clock.now))


def looks(*companies: str) -> Visit:
    """Let somebody of these companies look at a page."""
    return admit_visitor(call(person=somebody(companies=frozenset(companies))))


async def test_a_count_is_of_the_companies_that_one_sees():
    badges = badges_at(Clock())

    counts = [await badges.of(looks(*each)) for each in ((), ("a",), ("a", "b"))]

    assert [each["companies"] for each in counts] == [0, 1, 2]


async def test_a_count_is_five_seconds_old_at_most():
    clock = Clock()
    badges = badges_at(clock)

    first = await badges.of(looks("a"))
    clock.passes(5)
    again = await badges.of(looks("a"))
    clock.passes(1)
    later = await badges.of(looks("a"))

    assert [each["times"] for each in (first, again, later)] == [1, 1, 2]

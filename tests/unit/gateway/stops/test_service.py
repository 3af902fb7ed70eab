"""The service of stops: only of what is there, for a reason, until an end, by who may."""

from collections.abc import Awaitable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from gateway.app.services import Services
from gateway.core.access import Staff, StaffOf
from gateway.core.audit_context import RuleViolation
from gateway.core.company_scope import CompanyScope, StopScope
from gateway.core.errors import ServiceError
from gateway.core.rights import Role
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Paging
from gateway.stops.model import Stop, StopRequest
from tests.world.people import somebody
from tests.world.registers import NOON, Registers
from tests.world.stops import in_force, lift, stop_payouts

WITH_LETTERS = "abcdef00-0000-4000-8000-{:012d}"
"""An id that has an upper case."""
FIRST = Paging(page=1, limit=20)


async def create(
    office: Registers, who: Staff | None = None, ends_at: datetime | None = None, **changed: object
) -> Stop:
    wanted = {"scope": StopScope.PROVIDER, "subject": "sandbox", "reason": "r", **changed}
    service = Services(office.kernel).stops
    return await service.create(who or Staff(office.acting), StopRequest(**wanted), ends_at)  # type: ignore[arg-type]


async def owned(office: Registers, number: int) -> dict[StopScope, str]:
    company = await office.company(f"Padaria {number}")
    id_ = WITH_LETTERS.format(number)
    account = await office.account(company.id, id=id_)
    issued = await office.issue(company.id)
    return {
        StopScope.COMPANY: company.id,
        StopScope.ACCOUNT: account.id,
        StopScope.CREDENTIAL: issued.credential.client_id,
    }


def limited(office: Registers, company_id: str) -> Staff:
    return Staff(office.acting, CompanyScope(frozenset({company_id})))


async def refused(deed: Awaitable[object]) -> str:
    with pytest.raises(ServiceError) as problem:
        await deed
    return problem.value.error.code


async def test_each_scope_can_be_stopped_with_its_stored_id(office: Registers):
    """Another spelling of an id would stop nothing."""
    everywhere = {StopScope.PROVIDER: "sandbox", StopScope.EVERYTHING: ""}
    subjects = {**everywhere, **await owned(office, 1)}
    in_upper_case = {StopScope.COMPANY, StopScope.ACCOUNT}

    made = [
        await create(office, scope=scope, subject=each.upper() if scope in in_upper_case else each)
        for scope, each in subjects.items()
    ]

    found = await Services(office.kernel).stops.page(Staff(office.acting), FIRST)
    assert found.items == await in_force(office) == made
    assert {each.scope: each.subject for each in made} == subjects
    assert {each.created_by for each in made} == {"cli:test"}


async def test_a_stop_with_an_unknown_subject_is_refused(office: Registers):
    """Otherwise it would seem to be in force."""
    nothing = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a99"
    subjects = [
        (StopScope.PROVIDER, "sandbx"),
        (StopScope.PROVIDER, ""),
        (StopScope.EVERYTHING, "sandbox"),
        (StopScope.ACCOUNT, ""),
        (StopScope.COMPANY, nothing),
        (StopScope.ACCOUNT, nothing),
        (StopScope.ACCOUNT, "main"),
        (StopScope.CREDENTIAL, "cli_nobody"),
    ]

    for scope, subject in subjects:
        with pytest.raises(RuleViolation):
            await create(office, scope=scope, subject=subject)

    assert await in_force(office) == []


async def test_every_stop_has_a_reason_and_an_end_within_thirty_days(office: Registers):
    for reason in ("", "  ", "line\nbreak", "x" * 501):
        with pytest.raises(RuleViolation, match="a reason"):
            await create(office, reason=reason)
    for wrong in (NOON, NOON - timedelta(seconds=1), NOON + timedelta(days=30, seconds=1)):
        with pytest.raises(RuleViolation, match="30 days"):
            await create(office, ends_at=wrong)

    for right in (NOON + timedelta(seconds=1), NOON + timedelta(days=30)):
        assert (await create(office, ends_at=right)).ends_at == right
    assert (await create(office, minutes=5)).ends_at == NOON + timedelta(minutes=5)


async def test_a_stop_can_be_lifted_only_once(office: Registers):
    stop = await stop_payouts(office)

    await lift(office, stop.id.upper())

    assert await in_force(office) == []
    assert await refused(lift(office, stop.id)) == "NOT_FOUND"
    assert await refused(lift(office, "no-id")) == "NOT_FOUND"


async def test_an_expired_stop_cannot_be_lifted(office: Registers):
    stop = await stop_payouts(office)
    office.clock.passes(hours=1)

    assert await in_force(office) == []
    assert await refused(lift(office, stop.id)) == "NOT_FOUND"


async def test_a_limited_user_sees_and_stops_only_their_companies(office: Registers):
    """A stop of a provider or of everything affects all companies, so they cannot change it."""
    mine, other = await owned(office, 1), await owned(office, 2)
    who, stops = limited(office, mine[StopScope.COMPANY]), Services(office.kernel).stops
    wide = [await create(office), await create(office, scope=StopScope.EVERYTHING, subject="")]
    foreign = [await create(office, scope=scope, subject=each) for scope, each in other.items()]

    made = [await create(office, who, scope=scope, subject=each) for scope, each in mine.items()]

    assert (await stops.page(who, FIRST)).items == [*wide, *made]
    everywhere = ((StopScope.PROVIDER, "sandbox"), (StopScope.EVERYTHING, ""))
    for scope, subject in (*everywhere, *other.items()):
        with pytest.raises(RuleViolation) as problem:
            await create(office, who, scope=scope, subject=subject)
        assert problem.value.reason == "subject_unknown"
    for each in (*wide, *foreign):
        assert await refused(stops.get(who, each.id)) == "NOT_FOUND"
        assert await refused(stops.lift(who, each.id)) == "NOT_FOUND"
    for each in made:
        assert await stops.get(who, each.id) == each
        await stops.lift(who, each.id)
    assert (await stops.page(who, FIRST)).items == wide
    ended = (await stops.ended(who, FIRST)).items
    assert {each.id for each in ended} == {each.id for each in made}


async def test_ended_stops_are_listed_newest_first_with_who_lifted_them(office: Registers):
    service, who = Services(office.kernel).stops, Staff(office.acting)
    over = await create(office, minutes=5)
    held = await create(office, minutes=600)
    office.clock.passes(hours=1)
    lifted = await create(office)
    await service.lift(who, lifted.id)

    found = (await service.ended(who, FIRST)).items

    assert [each.id for each in found] == [lifted.id, over.id]
    assert [each.lifted_by for each in found] == ["cli:test", ""]
    assert [each.lifted_at for each in found] == [office.clock(), None]
    assert await in_force(office) == [held]


async def test_stopping_and_lifting_are_audited_with_actor_and_reason(office: Registers):
    stop = await stop_payouts(office)
    await lift(office, stop.id)

    stopped, resumed = await office.acts()
    assert (stopped.actor, stopped.action, stopped.subject) == (
        "cli:test",
        "payouts.stopped",
        "provider:sandbox",
    )
    assert stopped.details == {
        "reason": stop.reason,
        "ends_at": stop.ends_at.isoformat(),
        "stop": stop.id,
    }
    assert (resumed.action, resumed.subject) == ("payouts.resumed", f"stop:{stop.id}")


async def test_a_stop_that_cannot_be_audited_is_not_made_or_lifted(office: Registers):
    stop = await stop_payouts(office)
    async with office.store.database.writing() as connection:
        await connection.exec_driver_sql("DELETE FROM audit_head")

    with pytest.raises(StoreUnavailable):
        await create(office)
    with pytest.raises(StoreUnavailable):
        await lift(office, stop.id)

    assert await in_force(office) == [stop]


async def test_a_viewer_may_read_stops_and_lifting_requires_a_fresh_second_factor(
    office: Registers,
):
    """Pages call the service directly, without a back office route."""
    stops, stop = Services(office.kernel).stops, await stop_payouts(office)
    staff = StaffOf(office.clock, frozenset())
    viewer = staff(somebody(Role.VIEWER))
    late = replace(somebody(Role.OPERATOR), has_factor=True, factor_at=NOON - timedelta(minutes=6))

    assert (await stops.page(viewer, FIRST)).items == [stop]
    assert await refused(create(office, viewer)) == "FORBIDDEN"
    assert await refused(stops.lift(viewer, stop.id)) == "FORBIDDEN"
    assert await refused(stops.lift(staff(late), stop.id)) == "STEP_UP_REQUIRED"
    await create(office, staff(late))
    await stops.lift(staff(replace(late, factor_at=NOON)), stop.id)

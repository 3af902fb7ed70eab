"""The register of stops: only what holds for something, for a reason, until an end."""

from datetime import datetime, timedelta

import pytest

from gateway.domain.payouts.stops import StopScope
from gateway.operations.accounts.accounts import AccountOrder
from gateway.operations.accounts.credentials import CredentialOrder
from gateway.operations.backoffice.stops import StopOrder
from gateway.operations.kernel.audit_context import RuleViolation
from tests.world.backoffice.stops import stops_of
from tests.world.registers import NOON, Registers

TAX = "52998224725"
WITH_LETTERS = "abcdef00-0000-4000-8000-00000000abcd"
"""An id that has an upper case."""

END = NOON + timedelta(hours=2)


def order(
    scope: StopScope = StopScope.PROVIDER,
    subject: str = "sandbox",
    *,
    reason: str = "contas erradas",
    ends_at: datetime = END,
) -> StopOrder:
    return StopOrder(scope=scope, subject=subject, reason=reason, ends_at=ends_at)


async def known(office: Registers) -> dict[StopScope, str]:
    """Make something of each scope."""
    company = await office.companies.create("Padaria")
    account = await office.accounts.create(
        AccountOrder(company_id=company.id, name="Padaria", tax_number=TAX, id=WITH_LETTERS)
    )
    issued = await office.credentials.issue(
        CredentialOrder(name="ERP", company_id=company.id, permissions=frozenset())
    )
    return {
        StopScope.PROVIDER: "sandbox",
        StopScope.COMPANY: company.id,
        StopScope.ACCOUNT: account.id,
        StopScope.CREDENTIAL: issued.credential.client_id,
    }


@pytest.mark.parametrize("scope", StopScope)
async def test_each_scope_is_stopped_and_listed(office: Registers, scope: StopScope):
    subject = (await known(office))[scope]

    stop = await stops_of(office).stop(order(scope, subject))

    assert await stops_of(office).list() == [stop]
    assert (stop.scope, stop.subject, stop.ends_at, stop.created_by) == (
        scope,
        subject,
        END,
        "cli:test",
    )


@pytest.mark.parametrize("scope", [StopScope.COMPANY, StopScope.ACCOUNT])
async def test_an_id_is_stored_in_lower_case(office: Registers, scope: StopScope):
    """As the gateway compares it; another spelling would stop nobody."""
    subject = (await known(office))[scope]

    stop = await stops_of(office).stop(order(scope, subject.upper()))

    assert stop.subject == subject


@pytest.mark.parametrize(
    ("scope", "subject"),
    [
        (StopScope.PROVIDER, "sandbx"),
        (StopScope.PROVIDER, ""),
        (StopScope.COMPANY, "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a99"),
        (StopScope.ACCOUNT, "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a99"),
        (StopScope.ACCOUNT, "main"),
        (StopScope.CREDENTIAL, "cli_nobody"),
    ],
)
async def test_a_stop_of_nothing_is_refused(office: Registers, scope: StopScope, subject: str):
    """Somebody would believe that it holds."""
    with pytest.raises(RuleViolation):
        await stops_of(office).stop(order(scope, subject))

    assert await stops_of(office).list() == []


@pytest.mark.parametrize(
    ("ends_at", "possible"),
    [
        (NOON, False),
        (NOON - timedelta(seconds=1), False),
        (NOON + timedelta(seconds=1), True),
        (NOON + timedelta(days=30), True),
        (NOON + timedelta(days=30, seconds=1), False),
    ],
)
async def test_every_stop_has_an_end_within_thirty_days(
    office: Registers, ends_at: datetime, possible: bool
):
    if possible:
        assert (await stops_of(office).stop(order(ends_at=ends_at))).ends_at == ends_at
        return
    with pytest.raises(RuleViolation, match="30 days"):
        await stops_of(office).stop(order(ends_at=ends_at))


@pytest.mark.parametrize("reason", ["", "  ", "line\nbreak", "x" * 501])
async def test_every_stop_has_a_reason(office: Registers, reason: str):
    with pytest.raises(RuleViolation, match="a reason"):
        await stops_of(office).stop(order(reason=reason))


async def test_a_stop_is_lifted_once(office: Registers):
    stop = await stops_of(office).stop(order())

    await stops_of(office).lift(stop.id.upper())

    assert await stops_of(office).list() == []
    with pytest.raises(RuleViolation, match="in force"):
        await stops_of(office).lift(stop.id)


async def test_what_ended_by_itself_is_not_lifted(office: Registers):
    stop = await stops_of(office).stop(order())
    office.clock.passes(hours=2)

    assert await stops_of(office).list() == []
    with pytest.raises(RuleViolation):
        await stops_of(office).lift(stop.id)


async def test_both_acts_are_on_record_with_who_and_why(office: Registers):
    stop = await stops_of(office).stop(order())
    await stops_of(office).lift(stop.id)

    stopped, resumed = await office.acts()
    assert (stopped.actor, stopped.action, stopped.subject) == (
        "cli:test",
        "payouts.stopped",
        "provider:sandbox",
    )
    assert stopped.details["reason"] == "contas erradas"
    assert stopped.details["ends_at"] == END.isoformat()
    assert (resumed.action, resumed.subject) == ("payouts.resumed", f"stop:{stop.id}")

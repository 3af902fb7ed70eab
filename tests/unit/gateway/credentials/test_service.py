"""Credentials: issued, rotated, revoked (contract 5.1)."""

from collections.abc import Awaitable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from msgspec.structs import asdict
from sqlalchemy import select

from gateway.core.access import Staff
from gateway.core.approvals import Approval, ApprovalState
from gateway.core.audit_context import RuleViolation
from gateway.core.caller_rules import ANYWHERE, UNDECIDED, CallerRule
from gateway.core.company_scope import CompanyScope
from gateway.core.errors import ServiceError
from gateway.core.money import Money, Sum
from gateway.core.night import Night
from gateway.core.schemas import ReasonBody
from gateway.core.windows import Paging, Window
from gateway.credentials.model import (
    Credential,
    CredentialBody,
    CredentialSearch,
    Issued,
    LimitProposal,
    LimitsBody,
    RotationBody,
)
from gateway.store.tables.core import secrets
from tests.unit.gateway.credentials.two_people import TwoPeople
from tests.world.registers import NOON

READ = ["balance:read"]
TEN = Money(1000)
ABSENT = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
DAY = timedelta(days=1)
AT_ONCE = RotationBody(overlap_s=0)


@pytest.fixture
async def account_id(office, company_id: str) -> str:
    return (await office.account(company_id)).id


@pytest.fixture
async def issued(office, company_id: str) -> Issued:
    return await office.issue(company_id, permissions=READ)


async def opens(office, client_id: str, secret: str) -> bool:
    found = await office.store.credentials.find(client_id)
    return office.digester.matches(secret, found.secrets, office.clock())


async def test_an_issued_secret_authenticates(office, issued):
    assert await opens(office, issued.credential.client_id, issued.client_secret)


async def test_the_secret_is_stored_nowhere(office, issued):
    stored = repr(await office.credentials.every(office.staff)) + repr(await office.acts())

    assert issued.client_secret not in stored
    assert issued.client_secret not in repr(issued)


async def test_the_company_of_a_credential_is_that_of_its_account(office, company_id, account_id):
    issued = await office.issue(account_id=account_id.upper(), permissions=READ)

    assert issued.credential.company_id == company_id
    assert issued.credential.account_id == account_id


async def test_issuing_is_audited(office, issued):
    *_, act = await office.acts()

    assert act.action == "credential.issued"
    assert act.subject == f"credential:{issued.credential.client_id}"
    assert act.details["permissions"] == "balance:read"


async def test_an_account_of_another_company_is_refused(office, account_id):
    other = await office.company("Outra")

    with pytest.raises(RuleViolation, match="another company"):
        await office.issue(other.id, account_id=account_id)

    assert await office.credentials.every(office.staff) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"company_id": ABSENT},
        {"company_id": ""},
        {"account_id": ABSENT},
        {"account_id": "no-uuid"},
        {"expires_at": NOON},
        {"expires_at": datetime(2030, 1, 1)},  # noqa: DTZ001 - without a zone
    ],
    ids=str,
)
async def test_an_invalid_order_issues_no_credential(office, company_id, wrong):
    with pytest.raises(RuleViolation):
        await office.issue(**{"company_id": company_id, **wrong})

    assert await office.credentials.every(office.staff) == []


async def test_after_a_rotation_both_secrets_open_for_a_day(office, issued):
    """Two live secrets, so that a rotation needs no downtime."""
    client_id = issued.credential.client_id

    rotated = await office.rotate(client_id)

    assert rotated.old_ends == NOON + DAY
    assert await opens(office, client_id, issued.client_secret)
    office.clock.passes(hours=24)
    assert not await opens(office, client_id, issued.client_secret)
    assert await opens(office, client_id, rotated.client_secret)


async def test_a_third_live_secret_is_refused(office, issued):
    client_id = issued.credential.client_id
    await office.rotate(client_id)

    with pytest.raises(RuleViolation, match="2026-11-21T12:00:00Z"):
        await office.rotate(client_id)

    office.clock.passes(days=1)
    assert (await office.rotate(client_id)).client_secret


async def test_an_overlap_of_zero_ends_both_secrets_at_once(office, issued):
    """A leaked secret must not stay valid until the end of an earlier overlap."""
    client_id = issued.credential.client_id
    second = await office.rotate(client_id)

    third = await office.rotate(client_id, 0)

    opened = [
        await opens(office, client_id, each.client_secret) for each in (issued, second, third)
    ]
    assert opened == [False, False, True]


@pytest.mark.parametrize(
    ("overlap", "possible"),
    [(30 * 86_400, True), (30 * 86_400 + 1, False), (-86_400, False)],
)
async def test_a_rotation_overlap_is_at_most_thirty_days(office, issued, overlap, possible):
    client_id = issued.credential.client_id

    if possible:
        ends = NOON + timedelta(seconds=overlap)
        assert (await office.rotate(client_id, overlap)).old_ends == ends
    else:
        with pytest.raises(RuleViolation, match="30 days"):
            await office.rotate(client_id, overlap)


async def test_a_credential_is_revoked_with_a_reason(office, issued):
    client_id = issued.credential.client_id

    revoked = await office.revoke(client_id, "leaked")

    assert revoked.revoked_at == NOON
    assert (await office.store.credentials.find(client_id)).revoked_at == NOON
    *_, act = await office.acts()
    assert (act.action, act.details) == ("credential.revoked", {"reason": "leaked"})


@pytest.mark.parametrize("act", ["rotate", "revoke"])
async def test_a_revoked_credential_cannot_be_changed(office, issued, act: str):
    await office.revoke(issued.credential.client_id)

    with pytest.raises(RuleViolation, match="revoked"):
        await getattr(office, act)(issued.credential.client_id)


@pytest.mark.parametrize("act", ["rotate", "revoke"])
async def test_an_expired_credential_cannot_be_changed(office, company_id, act: str):
    issued = await office.issue(company_id, expires_at=NOON + DAY)
    office.clock.passes(days=1)

    with pytest.raises(RuleViolation, match="expired"):
        await getattr(office, act)(issued.credential.client_id)


@pytest.mark.parametrize("act", ["rotate", "revoke"])
async def test_an_absent_credential_is_named_in_the_error(office, act: str):
    with pytest.raises(ServiceError) as refused:
        await getattr(office, act)("cli_nobody")

    assert refused.value.detail == "there is no credential cli_nobody"


async def refusal(deed: Awaitable[object]) -> str:
    with pytest.raises((ServiceError, RuleViolation)) as refused:
        await deed
    problem = refused.value
    return (
        problem.reason
        if isinstance(problem, RuleViolation)
        else f"{problem.error.status} {problem.reason}"
    )


async def test_a_credential_of_another_company_is_not_found(office, company_id, issued):
    other = await office.company("Outra")
    limited = Staff(office.acting, CompanyScope(frozenset({other.id})))
    client_id, credentials = issued.credential.client_id, office.credentials
    search = CredentialSearch(paging=Paging(1, 25))

    refused = [
        await refusal(credentials.get(limited, client_id)),
        await refusal(credentials.rotate(limited, client_id, RotationBody())),
        await refusal(credentials.set_limits(limited, client_id, LimitsBody())),
        await refusal(credentials.set_callers(limited, client_id, ANYWHERE)),
        await refusal(credentials.addresses(limited, client_id)),
        await refusal(credentials.revoke(limited, client_id, ReasonBody())),
    ]

    assert refused == ["404 credential"] * 6
    hidden, shown = [await credentials.page(who, search) for who in (limited, office.staff)]
    assert (hidden.total, hidden.counts["live"], shown.counts["live"]) == (0, 0, 1)
    assert await credentials.every(limited) == []


async def test_no_user_issues_a_credential_outside_their_scope(office, company_id, account_id):
    """With the refusal for an unknown company or account."""
    ours = await office.company("Outra")
    limited = Staff(office.acting, CompanyScope(frozenset({ours.id})))
    orders = [
        CredentialBody(name="n", company_id=company_id),
        CredentialBody(name="n", account_id=account_id),
        CredentialBody(name="n", company_id=ours.id, account_id=account_id),
    ]

    refused = [await refusal(office.credentials.issue(limited, order)) for order in orders]

    assert refused == ["company_unknown", "account_unknown", "account_unknown"]
    assert await office.credentials.every(office.staff) == []


@pytest.mark.parametrize(
    ("permissions", "waits"),
    [
        (["balance:read", "withdraw:write"], True),
        (["withdraw:read", "balance:manage"], False),
        ([], False),
    ],
)
@pytest.mark.parametrize("takes_two", [True, False])
async def test_issuing_a_paying_credential_needs_approval(
    people: TwoPeople, permissions: list[str], waits: bool, takes_two: bool
):
    """Where the rule is on, and only for users: commands do not wait."""
    credentials = people.credentials if takes_two else replace(people.credentials, wait=None)

    done = await credentials.issue(people.staff("maria"), people.wanted(permissions))
    typed = await people.credentials.issue(people.office.staff, people.wanted(permissions))

    assert isinstance(done, Approval) is (waits and takes_two)
    assert isinstance(typed, Issued)
    assert len(await people.every()) == (1 if waits and takes_two else 2)


async def test_an_invalid_order_is_refused_before_its_approval(people: TwoPeople):
    wanted = people.wanted()
    wanted.company_id = "x"

    assert await refusal(people.credentials.issue(people.staff("maria"), wanted)) == "uuid_form"


async def test_the_overlap_of_a_rotation_starts_when_its_secret_is_collected(people: TwoPeople):
    made = await people.issue()
    waiting = await people.credentials.rotate(
        people.staff("maria"), made.client_id, RotationBody(3600)
    )
    shown = (await people.approvals.get(people.staff("joao"), waiting.id)).order
    approved = await people.approve(waiting)
    people.office.clock.passes(minutes=10)

    new = await people.collect(approved)

    assert shown == {"client_id": made.client_id, "name": "ERP", "overlap_s": 3600}
    assert new.old_ends == people.office.clock() + timedelta(hours=1)
    assert len(new.credential.secrets) == 2


async def test_a_secret_cannot_be_collected_after_fifteen_minutes(people: TwoPeople):
    waiting = await people.approve(await people.order())
    people.office.clock.passes(minutes=15)

    assert await refusal(people.collect(waiting)) == "404 no_secret"
    assert await people.every() == []


async def test_a_secret_is_stored_with_who_ordered_and_approved_it(people: TwoPeople):
    """They may not lift an outflow stop of its payouts; a command has no user id."""
    maria, joao = (people.users[each].id for each in ("maria", "joao"))
    made = await people.issue()
    by_two = await people.credentials.rotate(people.staff("maria"), made.client_id, AT_ONCE)
    await people.collect(await people.approve(by_two))
    alone = replace(people.credentials, wait=None)
    other = await alone.issue(people.staff("maria"), people.wanted())
    await alone.rotate(people.office.staff, other.credential.client_id, AT_ONCE)

    rows = await people.office.store.database.rows(
        select(secrets.c.ordered_by, secrets.c.approved_by).order_by(
            secrets.c.client_id == made.client_id, secrets.c.position
        )
    )

    kept = [(row.ordered_by, row.approved_by) for row in rows]
    assert kept == [("", ""), (maria, ""), (maria, joao), (maria, joao)]


async def test_a_secret_is_shown_only_to_its_orderer(people: TwoPeople):
    """The approver of a credential must not be able to pay with it."""
    people.users["joao"] = replace(
        people.users["joao"], roles=people.users["maria"].roles | people.users["joao"].roles
    )
    waiting = await people.approve(await people.order())

    assert await refusal(people.collect(waiting, "joao")) == "404 no_secret"
    assert await people.every() == []
    assert (await people.collect(waiting)).client_secret
    assert await refusal(people.collect(waiting)) == "404 no_secret"


@pytest.mark.parametrize(
    ("old", "new", "waits"),
    [
        (LimitsBody(TEN), LimitsBody(Money(999)), False),
        (LimitsBody(TEN), LimitsBody(TEN, TEN), False),
        (LimitsBody(TEN), LimitsBody(Money(1001)), True),
        (LimitsBody(None, TEN), LimitsBody(), True),
        (LimitsBody(), LimitsBody(None, TEN), False),
        (LimitsBody(TEN, TEN), LimitsBody(None, TEN), True),
        (LimitsBody(), LimitsBody(None, None, TEN, TEN), False),
        (LimitsBody(None, None, TEN), LimitsBody(None, None, Money(1001)), True),
        (LimitsBody(None, None, None, TEN), LimitsBody(), True),
    ],
)
async def test_only_raising_a_limit_needs_approval(
    people: TwoPeople, old: LimitsBody, new: LimitsBody, waits: bool
):
    made = await people.issue(**asdict(old))

    done = await people.credentials.set_limits(people.staff("maria"), made.client_id, new)

    assert isinstance(done, Approval if waits else Credential)
    [stored] = await people.every()
    assert stored.limits == (old if waits else new).limits()
    if waits:
        await people.approve(done)
        [stored] = await people.every()
        assert stored.limits == new.limits()
        assert (await people.office.acts())[-2].actor == "user:maria@example.com"


@pytest.mark.parametrize(
    ("own", "waits"), [(None, False), (Money(999), False), (TEN, False), (Money(1001), True)]
)
async def test_a_nightly_limit_above_the_gateway_s_needs_approval(
    people: TwoPeople, own: Money | None, waits: bool
):
    service = replace(people.credentials, night=Night(per_night=TEN))
    made = await people.issue()

    done = await service.set_limits(
        people.staff("maria"), made.client_id, LimitsBody(limit_per_night=own)
    )

    assert isinstance(done, Approval if waits else Credential)


async def test_removing_a_lower_nightly_limit_needs_approval(
    people: TwoPeople,
):
    service = replace(people.credentials, night=Night(per_night=TEN))
    made = await people.issue(limit_per_night=Money(999))

    done = await service.set_limits(people.staff("maria"), made.client_id, LimitsBody())

    assert isinstance(done, Approval)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (LimitsBody(), "limits_missing"),
        (LimitsBody(TEN), "limits_missing"),
        (LimitsBody(None, TEN), "limits_missing"),
        (LimitsBody(None, None, TEN, TEN), "limits_missing"),
        (LimitsBody(TEN, TEN, unlimited=True), "not_with_limits"),
        (LimitsBody(TEN, TEN), ""),
        (LimitsBody(TEN, unlimited=True), ""),
        (LimitsBody(unlimited=True), ""),
    ],
)
async def test_a_paying_credential_in_production_requires_limits_or_an_explicit_none(
    people: TwoPeople, limits: LimitsBody, reason: str
):
    service = replace(people.credentials, demands_limits=True)
    made = await people.issue()
    who = people.staff("maria")
    deeds = [
        service.issue(who, people.wanted(**asdict(limits))),
        service.set_limits(who, made.client_id, limits),
    ]

    if reason:
        assert [await refusal(each) for each in deeds] == [reason] * 2
    else:
        ordered, _ = [await each for each in deeds]
        assert isinstance(ordered, Approval)


async def test_a_read_only_credential_in_production_requires_no_limits(people: TwoPeople):
    service = replace(people.credentials, demands_limits=True)

    made = await service.issue(people.staff("maria"), people.wanted(READ))

    assert isinstance(made, Issued)


async def test_a_daily_limit_is_proposed_after_thirty_days(people: TwoPeople):
    asked = []

    async def spent(company_id: str, client_id: str, days: Window) -> list[int]:
        asked.append((company_id, client_id, days))
        return [1000, 5000, 2001, 2000]

    service = replace(people.credentials, spent_by_day=spent)
    made, who = await people.issue(), people.staff("maria")

    people.office.clock.passes(days=30, seconds=-1)
    young = await service.limit_proposal(who, made.client_id)
    people.office.clock.passes(seconds=1)
    old = await service.limit_proposal(who, made.client_id)

    assert young == LimitProposal(days=0)
    assert old == LimitProposal(days=4, median_day=Sum(2000), limit_per_day=Money(6001))
    today = people.office.clock().date()
    window = Window(today - 30 * DAY, today - DAY)
    assert asked == [(people.company, made.client_id, window)]


OFFICE = CallerRule(networks=("192.0.2.0/24",))


@pytest.mark.parametrize(
    ("old", "new", "waits"),
    [
        (OFFICE, CallerRule(networks=("192.0.2.7/32",)), False),
        (OFFICE, ANYWHERE, True),
        (ANYWHERE, OFFICE, False),
    ],
)
async def test_only_a_wider_caller_rule_needs_approval(
    people: TwoPeople, old: CallerRule, new: CallerRule, waits: bool
):
    made = await people.issue(callers=old)

    done = await people.credentials.set_callers(people.staff("maria"), made.client_id, new)

    assert isinstance(done, Approval if waits else Credential)
    [stored] = await people.every()
    assert stored.callers == (old if waits else new)
    if waits:
        await people.approve(done)
        [stored] = await people.every()
        assert stored.callers == new


async def test_in_production_a_credential_without_a_rule_is_issued_undecided(people: TwoPeople):
    service = replace(people.credentials, undecided=UNDECIDED, wait=None)
    wanted = CredentialBody(name="ERP", company_id=people.company, permissions=["withdraw:write"])

    made = await service.issue(people.office.staff, wanted)

    assert made.credential.callers == UNDECIDED
    assert made.credential.care(people.office.clock()) == "no_caller_rule"
    decided = await service.set_callers(
        people.office.staff, made.credential.client_id, CallerRule(networks=("192.0.2.77/24",))
    )
    assert decided.callers == OFFICE


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (CallerRule(networks=("0.0.0.0/0",)), "network_form"),
        (CallerRule(networks=("office",)), "network_form"),
        (CallerRule(certificates=("ab",)), "fingerprint_form"),
        (CallerRule(networks=("192.0.2.1",), anywhere=True), "not_with_anywhere"),
        (UNDECIDED, "missing"),
    ],
)
async def test_an_invalid_caller_rule_is_refused(office, issued, rule: CallerRule, reason: str):
    deed = office.credentials.set_callers(office.staff, issued.credential.client_id, rule)

    assert await refusal(deed) == reason


async def test_an_order_for_a_revoked_credential_cannot_be_approved(people: TwoPeople):
    made = await people.issue(limit_per_day=TEN, callers=OFFICE)
    who = people.staff("maria")
    orders = [
        await people.credentials.set_limits(who, made.client_id, LimitsBody()),
        await people.credentials.rotate(who, made.client_id, RotationBody()),
        await people.credentials.set_callers(who, made.client_id, ANYWHERE),
    ]
    await people.office.revoke(made.client_id)

    assert [await refusal(people.approve(each)) for each in orders] == ["revoked"] * 3


CLAMP = LimitsBody(Money(1), Money(1))
HOST = CallerRule(networks=("192.0.2.7/32",))


async def clamped_while_waiting(people: TwoPeople, what: str) -> tuple[Approval, Credential]:
    """Order higher limits or a wider rule, then lower or narrow it at once; return both."""
    made = await people.issue(**asdict(LimitsBody(TEN, TEN)), callers=OFFICE)
    who, admin, client_id = people.staff("maria"), people.office.staff, made.client_id
    service = people.credentials
    waiting: Approval | Credential
    clamped: Approval | Credential
    if what == "limits":
        waiting = await service.set_limits(who, client_id, LimitsBody(Money(1500), TEN))
        clamped = await service.set_limits(admin, client_id, CLAMP)
    else:
        waiting = await service.set_callers(who, client_id, ANYWHERE)
        clamped = await service.set_callers(admin, client_id, HOST)
    assert isinstance(waiting, Approval)
    assert isinstance(clamped, Credential)
    return waiting, clamped


@pytest.mark.parametrize("meanwhile", ["limits", "callers"])
async def test_an_order_is_void_after_a_later_change_of_the_credential(
    people: TwoPeople, meanwhile: str
):
    """One person may lower a limit or narrow a rule in an incident; an older order stays void."""
    waiting, clamped = await clamped_while_waiting(people, meanwhile)

    with pytest.raises(ServiceError) as refused:
        await people.approve(waiting)

    assert refused.value.reason == "void"
    [stored] = await people.every()
    assert (stored.limits, stored.callers) == (clamped.limits, clamped.callers)
    ended = (await people.approvals.get(people.staff("joao"), waiting.id)).approval
    assert (ended.state, ended.reason) == (
        ApprovalState.VOID,
        "The credential has been changed since.",
    )


@pytest.mark.parametrize("meanwhile", ["limits", "callers"])
async def test_a_change_during_the_approval_is_not_overwritten(people: TwoPeople, meanwhile: str):
    waiting, clamped = await clamped_while_waiting(people, meanwhile)

    assert await refusal(people.credentials.carry_out(waiting, people.approvals.text(waiting))) == (
        "changed_meanwhile"
    )
    [stored] = await people.every()
    assert (stored.limits, stored.callers) == (clamped.limits, clamped.callers)


async def test_an_order_is_void_after_a_change_of_the_gateway_s_nightly_limit(people: TwoPeople):
    """Effective limits are compared, including the gateway's own."""
    lower = replace(people.credentials, night=Night(per_night=Money(500)))
    higher = replace(people.credentials, night=Night(per_night=TEN))
    made = await people.issue()
    waiting = await higher.set_limits(
        people.staff("maria"), made.client_id, LimitsBody(limit_per_night=Money(1500))
    )
    assert isinstance(waiting, Approval)
    text = people.approvals.text(waiting)

    assert await higher.check_again(waiting, text) == ""
    assert await lower.check_again(waiting, text) == "The credential has been changed since."


async def test_a_rotation_is_void_after_another_rotation(people: TwoPeople):
    """An older order must not replace the secret that ended a stolen one."""
    made = await people.issue()
    who, admin, client_id = people.staff("maria"), people.office.staff, made.client_id
    waiting = await people.credentials.rotate(who, client_id, RotationBody())

    people.office.clock.passes(seconds=1)
    first = await people.credentials.rotate(admin, client_id, AT_ONCE)
    with pytest.raises(ServiceError) as refused:
        await people.approve(waiting)
    approved = await people.approve(await people.credentials.rotate(who, client_id, AT_ONCE))
    people.office.clock.passes(seconds=1)
    second = await people.credentials.rotate(admin, client_id, AT_ONCE)

    assert refused.value.reason == "void"
    assert await refusal(people.collect(approved)) == "changed_meanwhile"
    assert isinstance(first, Issued)
    assert isinstance(second, Issued)
    [stored] = await people.every()
    assert stored.secrets[0] == second.credential.secrets[0]


async def test_an_order_describes_the_credential_without_a_secret(people: TwoPeople):
    waiting = await people.order(limit_per_day=TEN)

    shown = (await people.approvals.get(people.staff("joao"), waiting.id)).order

    assert shown == {
        "name": "ERP",
        "permissions": ["balance:read", "withdraw:write"],
        "expires_at": "",
        "callers": ANYWHERE,
        "limit_per_day": TEN,
    }

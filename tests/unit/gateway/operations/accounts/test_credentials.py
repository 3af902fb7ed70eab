"""Credentials: issued, rotated, revoked (contract 5.1)."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.domain.accounts.credentials import Permission
from gateway.operations.accounts.credentials import CredentialOrder, Issued
from gateway.operations.kernel.audit_context import RuleViolation
from tests.world.registers import NOON

READ = frozenset({Permission.parse("balance:read")})
ABSENT = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
DAY = timedelta(days=1)


@pytest.fixture
async def company_id(office) -> str:
    return (await office.company("Padaria")).id


@pytest.fixture
async def account_id(office, company_id: str) -> str:
    return (await office.account(company_id)).id


@pytest.fixture
async def issued(office, company_id: str) -> Issued:
    """A credential of the whole company."""
    order = CredentialOrder(name="ERP", company_id=company_id, permissions=READ)
    return await office.credentials.issue(order)


async def opens(office, client_id: str, secret: str) -> bool:
    """Say whether the stored credential takes this secret now."""
    found = await office.store.credentials.find(client_id)
    return office.digester.matches(secret, found.secrets, office.clock())


async def test_the_secret_that_is_shown_opens(office, issued):
    assert await opens(office, issued.credential.client_id, issued.client_secret)


async def test_the_secret_is_stored_nowhere(office, issued):
    stored = repr(await office.credentials.list()) + repr(await office.acts())

    assert issued.client_secret not in stored
    assert issued.client_secret not in repr(issued)


async def test_it_is_listed_for_its_company(office, company_id, issued):
    (listed,) = await office.credentials.list(company_id)

    assert listed == issued.credential
    assert (listed.account_id, listed.permissions, listed.expires_at) == (None, READ, None)


async def test_an_account_says_whose_it_is(office, company_id, account_id):
    order = CredentialOrder(name="ERP", account_id=account_id.upper(), permissions=READ)

    issued = await office.credentials.issue(order)

    assert issued.credential.company_id == company_id
    assert issued.credential.account_id == account_id


async def test_issuing_is_on_record(office, issued):
    *_, act = await office.acts()

    assert act.action == "credential.issued"
    assert act.subject == f"credential:{issued.credential.client_id}"
    assert act.details["permissions"] == "balance:read"


async def test_an_account_of_another_company_is_refused(office, account_id):
    other = await office.company("Outra")
    order = CredentialOrder(
        name="ERP", company_id=other.id, account_id=account_id, permissions=READ
    )

    with pytest.raises(RuleViolation, match="another company"):
        await office.credentials.issue(order)

    assert await office.credentials.list() == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"company_id": ABSENT},
        {"company_id": ""},
        {"account_id": ABSENT},
        {"account_id": "no-uuid"},
        {"expires_at": NOON},
    ],
    ids=str,
)
async def test_an_order_that_does_not_fit_issues_nothing(office, company_id, wrong):
    order = CredentialOrder(name="ERP", company_id=company_id, permissions=READ)

    with pytest.raises(RuleViolation):
        await office.credentials.issue(replace(order, **wrong))

    assert await office.credentials.list() == []


async def test_after_a_rotation_both_secrets_open_for_a_day(office, issued):
    """Two live secrets, so that a rotation needs no downtime."""
    client_id = issued.credential.client_id

    rotated = await office.credentials.rotate(client_id)

    assert rotated.old_ends == NOON + DAY
    assert await opens(office, client_id, issued.client_secret)
    office.clock.passes(hours=24)
    assert not await opens(office, client_id, issued.client_secret)
    assert await opens(office, client_id, rotated.client_secret)


async def test_a_third_live_secret_is_refused(office, issued):
    client_id = issued.credential.client_id
    await office.credentials.rotate(client_id)

    with pytest.raises(RuleViolation, match="2026-11-21T12:00:00Z"):
        await office.credentials.rotate(client_id)

    office.clock.passes(days=1)
    assert (await office.credentials.rotate(client_id)).client_secret


async def test_an_overlap_of_zero_ends_both_secrets_at_once(office, issued):
    """What is done about a leak does not wait for the overlap of the last rotation."""
    client_id = issued.credential.client_id
    second = await office.credentials.rotate(client_id)

    third = await office.credentials.rotate(client_id, timedelta(0))

    opened = [
        await opens(office, client_id, each.client_secret) for each in (issued, second, third)
    ]
    assert opened == [False, False, True]


@pytest.mark.parametrize(
    ("overlap", "possible"),
    [(timedelta(days=30), True), (timedelta(days=30, seconds=1), False), (-DAY, False)],
)
async def test_an_overlap_has_at_most_thirty_days(office, issued, overlap, possible):
    client_id = issued.credential.client_id

    if possible:
        assert (await office.credentials.rotate(client_id, overlap)).old_ends == NOON + overlap
    else:
        with pytest.raises(RuleViolation, match="30 days"):
            await office.credentials.rotate(client_id, overlap)


async def test_a_revoked_credential_is_over(office, issued):
    client_id = issued.credential.client_id

    revoked = await office.credentials.revoke(client_id, "leaked")

    assert revoked.revoked_at == NOON
    assert (await office.store.credentials.find(client_id)).revoked_at == NOON
    *_, act = await office.acts()
    assert (act.action, act.details) == ("credential.revoked", {"reason": "leaked"})


@pytest.mark.parametrize("act", ["rotate", "revoke"])
async def test_what_is_over_stays_over(office, issued, act: str):
    await office.credentials.revoke(issued.credential.client_id)

    with pytest.raises(RuleViolation, match="revoked"):
        await getattr(office.credentials, act)(issued.credential.client_id)


@pytest.mark.parametrize("act", ["rotate", "revoke"])
async def test_what_has_expired_is_not_revived(office, company_id, act: str):
    order = CredentialOrder(
        name="ERP", company_id=company_id, permissions=READ, expires_at=NOON + DAY
    )
    issued = await office.credentials.issue(order)
    office.clock.passes(days=1)

    with pytest.raises(RuleViolation, match="expired"):
        await getattr(office.credentials, act)(issued.credential.client_id)


@pytest.mark.parametrize("act", ["rotate", "revoke"])
async def test_a_credential_that_is_not_there_is_named(office, act: str):
    with pytest.raises(RuleViolation, match="cli_nobody"):
        await getattr(office.credentials, act)("cli_nobody")


async def test_a_client_id_is_taken_once(office, company_id, issued):
    source = replace(office.source, client_id=lambda: issued.credential.client_id)
    order = CredentialOrder(name="Outro", company_id=company_id, permissions=READ)

    with pytest.raises(RuleViolation, match="exists already"):
        await replace(office.credentials, source=source).issue(order)

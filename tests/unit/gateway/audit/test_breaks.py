"""Who may accept a break of the audit log, and what of it; `pixgate audit` does it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import text

from gateway.audit.breaks import AuditBreaks
from gateway.core.audit_context import RuleViolation
from gateway.core.rights import Role
from gateway.core.user import User
from tests.world.registers import NOON, Registers

KEYS = {"k2": b"2" * 32, "k1": b"1" * 32}
ANA, BIA, EVA, IDA, OLGA = (f"{each}@example.com" for each in ("ana", "bia", "eva", "ida", "olga"))


def named(email: str, role: Role, **fields: object) -> User:
    user = User(
        id=email,
        email=email,
        name=email,
        password="",
        roles=frozenset({role}),
        companies=frozenset(),
        created_at=NOON,
        updated_at=NOON,
    )
    return replace(user, **fields)


@pytest.fixture
async def breaks(office: Registers) -> AuditBreaks:
    """A log whose first event was changed, and five people."""
    await office.company("Padaria")
    users = office.store.identity.users
    for user in (
        named(ANA, Role.ADMIN),
        named(BIA, Role.SECURITY),
        named(EVA, Role.OPERATOR),
        named(IDA, Role.ADMIN, companies=frozenset({"c"})),
        named(OLGA, Role.ADMIN, active=False),
    ):
        await users.add(user, office.acting.event("user.created", f"user:{user.id}"))
    await change(office, "x")
    return AuditBreaks(
        audit=office.store.audit, find_user=users.find_by_email, keys=KEYS, now=office.clock
    )


async def change(office: Registers, actor: str) -> None:
    """Change the first event behind the gateway's back."""
    async with office.store.database.writing() as connection:
        await connection.execute(text("DROP TRIGGER IF EXISTS audit_no_update"))
        statement = text("UPDATE audit SET actor = :actor WHERE number = 1")
        await connection.execute(statement, {"actor": actor})


async def test_a_break_is_accepted_with_a_proposal_and_an_approval(breaks: AuditBreaks):
    proposal = await breaks.propose(1, ANA.upper(), "the disk burnt")
    with pytest.raises(ValueError, match="broken at event 1"):
        await breaks.audit.verify()

    found = await replace(breaks, keys={"k3": b"3" * 32, **KEYS}).approve(1, BIA, proposal)

    assert await breaks.audit.verify() == 7
    accepted = (await breaks.audit.accepted())[0]
    assert (accepted.found, accepted.number, accepted.at) == (found, 7, NOON)
    assert (accepted.proposed_by, accepted.approved_by) == (f"user:{ANA}", f"user:{BIA}")
    assert accepted.reason == "the disk burnt"


async def test_an_error_is_named_and_nothing_is_accepted(breaks: AuditBreaks, office: Registers):
    proposal = await breaks.propose(1, ANA, "burnt")
    other_keys = replace(breaks, keys={"k3": b"3" * 32})
    limited = proposal.replace(ANA, IDA)
    attempts = {
        "no active user": breaks.propose(1, "nobody@example.com", "r"),
        f"'{OLGA}' is the e-mail address of no active user": breaks.propose(1, OLGA, "r"),
        f"{EVA} is neither security nor admin": breaks.propose(1, EVA, "r"),
        f"{IDA} is neither security nor admin": breaks.approve(1, IDA, proposal),
        "at event 1, not 2: the audit log is broken at event 1": breaks.propose(2, ANA, "r"),
        "a reason is not empty": breaks.propose(1, ANA, " "),
        f"{ANA} proposed it: a second person approves": breaks.approve(1, ANA, proposal),
        "the proposal was changed, or": breaks.approve(1, BIA, limited),
        "made under a key that is not configured": other_keys.approve(1, BIA, proposal),
        "the proposal was changed": breaks.approve(1, BIA, "[]"),
    }
    wrong = []

    for words, attempt in attempts.items():
        with pytest.raises(RuleViolation) as refused:
            await attempt
        if words not in str(refused.value):
            wrong.append((words, str(refused.value)))
    assert wrong == []

    await change(office, "y")
    with pytest.raises(RuleViolation, match="not the one that was proposed"):
        await breaks.approve(1, BIA, proposal)
    assert await breaks.audit.accepted() == []

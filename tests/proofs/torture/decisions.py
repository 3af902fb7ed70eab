"""What the bank decides by itself: it holds payouts for analysis, and settled ones come back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from sqlalchemy import select

from gateway.app.commands.context import AdminContext, reached
from gateway.app.commands.store import opened_store
from gateway.app.kernel import Kernel
from gateway.app.store import open_store
from gateway.cli.configuration import settings_of
from gateway.core.account import Environment
from gateway.core.audit_context import AuditContext
from gateway.core.money import Money
from gateway.core.windows import Window
from gateway.payouts.model import PayoutState, provider_key
from gateway.payouts.verification import Kind, Verification
from gateway.security.keys import load_keys
from gateway.store.tables.core import payouts, returns
from provider_adapters.testing.bank.control_client import ControlRefused
from tests.proofs.torture.partners import Life
from tests.proofs.torture.sites import Site
from tests.proofs.torture.world import World

_EVERY_S = 0.2
_LONGEST_HOLD_S = 3_600
# Longer than a campaign's clocks are moved on in all.
_DAYS = timedelta(days=10)

Returned = Mapping[str, Sequence[str]]
"""Ids of returns by provider key."""


async def decide(world: World, lives: Sequence[Life], over: asyncio.Event) -> None:
    """Hold some payouts and return some, until it is over."""
    chance = world.chance
    while not over.is_set():
        with suppress(ControlRefused):  # the bank is down, or has not settled the payout
            if chance.random() < 0.3:
                accounts = (await world.control.get("accounts"))["data"]
                seconds = chance.randint(1, _LONGEST_HOLD_S)
                where = chance.choice(accounts)["id"]
                await world.control.post("accounts", where, "hold", body={"seconds": seconds})
                world.tally.others["holds"] += 1
            if world.tells_returns and lives and chance.random() < 0.5:
                life = chance.choice(lives)
                key = provider_key(Environment.SANDBOX, life.account.id, life.reference)
                part = {"value": Money(chance.randint(1, life.centavos))}
                body = part if chance.random() < 0.5 else {}  # else all that is left
                await world.control.post("payouts", key, "return", body=body)
                world.tally.others["returns"] += 1
        await asyncio.sleep(_EVERY_S)


async def compare_returns(world: World) -> Sequence[str]:
    """Verify every site, then name each paid payout whose returns are not those of the bank."""
    if not world.tells_returns:
        return []
    told = await _told(world)
    problems: list[str] = []
    for site in world.sites:
        problems.extend(await _verified(world, site))
        states, kept = await _kept(site)
        for key, state in states.items():
            wanted = sorted(told.get(key, ())) if state is PayoutState.PAID else []
            if sorted(kept.get(key, ())) != wanted:
                problems.append(f"{key} is {state}: returned {wanted}, kept {kept.get(key, ())}")
    world.tally.others["returns compared"] = sum(map(len, told.values()))
    return problems


async def _verified(world: World, site: Site) -> list[str]:
    """Walk the statements of a site's accounts, as ``payouts verify`` does."""

    def now() -> datetime:
        return datetime.now(UTC) + timedelta(seconds=world.offset_s)

    settings = settings_of(site.config)
    async with opened_store(settings, migrate=False) as store:
        kernel = Kernel(settings=settings, store=store, keys=load_keys(settings), now=now)
        office = AdminContext(kernel, AuditContext("torture", now))
        async with reached(office) as banks:
            verification = Verification(
                payouts=store.payouts,
                follow_ups=store.follow_ups,
                banks=banks,
                now=now,
            )
            window = Window((now() - _DAYS).date(), now().date())
            report = await verification.verify(await store.accounts.list(), window)
    wrong = {Kind.RETURNED, Kind.NOT_CHECKED}
    return [f"verified: {each}" for each in report.differences if each.kind in wrong]


async def _told(world: World) -> Returned:
    rows = (await world.control.get("returns"))["data"]
    return _by_key((row["key"], row["id"]) for row in rows)


async def _kept(site: Site) -> tuple[Mapping[str, PayoutState], Returned]:
    """Read the states of a site's payouts, and their stored returns."""
    store = open_store(site.store)
    both = (payouts.c.account_id == returns.c.account_id) & (
        payouts.c.reference_sha256 == returns.c.reference_sha256
    )
    async with store.database.reading() as connection:
        rows = await connection.execute(select(payouts.c.provider_key, payouts.c.state))
        states = {row.provider_key: PayoutState(row.state) for row in rows}
        found = await connection.execute(
            select(payouts.c.provider_key, returns.c.id).join_from(payouts, returns, both)
        )
        kept = _by_key((row.provider_key, row.id) for row in found)
    await store.close()
    return states, kept


def _by_key(pairs: Iterable[tuple[str, str]]) -> Returned:
    found: dict[str, list[str]] = {}
    for key, name in pairs:
        found.setdefault(key, []).append(name)
    return found

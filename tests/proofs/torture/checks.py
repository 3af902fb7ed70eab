"""The final check: the bank's executions, the stores, and the answers to partners must agree."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import func, select

from gateway.app.store import open_store
from gateway.banks.port.providers import Reason
from gateway.core.account import Environment
from gateway.payouts.model import Attempt, Payout, PayoutState, provider_key
from gateway.payouts.rows import restored_attempt, restored_payout
from gateway.store.tables.core import attempts, payouts
from tests.proofs.torture.partners import Life, Partners
from tests.proofs.torture.sites import NAMED
from tests.proofs.torture.world import World

SENT = frozenset({PayoutState.HELD, PayoutState.SENDING})
OPEN = frozenset({PayoutState.HELD, PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.ACCEPTED})
ALL = OPEN | {PayoutState.NOT_SENT}
_FAILED = {PayoutState.REJECTED, PayoutState.FAILED}
_SETTLES_OTHERWISE = {77_712: 77_711}
_READERS = 16

Rows = Mapping[tuple[str, str], Payout]
Executed = Mapping[str, list[int]]


async def unsettled(world: World, states: frozenset[PayoutState]) -> int:
    """Count the rows in one of these states that do not wait for a person."""
    named = [each.value for each in states]
    wanted = select(func.count()).select_from(payouts).where(payouts.c.state.in_(named))
    total = 0
    for site in world.sites:
        store = open_store(site.store)
        async with store.database.reading() as connection:
            total += (await connection.execute(wanted.where(~payouts.c.review))).scalar_one()
        await store.close()
    return total


async def check(world: World, lives: Sequence[Life], partners: Partners) -> None:
    """Note every promise that was not kept."""
    await _read_back(lives, partners)
    rows = await _rows(world)
    executed = await _executed(world)
    violations = world.tally.violations
    for life in lives:
        problems = _judged(life, rows, executed)
        violations.extend(f"{life.reference}: {problem}" for problem in problems)
    known = {_key(life) for life in lives}
    violations.extend(f"executed for nobody: {key}" for key in executed if key not in known)
    ledger = await world.control.get("ledger")
    if not ledger["balanced"]:
        violations.append("the bank's ledger is not balanced")
    for row in rows.values():
        world.tally.ends[_end(row)] += 1
    world.tally.others["executions"] = sum(map(len, executed.values()))
    world.tally.others["references never stored"] = len(lives) - len(rows)
    violations.extend(_strange_failures(world))
    violations.extend(await _without_a_name(world))


async def _read_back(lives: Sequence[Life], partners: Partners) -> None:
    """Read every payout that was ever answered 200."""
    taken = iter([life for life in lives if life.taken])

    async def reader() -> None:
        for life in taken:
            statuses = []
            while len(statuses) < 10 and (not statuses or statuses[-1] != 200):
                statuses.append(await partners.read(life))
            if statuses[-1] != 200:
                life.odd.append(f"was answered 200 and cannot be read: {statuses}")

    await asyncio.gather(*(reader() for _ in range(_READERS)))


def _judged(life: Life, rows: Rows, executed: Executed) -> Iterator[str]:
    """Compare the partner's answers, the stored rows, and the executions."""
    yield from life.odd
    paid = executed.get(_key(life), [])
    row = rows.get((life.account.id, life.reference))
    if len(paid) > 1:
        yield f"executed {len(paid)} times"
    if life.refused and paid:
        yield "refused, and executed"
    if row is None:
        if paid or life.taken:
            yield f"not stored; executed {paid}, taken {life.taken}"
        return
    yield from _judged_row(life, row, paid)


def _judged_row(life: Life, row: Payout, paid: list[int]) -> Iterator[str]:
    expected = [_SETTLES_OTHERWISE.get(life.centavos, life.centavos)]
    if row.state is PayoutState.PAID and paid != expected:
        yield f"paid, and executed {paid}"
    if row.state in _FAILED and paid:
        yield f"{row.state}, and executed {paid}"
    if row.state not in {PayoutState.PAID, *_FAILED} and not row.review:
        yield f"ended as {row.state}"
    if life.seen == "paid" and row.state is not PayoutState.PAID:
        yield f"was shown paid, is {row.state}"
    if life.seen == "failed" and row.state not in _FAILED:
        yield f"was shown failed, is {row.state}"


def _end(row: Payout) -> str:
    """Name how a payout ended, and why a person is wanted where one is."""
    if not row.review:
        return str(row.state)
    other_amount = row.value.centavos in _SETTLES_OTHERWISE
    return f"in review ({'another amount settled' if other_amount else row.state})"


async def _rows(world: World) -> Rows:
    found: dict[tuple[str, str], Payout] = {}
    for site in world.sites:
        store = open_store(site.store)
        async with store.database.writer.connect() as connection:
            for row in await connection.execute(select(payouts)):
                payout = restored_payout(row)
                found[payout.account_id, payout.reference] = payout
        await store.close()
    return found


async def _executed(world: World) -> Executed:
    """Read what the bank really did, by provider key."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for row in (await world.control.get("executions"))["data"]:
        found[_canonical(row["key"])].append(row["centavos"])
    return found


def _key(life: Life) -> str:
    return provider_key(Environment.SANDBOX, life.account.id, life.reference)


def _canonical(key: str | None) -> str:
    """Return a provider key in the gateway's form; some banks take it as a UUID."""
    return (key or "").replace("-", "").lower()


def _strange_failures(world: World) -> Iterator[str]:
    """Find every 500 in the logs that was not the store's, and every mistake of ours."""
    for command in world.gateways:
        lines = command.log.read_text(errors="replace").splitlines()
        for line in lines:
            try:
                said = json.loads(line)
            except ValueError:
                said = None
            if not isinstance(said, dict):
                said = {}
            if said.get("status") == 500 and said.get("reason_id") != "StoreUnavailable":
                yield f"500 in {said.get('route')} by {said.get('reason_id')}: {_told(lines, said)}"
            elif (
                '"unhandled"' in line or "Traceback" in line or "failed: unsettled payouts" in line
            ):
                yield f"logged: {line[:1500]}"


async def _without_a_name(world: World) -> list[str]:
    """Count the tries whose name was not found; each was the named bank's and sent nothing."""
    named = select(attempts).where(attempts.c.evidence.contains(Reason.DNS_FAILED.value))
    problems = []
    for site in world.sites:
        store = open_store(site.store)
        async with store.database.reading() as connection:
            tries = [restored_attempt(row) for row in await connection.execute(named)]
        await store.close()
        world.tally.others["payouts without a name"] += len(tries)
        problems += [f"its name was not found, and yet: {each}" for each in tries if _sent(each)]
    return problems


def _sent(tried: Attempt) -> bool:
    """Might a try have sent something, or is it one that needs no name?"""
    unsent = tried.evidence is not None and not tried.evidence.bytes_left
    return tried.provider != NAMED or tried.outcome is not PayoutState.NOT_SENT or not unsent


def _told(lines: Sequence[str], access: Mapping[str, object]) -> str:
    trace = str(access.get("trace_id"))
    others = (line for line in lines if trace in line and '"access"' not in line)
    return next(others, "nothing else")[:1500]

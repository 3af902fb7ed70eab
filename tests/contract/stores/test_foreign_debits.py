"""Foreign debits on each database: found once, explained once, settled by a later payout."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from gateway.app.store import Store
from gateway.banks.port.capabilities import EntryField
from gateway.banks.port.providers import Bank, Page, ProviderAccount, Unreachable
from gateway.banks.port.statements import Balance, Direction, Entry, MovementKind
from gateway.charges.store import StoredCharges
from gateway.closings.foreign_debits import DebitWatch, ForeignDebits, oldest_readings, open_debits
from gateway.closings.model import ForeignDebit
from gateway.closings.readings import DayReadings
from gateway.closings.service import Closings
from gateway.core.access import Staff
from gateway.core.account import Account
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.money import Money, Sum
from gateway.overview.model import Need
from gateway.overview.store import OverviewRecords
from gateway.payouts.model import PayoutState
from gateway.payouts.store import StoredPayouts
from gateway.process.cache import MemoryCache
from gateway.statements.model import local_day
from gateway.statements.reads import StatementReads
from gateway.statements.service import Statements
from gateway.statements.snapshots import Snapshots
from tests.contract.stores.databases import both
from tests.world.acts import reader
from tests.world.exports import exports
from tests.world.movements import movement
from tests.world.payouts import ScriptedBank
from tests.world.stores.samples import ACCOUNT, NOW, SISTER, account, attempt, change, of, payout

HOUR = timedelta(hours=1)
BEFORE = NOW - HOUR
HELD = account()
FOREIGN = movement(
    provider_id="line-1",
    e2e_id="E-foreign",
    kind=MovementKind.TED,
    description="TED to nobody",
    created_at=BEFORE,
)
OURS = movement(provider_id="line-2", e2e_id="E-ours", created_at=BEFORE)
EXPLAINED = (
    movement(provider_id="line-3", e2e_id="", kind=MovementKind.FEE, created_at=BEFORE),
    movement(provider_id="line-4", kind=MovementKind.PIX_RETURN, created_at=BEFORE),
    movement(provider_id="line-5", direction=Direction.CREDIT, created_at=BEFORE),
)


class Teller(ScriptedBank):
    """A bank with a statement; an exception in its place is raised, None hangs."""

    def tells(self, *entries: Entry) -> Teller:
        self.reads["statement"] = {None: Page(items=entries, next_cursor=None)}
        return self

    async def get_balance(self, account: object) -> Balance:
        return Balance(balance=Money(0), blocked=None, updated_at=None)


class Hanging(Teller):
    async def list_statement(self, *_: object, **__: object) -> Any:
        await asyncio.get_running_loop().create_future()


class Broken(Teller):
    def __init__(self, problem: Exception) -> None:
        super().__init__()
        self.problem = problem

    async def list_statement(self, *_: object, **__: object) -> Any:
        raise self.problem


class Tellers:
    def __init__(self, **adapters: Teller) -> None:
        self.adapters = adapters

    def of(self, account: Account) -> Bank | None:
        adapter = self.adapters.get(account.id)
        known = ProviderAccount(account_id=account.id, provider_account=account.provider_account)
        return Bank(account.provider, adapter, known, False) if adapter else None


def statements(store: Store, banks: Tellers) -> Statements:
    unused: Any = None
    kept = Snapshots(cache=MemoryCache(1 << 20), keep_s=60.0, most_bytes=1 << 20)
    return Statements(
        reads=StatementReads(banks, lambda _event, _label: None, kept),
        readings=unused,
        reports=unused,
        payouts=StoredPayouts(store.database),
        charges=StoredCharges(store.database),
        exports=unused,
    )


def watch(store: Store, banks: Tellers, at: datetime = NOW) -> DebitWatch:
    return DebitWatch(
        providers=("sandbox",),
        accounts=store.accounts,
        statements=statements(store, banks),
        database=store.database,
        now=lambda: at,
    )


def who(name: str = "maria") -> Staff:
    return Staff(AuditContext(f"user:{name}", lambda: NOW + HOUR))


async def shown(store: Store) -> Sequence[ForeignDebit]:
    return await ForeignDebits(store.database).of(who(), HELD, local_day(BEFORE))


async def needed(store: Store, scope: CompanyScope = EVERY_COMPANY) -> list[tuple[str, int, Sum]]:
    standing = await OverviewRecords(store.database).standing(reader(scope), NOW)
    return [
        (each.subject, each.count, each.value)
        for _, each in standing
        if each.need is Need.FOREIGN_DEBIT
    ]


async def paid(store: Store, e2e_id: str) -> None:
    await store.payouts.add(payout(), attempt())
    step = change(PayoutState.SENDING, PayoutState.PAID)
    assert await store.payouts.record(of(step, e2e_id=e2e_id))


@both
async def test_a_debit_without_an_order_is_found_once(store: Store, second: Store) -> None:
    """Not our payouts, fees, refunds or credits; another process does not find it again."""
    await paid(store, "E-ours")
    banks = Tellers(**{ACCOUNT: Teller().tells(FOREIGN, OURS, *EXPLAINED)})

    for each in (store, second):
        await watch(each, banks).turn()

    (found,) = await shown(store)
    assert (found.line_id, found.centavos, found.day) == (
        "line-1",
        FOREIGN.value.centavos,
        local_day(BEFORE),
    )
    assert found.description == "TED to nobody"
    assert await needed(store) == [(f"account:{ACCOUNT}", 1, Sum(FOREIGN.value.centavos))]
    assert await needed(store, CompanyScope(frozenset())) == []
    assert await open_debits(store.database) == {"sandbox": 1}


@both
async def test_a_debit_is_explained_once_and_no_longer_counted(store: Store) -> None:
    banks = Tellers(**{ACCOUNT: Teller().tells(FOREIGN)})
    await watch(store, banks).turn()
    debits = ForeignDebits(store.database)

    await debits.explain(who(), HELD, "line-1", "seizure 12/2026")
    for line, account_ in (("line-1", HELD), ("line-9", HELD)):
        with pytest.raises(RuleViolation, match="open"):
            await debits.explain(who("joao"), account_, line, "again")
    await watch(store, banks, NOW + HOUR).turn()

    (found,) = await shown(store)
    assert (found.settled_by, found.reason) == ("user:maria", "seizure 12/2026")
    assert await needed(store) == []
    closings = Closings(
        database=store.database,
        statements=statements(store, banks),
        exports=exports(),
        readings=DayReadings(store.database, timedelta()),
    )
    day = await closings.read(
        Staff(AuditContext("user:maria", lambda: NOW + 24 * HOUR)), HELD, local_day(BEFORE)
    )
    assert (day.explained, day.differences) == ({"line-1"}, 0)


async def test_a_bank_whose_statement_has_no_payout_keys_is_not_read(store: Store) -> None:
    """Otherwise each of our payouts would count as a foreign debit."""
    bank = Teller().tells(FOREIGN)
    bank.capabilities = replace(bank.capabilities, entry_fields=frozenset({EntryField.KIND}))

    await watch(store, Tellers(**{ACCOUNT: bank})).turn()

    assert (await open_debits(store.database), await oldest_readings(store.database)) == ({}, {})


@both
async def test_no_debit_of_another_account_is_explained(store: Store) -> None:
    await watch(store, Tellers(**{ACCOUNT: Teller().tells(FOREIGN)})).turn()

    with pytest.raises(RuleViolation, match="open"):
        await ForeignDebits(store.database).explain(who(), account(SISTER), "line-1", "mine")

    assert await open_debits(store.database) == {"sandbox": 1}


@both
async def test_a_debit_is_settled_by_a_payout_recorded_later(store: Store) -> None:
    banks = Tellers(**{ACCOUNT: Teller().tells(FOREIGN)})
    await watch(store, banks).turn()
    await paid(store, "E-foreign")

    await watch(store, banks, NOW + HOUR).turn()

    (found,) = await shown(store)
    assert (found.settled_by, found.settled_at) == ("payout:order-1", NOW + HOUR)
    assert await needed(store) == []


async def test_a_young_debit_waits_for_the_answer_to_its_payout(store: Store) -> None:
    young = movement(provider_id="line-1", created_at=NOW - timedelta(minutes=14))
    banks = Tellers(**{ACCOUNT: Teller().tells(young)})

    await watch(store, banks).turn()
    before = await open_debits(store.database)
    await watch(store, banks, NOW + timedelta(minutes=2)).turn()

    assert (before, await open_debits(store.database)) == ({}, {"sandbox": 1})


@pytest.mark.parametrize(
    "other", [Hanging(), Broken(Unreachable("x")), Broken(KeyError("nonsense"))]
)
async def test_a_failing_bank_of_one_account_does_not_affect_others(
    store: Store, other: Teller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read from the same instant later, and shown as unread until then."""
    monkeypatch.setattr("gateway.closings.foreign_debits._PATIENCE_S", 2.0)
    first, then = sorted([ACCOUNT, SISTER])
    found = replace(HELD, id=then)

    await watch(store, Tellers(**{first: other, then: Teller().tells(FOREIGN)})).turn()

    debits = ForeignDebits(store.database)
    assert [each.line_id for each in await debits.of(who(), found, local_day(BEFORE))] == ["line-1"]
    assert await oldest_readings(store.database) == {"sandbox": NOW - 24 * HOUR}

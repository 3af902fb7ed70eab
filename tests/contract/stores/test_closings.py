"""Closings on each database: signed by one person, locked by another, as they were shown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import insert

from gateway.app.store import Store
from gateway.banks.port.providers import Page
from gateway.banks.port.statements import Balance, Entry, MovementKind
from gateway.charges.store import StoredCharges
from gateway.closings.model import Closing, Rule
from gateway.closings.readings import DayReadings
from gateway.closings.service import Closings
from gateway.closings.signed import SignedClosings
from gateway.core import errors
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.rights import Role
from gateway.payouts.store import StoredPayouts
from gateway.process.cache import MemoryCache
from gateway.statements.model import local_day
from gateway.statements.reads import StatementReads
from gateway.statements.service import Statements
from gateway.statements.snapshots import Snapshots
from gateway.store.kernel.structs import row_of
from gateway.store.tables.core import day_closings
from tests.contract.stores.databases import both
from tests.world.exports import exports
from tests.world.movements import movement
from tests.world.payouts import OneBank, ScriptedBank
from tests.world.people import somebody
from tests.world.stores.samples import ACCOUNT, NOW, SISTER, account

DAY = timedelta(days=1)
YESTERDAY = local_day(NOW)
FEE = movement(e2e_id="", kind=MovementKind.FEE, value=Money(99), created_at=NOW)
FOREIGN = movement(e2e_id="E-foreign", kind=MovementKind.PIX, created_at=NOW)
HELD = account()


def who(name: str) -> Staff:
    """Return a user, on the day after."""
    return Staff(AuditContext(f"user:{name}", lambda: NOW + DAY))


class Bank(ScriptedBank):
    def tells(self, *entries: Entry, balances: Sequence[int] = (5_000,)) -> None:
        self.reads["statement"] = {None: Page(items=entries, next_cursor=None)}
        self.balances = list(balances)

    async def get_balance(self, account: object) -> Balance:
        told = self.balances.pop(0) if len(self.balances) > 1 else self.balances[0]
        return Balance(balance=Money(told), blocked=None, updated_at=None)


def closings(store: Store, bank: Bank, rows: int = 100) -> Closings:
    """Return the closings over a store and one bank; nobody asks for files."""
    unused: Any = None
    kept = Snapshots(cache=MemoryCache(1 << 20), keep_s=60.0, most_bytes=1 << 20)
    statements = Statements(
        reads=StatementReads(OneBank(bank), lambda _event, _label: None, kept),
        readings=unused,
        reports=unused,
        payouts=StoredPayouts(store.database),
        charges=StoredCharges(store.database),
        exports=unused,
    )
    return Closings(
        database=store.database,
        statements=statements,
        exports=exports(rows=rows),
        readings=DayReadings(store.database, timedelta()),
    )


@both
async def test_one_user_signs_a_day_and_another_locks_it(store: Store, second: Store) -> None:
    bank = Bank()
    bank.tells(FEE, FOREIGN)
    here, there = closings(store, bank), closings(second, bank)
    seen = await here.read(who("maria"), HELD, YESTERDAY)

    made = await here.sign(who("maria"), HELD, YESTERDAY, seen.digest)
    for name in ("maria", "joao"):
        with pytest.raises(RuleViolation, match="signed already"):
            await there.sign(who(name), HELD, YESTERDAY, seen.digest)
    with pytest.raises(RuleViolation, match="another person"):
        await there.lock(who("maria"), HELD, YESTERDAY, seen.digest)
    await there.lock(who("joao"), HELD, YESTERDAY, seen.digest)
    with pytest.raises(RuleViolation, match="once"):
        await here.lock(who("ana"), HELD, YESTERDAY, seen.digest)

    (kept,) = await here.signed(who("maria"), HELD, YESTERDAY)
    assert kept == Closing(
        **{
            **{name: getattr(made, name) for name in made.__struct_fields__},
            "locked_by": "user:joao",
            "locked_at": NOW + DAY,
        }
    )
    assert (kept.closing, kept.fees, kept.differences) == (5_000, 99, 1)
    assert kept.opening == 5_000 + 99 + FOREIGN.value.centavos
    assert [each.e2e_id for each in seen.lines if each.rule is Rule.BANK_ONLY] == ["E-foreign"]


@both
async def test_movements_of_a_day_are_counted_as_they_are_shown(store: Store) -> None:
    """Each names a counterparty. Signing shows none."""
    bank = Bank()
    bank.tells(FEE, FOREIGN)
    made = closings(store, bank, rows=2)
    acting, person = who("maria").acting, somebody(*Role, factor_at=NOW + DAY)
    maria = Staff(acting, person=person)

    seen = await made.read(maria, HELD, YESTERDAY)
    with pytest.raises(ServiceError) as refusal:
        await made.read(maria, HELD, YESTERDAY)

    assert refusal.value.error is errors.TOO_MANY_REQUESTS
    assert await made.sign(maria, HELD, YESTERDAY, seen.digest)


@both
async def test_figures_that_changed_after_display_are_not_signed(store: Store) -> None:
    bank = Bank()
    bank.tells(FEE)
    made = closings(store, bank)
    seen = await made.read(who("maria"), HELD, YESTERDAY)
    bank.tells(FEE, FOREIGN)

    with pytest.raises(RuleViolation, match="as it was shown"):
        await made.sign(who("maria"), HELD, YESTERDAY, seen.digest)

    assert await made.signed(who("maria"), HELD, YESTERDAY) == []


@both
async def test_a_day_changed_before_its_lock_must_be_signed_again(store: Store) -> None:
    bank = Bank()
    bank.tells(FEE, FOREIGN)
    made = closings(store, bank)
    old = await made.read(who("maria"), HELD, YESTERDAY)
    await made.sign(who("maria"), HELD, YESTERDAY, old.digest)
    bank.tells(FEE)
    new = await made.read(who("maria"), HELD, YESTERDAY)

    await made.sign(who("joao"), HELD, YESTERDAY, new.digest)
    await made.lock(who("maria"), HELD, YESTERDAY, new.digest)

    bank.tells(FEE, FOREIGN)
    with pytest.raises(RuleViolation, match="signed already"):
        await made.sign(who("joao"), HELD, YESTERDAY, old.digest)
    (kept,) = await made.signed(who("maria"), HELD, YESTERDAY)
    assert (kept.digest, kept.differences, kept.signed_by) == (new.digest, 0, "user:joao")


@both
async def test_figures_are_shown_only_while_the_balance_is_stable(store: Store) -> None:
    bank = Bank()
    made = closings(store, bank)
    bank.tells(FEE, balances=(1, 2, 3, 3))
    quiet = await made.read(who("maria"), HELD, YESTERDAY)
    bank.tells(FEE, balances=(1, 2, 3, 4))
    busy = await made.read(who("maria"), HELD, YESTERDAY)

    assert quiet.figures is not None
    assert quiet.figures.closing == 3
    assert busy.figures is None
    assert busy.lines == quiet.lines
    with pytest.raises(RuleViolation):
        await made.sign(who("maria"), HELD, YESTERDAY, busy.digest)


@both
@pytest.mark.parametrize("days", [-1, 90, 400])
async def test_a_day_that_is_not_over_or_too_old_is_refused(store: Store, days: int) -> None:
    bank = Bank()
    bank.tells(FEE)

    with pytest.raises(RuleViolation, match="within 90 days"):
        await closings(store, bank).read(
            who("maria"), HELD, YESTERDAY + DAY - timedelta(days=days + 1)
        )


@both
async def test_a_partner_reads_a_day_as_it_was_signed(store: Store) -> None:
    """Not as the bank shows it by now; a day that nobody signed is none."""
    bank, signed = Bank(), SignedClosings(store.database)
    bank.tells(FEE, FOREIGN)
    made = closings(store, bank)
    seen = await made.read(who("maria"), HELD, YESTERDAY)
    with pytest.raises(ServiceError) as refusal:
        await signed.read(HELD, YESTERDAY)

    await made.sign(who("maria"), HELD, YESTERDAY, seen.digest)
    bank.tells(FEE)
    found = await signed.read(HELD, YESTERDAY)
    bank.tells(FEE, FOREIGN)
    await made.lock(who("joao"), HELD, YESTERDAY, seen.digest)

    assert refusal.value.error is errors.CLOSING_NOT_FOUND
    assert seen.figures is not None
    assert (found.opening, found.closing) == (seen.figures.opening, seen.figures.closing)
    assert (found.signed_at, found.locked_at) == (NOW + DAY, None)
    assert (await signed.read(HELD, YESTERDAY)).locked_at == NOW + DAY
    for account_id, day in ((SISTER, YESTERDAY), (ACCOUNT, YESTERDAY - DAY)):
        with pytest.raises(ServiceError):
            await signed.read(account(account_id), day)


@both
async def test_a_day_behind_the_last_31_is_still_shown_as_signed(store: Store) -> None:
    bank = Bank()
    bank.tells(FEE)
    made = closings(store, bank)
    seen = await made.read(who("maria"), HELD, YESTERDAY)
    first = await made.sign(who("maria"), HELD, YESTERDAY, seen.digest)
    later = [replace(first, day=YESTERDAY + number * DAY) for number in range(1, 33)]
    await store.database.write(insert(day_closings), [row_of(each) for each in later])

    newest = [each.day for each in later[:0:-1]]
    kept = await made.signed(who("maria"), HELD, YESTERDAY)
    assert [each.day for each in kept] == [*newest, YESTERDAY]
    unsigned = await made.signed(who("maria"), HELD, YESTERDAY - DAY)
    assert [each.day for each in unsigned] == newest

"""Days of accounts at scripted banks: what several tests of closings share."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from gateway.app.store import Store
from gateway.banks.port.providers import Bank, Page, ProviderAccount
from gateway.banks.port.statements import Balance, Direction, Entry, MovementKind
from gateway.charges.store import StoredCharges
from gateway.closings.days import ClosingDays
from gateway.closings.foreign_debits import ForeignDebits
from gateway.closings.model import ForeignDebit
from gateway.closings.packages import ClosingPackages
from gateway.closings.readings import DayReadings
from gateway.closings.reconciliation import Reconciliation
from gateway.closings.service import Closings
from gateway.core.access import Staff
from gateway.core.account import Account, Environment
from gateway.core.audit_context import AuditContext
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.exports import Exports
from gateway.core.money import Money, Sum
from gateway.core.windows import Window
from gateway.payouts.store import StoredPayouts
from gateway.process.cache import MemoryCache
from gateway.statements.model import local_day
from gateway.statements.reads import StatementReads
from gateway.statements.reports import Reports
from gateway.statements.service import Statements
from gateway.statements.snapshots import Snapshots
from gateway.store.kernel.structs import row_of
from gateway.store.tables.core import foreign_debits
from tests.world.exports import exports
from tests.world.movements import movement
from tests.world.payouts import ScriptedBank
from tests.world.stores.samples import ACCOUNT, NOW, SISTER, account

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
FEE = movement(e2e_id="", kind=MovementKind.FEE, value=Money(99), created_at=NOW)
CAME_IN = movement(
    provider_id="in-1", e2e_id="E-in", direction=Direction.CREDIT, value=Money(7_00), created_at=NOW
)
FOREIGN = movement(
    provider_id="ted-1", e2e_id="", is_pix=False, kind=MovementKind.TED, created_at=NOW
)
MORNING = datetime(2026, 11, 21, 9, 30, tzinfo=NOW.tzinfo)
"""Half past six of the next day in São Paulo: the day of ``NOW`` is read."""
NINE = datetime(2026, 11, 21, 12, 0, tzinfo=NOW.tzinfo)
"""Nine o'clock there."""


@dataclass
class Books(ScriptedBank):
    """
    A bank that shows the movements of a window, and the balance that follows from all of them.

    Attributes:
        opened_with: The balance before the first movement, in centavos.
        problem: Raised by each call.
        hangs: No call is answered.
    """

    entries: list[Entry] = field(default_factory=list)
    opened_with: int = 100_000
    problem: Exception | None = None
    hangs: bool = False

    async def get_balance(self, account: object) -> Balance:
        await self._answer()
        moved = sum(
            each.value.centavos * (1 if each.direction is Direction.CREDIT else -1)
            for each in self.entries
        )
        return Balance(balance=Sum(self.opened_with + moved), blocked=None, updated_at=None)

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        await self._answer()
        shown = [each for each in self.entries if window.start <= each.created_at < window.end]
        newest_first = sorted(shown, key=lambda each: each.created_at, reverse=True)
        return Page(items=tuple(newest_first), next_cursor=None)

    async def _answer(self) -> None:
        if self.hangs:
            await asyncio.get_running_loop().create_future()
        if self.problem is not None:
            raise self.problem


@dataclass
class Office:
    """
    The closings of a store, its banks, and the clock of all of them.

    Attributes:
        books: The bank's book of each account, by id.
        counted: Outcomes of readings.
    """

    store: Store
    books: Mapping[str, Books] = field(default_factory=lambda: {ACCOUNT: Books(), SISTER: Books()})
    now: datetime = MORNING
    one_signature: bool = False
    counted: list[str] = field(default_factory=list)
    together: int = 200
    turn_s: float = 60.0

    def of(self, account: Account) -> Bank | None:
        """Return an account's bank, as ``Banks`` does."""
        adapter = self.books.get(account.id)
        known = ProviderAccount(account_id=account.id, provider_account=account.provider_account)
        return Bank(account.provider, adapter, known, False) if adapter else None

    def who(self, name: str = "maria", scope: CompanyScope = EVERY_COMPANY) -> Staff:
        return Staff(AuditContext(f"user:{name}", lambda: self.now), scope)

    @property
    def exports(self) -> Exports:
        return exports()

    @property
    def statements(self) -> Statements:
        unused: Any = None
        kept = Snapshots(cache=MemoryCache(1 << 20), keep_s=60.0, most_bytes=1 << 20)
        return Statements(
            reads=StatementReads(self, lambda _event, _label: None, kept),
            readings=unused,
            reports=Reports(
                banks=self,
                pages=unused,
                environment=Environment.SANDBOX,
                now=lambda: self.now,
            ),
            payouts=StoredPayouts(self.store.database),
            charges=StoredCharges(self.store.database),
            exports=self.exports,
        )

    @property
    def readings(self) -> DayReadings:
        return DayReadings(self.store.database, 6 * HOUR)

    @property
    def closings(self) -> Closings:
        return Closings(
            database=self.store.database,
            statements=self.statements,
            exports=self.exports,
            readings=self.readings,
            one_signature=self.one_signature,
        )

    @property
    def days(self) -> ClosingDays:
        return ClosingDays(
            database=self.store.database,
            exports=self.exports,
            one_signature=self.one_signature,
            together=self.together,
        )

    @property
    def packages(self) -> ClosingPackages:
        return ClosingPackages(
            database=self.store.database, statements=self.statements, exports=self.exports
        )

    async def turn(self) -> Sequence[str]:
        """Let the worker read what is due; return the outcomes."""
        before = len(self.counted)
        await Reconciliation(
            providers=("sandbox",),
            banks=self,
            closings=self.closings,
            readings=self.readings,
            at_once=lambda _provider: 2,
            count=lambda _event, label: self.counted.append(label),
            now=lambda: self.now,
            turn_s=self.turn_s,
        ).turn()
        return [each.removeprefix("sandbox.") for each in self.counted[before:]]

    async def explain(self) -> None:
        """Let a person explain the foreign debit of the account's day."""
        debit = ForeignDebit(
            account_id=ACCOUNT,
            line_id=FOREIGN.provider_id,
            day=local_day(NOW),
            at=FOREIGN.created_at,
            centavos=FOREIGN.value.centavos,
            name="",
            description="",
            e2e_id="",
            provider_key="",
            found_at=NOW,
        )
        async with self.store.database.writing() as connection:
            await self.store.database.add(connection, foreign_debits, row_of(debit))
        debits = ForeignDebits(self.store.database)
        await debits.explain(self.who("joao"), account(), FOREIGN.provider_id, "ofício 12")

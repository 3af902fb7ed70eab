"""
Moves a company from one cell to another: stop, wait, copy, compare, leave, switch, resume.

Each step may be repeated, and the process may be killed anywhere: what is done next follows from
what both databases hold. The company is in force in the cell that it comes from until its rows
leave it in one transaction; by then they are committed, and compared, in the other.

==================  ===================  ========================================================
in the source       in the target        what a repetition does
==================  ===================  ========================================================
is there            is not there         everything
is there            arriving             copies anew, since rows may have changed
has left            arriving             writes the map, resumes payouts
has left            arrived              nothing
is there            arrived              deletes the rows that a restore brought back to the source
==================  ===================  ========================================================
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.audit import store as audit_log
from gateway.cells import transfer
from gateway.cells.routing import ARRIVING
from gateway.companies.service import find_company
from gateway.core.access import Staff
from gateway.core.account import Environment
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import RuleViolation
from gateway.core.change_feed import STOPPED
from gateway.core.company_scope import StopScope
from gateway.core.errors import ServiceError
from gateway.stops.model import Stop, StopRequest
from gateway.stops.service import Stops, stops_in_force
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import Record
from gateway.store.tables.core import accounts, company_moves, credentials

if TYPE_CHECKING:
    import asyncpg

ARRIVED: Final = "arrived"
LEFT: Final = "left"
RETURNED: Final = "returned"
"""No journal says so: a restore of the source brought back what had left it."""
_STOPPED_MIN: Final = 24 * 60
_MOVES: Final = company_moves.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """
    One of the two cells.

    Attributes:
        keys: The ids of its sealing keys and peppers, by purpose.
        known_keys: Those of them that each of its live processes has, too.
        providers: The adapter of each configured provider.
    """

    name: str
    environment: Environment
    database: Database
    stops: Stops
    staff: Staff
    keys: Mapping[str, frozenset[str]]
    known_keys: Mapping[str, frozenset[str]]
    providers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Step:
    """One step, as it is printed."""

    step: str
    what: str


class PatienceOver(Exception):
    """Payouts were under way for longer than the operator waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """
    A company's way from one cell to another.

    Attributes:
        others: The databases of all other cells, by name.
        hold: Leads a company's requests to no server until ``switch``: HAProxy answers 503.
        switch: Writes the map as the databases then are.
        say: Prints a step.
        wait: Waits before the payouts are counted again; raises where the patience is over.
        settle: Waits until each process of the target has forgotten what it knew before the copy.
        passed: Called between the steps; tests end the process in it.
    """

    company: str
    source: Side
    target: Side
    others: Mapping[str, Database]
    hold: Callable[[str], Awaitable[None]]
    switch: Callable[[], Awaitable[object]]
    say: Callable[[Step], None]
    wait: Callable[[], Awaitable[None]]
    settle: Callable[[], Awaitable[None]]
    passed: Callable[[str], None]

    @property
    def reason(self) -> str:
        """The reason of the stop, by which a repetition finds it."""
        return f"moves from cell {self.source.name} to cell {self.target.name}"

    async def plan(self) -> Sequence[Step]:
        """Return what is left to do; raises ``RuleViolation`` as ``run``."""
        state = await self._state()
        if state == ARRIVED:
            return [Step("done", f"the company is in {self.target.name}")]
        end = [
            Step("switch", "HAProxy's map leads its credentials and accounts there"),
            Step("resume", f"the stop is lifted in {self.target.name}"),
        ]
        if state == LEFT:
            return end
        if state == RETURNED:
            return [
                Step("compare", f"{self.target.name} has each payout of the company"),
                Step("leave", f"the rows that a restore brought back to {self.source.name} go"),
                end[0],
            ]
        counted = await self._open()
        waiting = ", ".join(f"{rows} {what}" for what, rows in counted.items()) or "nothing"
        return [
            Step("stop", f"payouts of the company stop in {self.source.name}; reads go on"),
            Step("wait", f"until none is under way (now: {waiting})"),
            *(
                Step("copy", f"{name}: {content.rows} rows")
                for name, content in (await self._contents()).items()
                if content.rows
            ),
            Step("compare", "rows, sums and digests of each table"),
            Step("leave", f"the rows are deleted in {self.source.name}, in one transaction"),
            *end,
        ]

    async def run(self) -> Sequence[Step]:
        """
        Do what is left to do; return what is so in the end.

        Raises:
            RuleViolation: the cells do not fit together, or hold something else than a move
                leaves behind.
            PatienceOver: something is under way still; the stop stays.
            StoreUnavailable: a database does not answer; repeat.
        """
        state = await self._state()
        if state in {ARRIVED, RETURNED}:
            if state == RETURNED:
                await self._leave_again()
            await self.switch()
            return await self.plan()
        if state != LEFT:
            await self._stop()
            self.passed("after_stop")
            try:
                while not await self._transferred():
                    await self.wait()
            except BaseException:
                await self.switch()  # the company is in force where it was
                raise
            self.passed("after_leaving")
        await self.switch()
        self.say(Step("switch", "the map is in force"))
        self.passed("after_map")
        await self._resume()
        self.passed("after_resume")
        return await self.plan()

    async def _state(self) -> str:
        """Return how far it is: "", or one of the words above."""
        await self._refuse_others()
        here = await find_company(self.source.database, self.company)
        there = await find_company(self.target.database, self.company)
        noted = await self._noted(self.target)
        state: str = noted.state if noted is not None else ""
        if state == ARRIVING and noted is not None and noted.source != self.source.name:
            state = ""
        match here is not None, there is not None, state:
            case True, False, _:
                await self._check()
                return ""
            case True, True, word if word == ARRIVING:
                await self._check()
                return ARRIVING
            case True, True, word if word == ARRIVED:
                return RETURNED
            case False, True, word if word in {ARRIVING, ARRIVED}:
                return LEFT if word == ARRIVING else ARRIVED
            case False, False, _:
                problem = f"neither cell has the company {self.company}"
            case _:
                problem = f"{self.target.name} has the company {self.company} by no such move"
        raise RuleViolation(problem)

    async def _refuse_others(self) -> None:
        """Refuse a company that another cell has, or that still moves to the source."""
        if self.source.name == self.target.name:
            problem = "a company moves between two cells"
            raise RuleViolation(problem)
        noted = await self._noted(self.source)
        if noted is not None and noted.state == ARRIVING:
            problem = f"the company is still moving from {noted.source} to {noted.target}"
            raise RuleViolation(problem)
        for name, database in self.others.items():
            if await find_company(database, self.company) is not None:
                problem = f"{name} has the company, too: end its move there first"
                raise RuleViolation(problem)

    async def _check(self) -> None:
        """Refuse a target that could not read the company's rows, or reach its banks."""
        if self.source.environment is not self.target.environment:
            problem = "one cell is production, the other is not"
            raise RuleViolation(problem)
        for purpose, ids in self.source.keys.items():
            if lacking := ids - self.target.known_keys[purpose]:
                problem = (
                    f"{self.target.name} lacks the {purpose} key {min(lacking)} of "
                    f"{self.source.name}: stage it there first (docs/cells.md)"
                )
                raise RuleViolation(problem)
        known = {(each.scope, each.subject) for each in await self._wide_stops(self.target)}
        for each in await self._wide_stops(self.source):
            if (each.scope, each.subject) not in known:
                what = f"{each.scope} {each.subject}".strip()
                problem = f"{self.source.name} has a stop of {what} that {self.target.name} lacks"
                raise RuleViolation(problem)
        used = select(accounts.c.provider).where(accounts.c.company_id == self.company).distinct()
        for row in await self.source.database.rows(used):
            ours = self.source.providers.get(row.provider)
            if ours is not None and self.target.providers.get(row.provider) != ours:
                problem = f"{self.target.name} has no provider {row.provider} of adapter {ours}"
                raise RuleViolation(problem)

    async def _wide_stops(self, side: Side) -> Sequence[Stop]:
        """Return the stops in force of a whole provider or of everything: they do not move."""
        found = await stops_in_force(side.database, side.staff.acting.now())
        return [each for each in found if each.is_wide]

    async def _stop(self) -> None:
        """Stop the company's payouts, unless an earlier run did."""
        stops = await self._own_stops(self.source)
        if not stops:
            wanted = StopRequest(
                scope=StopScope.COMPANY,
                reason=self.reason,
                subject=self.company,
                minutes=_STOPPED_MIN,
            )
            await self.source.stops.create(self.source.staff, wanted)
        self.say(Step("stop", f"payouts of the company are stopped in {self.source.name}"))

    async def _own_stops(self, side: Side) -> Sequence[str]:
        """Return the ids of this move's stops that are in force."""
        found = await stops_in_force(side.database, side.staff.acting.now())
        return [
            each.id for each in found if (each.subject, each.reason) == (self.company, self.reason)
        ]

    async def _open(self) -> Mapping[str, int]:
        async with self._opened(self.source) as (_, driver):
            return await transfer.under_way(driver, self.company, self._now())

    async def _contents(self) -> transfer.Contents:
        async with self._opened(self.source) as (_, driver):
            return await transfer.contents(driver, self.company)

    def _now(self) -> datetime:
        return self.source.staff.acting.now()

    async def _noted(self, side: Side) -> Record | None:
        """Return what a cell has noted of the company's last move."""
        wanted = select(company_moves).where(_MOVES.company_id == self.company)
        return await side.database.first(wanted)

    async def _transferred(self) -> bool:
        """
        Copy, compare and leave; False where something is under way still, and nothing was done.

        The source's rows are locked from before the copy until they are gone.
        """
        if counted := await self._open():
            self._say_waiting(counted)
            return False
        async with self._opened(self.source) as (leaving, source):
            await transfer.lock(source, self.company)
            if counted := await transfer.under_way(source, self.company, self._now()):
                self._say_waiting(counted)
                return False
            before = await transfer.contents(source, self.company)
            records = await self._records(leaving)
            await self._arrive(leaving, source, before, records)
            self.passed("after_copy")
            await self.settle()  # stops that came along are in force there before it is served
            await self.hold(self.company)
            await self._leave(leaving, source, before, records)
        self.say(Step("leave", f"the rows are gone from {self.source.name}"))
        return True

    async def _arrive(
        self,
        leaving: AsyncConnection,
        source: asyncpg.Connection,
        before: transfer.Contents,
        records: Sequence[str],
    ) -> None:
        """Commit a copy in the target that holds the same; it replaces one of an earlier run."""
        noted = await self._noted(self.target)
        async with self._opened(self.target) as (arriving, target):
            await transfer.lock(target, self.company)
            known = await transfer.contents(target, self.company)
            if known["companies"].rows and (noted is None or noted.digest != _digest(known)):
                problem = f"payouts of the company changed in {self.target.name} since the copy"
                raise RuleViolation(problem)
            await transfer.clear(target, self.company)
            await transfer.copy(source, target, self.company)
            after = await transfer.contents(target, self.company)
            if tables := transfer.different(before, after):
                problem = f"after the copy {', '.join(tables)} differ: nothing was changed"
                raise RuleViolation(problem)
            await transfer.copy_figures(leaving, arriving, self.company)
            await self._note(arriving, self.target, ARRIVING, _digest(after))
            await audit_log.append(arriving, *self._events(self.target, "arrived", after, records))
        rows = sum(each.rows for each in after.values())
        self.say(Step("copy", f"{rows} rows of {len(after)} tables are in {self.target.name}"))
        self.say(Step("compare", "rows, sums and digests of each table are the same"))

    async def _leave_again(self) -> None:
        """Delete rows that a restore brought back; raises where the target lacks a payout."""
        async with self._opened(self.source) as (leaving, source):
            await transfer.lock(source, self.company)
            async with self._opened(self.target) as (_, target):
                lacking = await transfer.payouts_lacking(source, target, self.company)
            if lacking:
                problem = f"{self.target.name} lacks {lacking} payouts that {self.source.name} has"
                raise RuleViolation(problem)
            before = await transfer.contents(source, self.company)
            await self._leave(leaving, source, before, await self._records(leaving))
        self.say(Step("leave", f"the rows are gone from {self.source.name}"))

    async def _leave(
        self,
        leaving: AsyncConnection,
        source: asyncpg.Connection,
        before: transfer.Contents,
        records: Sequence[str],
    ) -> None:
        """Delete the company's rows, as they were locked and counted before."""
        gone = await transfer.clear(source, self.company)
        if any(before[name].rows != rows for name, rows in gone.items()):
            problem = f"rows of the company changed in {self.source.name} meanwhile: repeat"
            raise RuleViolation(problem)
        await transfer.clear_figures(leaving, self.company)
        await self._note(leaving, self.source, LEFT)
        await audit_log.append(leaving, *self._events(self.source, "left", before, records))

    async def _resume(self) -> None:
        """Lift the stop in the target; the move is over."""
        side = self.target
        for stop_id in await self._own_stops(side):
            with suppress(ServiceError):  # it has ended since
                await side.stops.lift(side.staff, stop_id)
        async with side.database.writing() as connection:
            over = {"state": ARRIVED, "ended_at": side.staff.acting.now()}
            ended = update(company_moves).where(_MOVES.company_id == self.company).values(over)
            await connection.execute(ended)
            await audit_log.append(connection, self._event(side, "moved", {}))
        self.say(Step("resume", f"payouts of the company go on in {side.name}"))

    async def _note(
        self, connection: AsyncConnection, side: Side, state: str, digest: str = ""
    ) -> None:
        """Note how far the move is, in place of the company's last one."""
        row = {
            "company_id": self.company,
            "source": self.source.name,
            "target": self.target.name,
            "state": state,
            "digest": digest,
            "began_at": side.staff.acting.now(),
            "ended_at": side.staff.acting.now() if state == LEFT else None,
        }
        await connection.execute(delete(company_moves).where(_MOVES.company_id == self.company))
        await connection.execute(insert(company_moves), row)

    async def _records(self, leaving: AsyncConnection) -> Sequence[str]:
        """Return the records that processes of both cells may remember, as audit subjects."""
        own = accounts.c.company_id == self.company
        ids = (await leaving.execute(select(accounts.c.id).where(own))).scalars()
        issued = credentials.c.company_id == self.company
        clients = (await leaving.execute(select(credentials.c.client_id).where(issued))).scalars()
        return [*(f"account:{each}" for each in ids), *(f"credential:{each}" for each in clients)]

    def _events(
        self, side: Side, what: str, held: transfer.Contents, records: Sequence[str]
    ) -> Sequence[AuditEvent]:
        """Return the acts by which processes forget records and stops, and of the company."""
        content = held["payouts"]
        told = {"payouts": f"{content.rows}", "centavos": f"{content.centavos or 0}"}
        company = self._event(side, what, {**told, "digest": content.digest})
        return [
            company,
            *([replace(company, action=STOPPED)] if side is self.target else []),
            *(
                replace(company, action=f"{subject.partition(':')[0]}.{what}", subject=subject)
                for subject in records
            ),
        ]

    def _event(self, side: Side, what: str, told: Mapping[str, str]) -> AuditEvent:
        ways = {"from": self.source.name, "to": self.target.name}
        event = side.staff.acting.event(
            f"company.{what}", f"company:{self.company}", {**ways, **told}
        )
        return replace(event, companies=frozenset({self.company}))

    def _say_waiting(self, counted: Mapping[str, int]) -> None:
        waiting = ", ".join(f"{rows} {what}" for what, rows in counted.items())
        self.say(Step("wait", f"under way: {waiting}"))

    @asynccontextmanager
    async def _opened(
        self, side: Side
    ) -> AsyncIterator[tuple[AsyncConnection, asyncpg.Connection]]:
        """Open a transaction, with the driver's connection in it."""
        async with side.database.writing() as connection:
            yield connection, await transfer.prepare(connection)


def _digest(held: transfer.Contents) -> str:
    return held["payouts"].digest

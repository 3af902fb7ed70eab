"""
Payouts that are due for a check, and which process checks them.

A claim is a lease on the row, not a lock. When a process dies with one, another takes over after
the lease ends. Two checks at once do no harm: they only read at the bank, and their steps are
compare-and-set.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import case, func, select, update

from gateway.payouts.checks import CheckWriter
from gateway.payouts.due import (
    ACCOUNTS_DUE,
    ANY_DUE,
    BACKLOG,
    SCANNED,
    TRACE_ID,
    claiming,
    free,
    instants,
    recalling,
)
from gateway.payouts.model import Payout, PayoutState
from gateway.payouts.rows import key_columns, restored_payout
from gateway.payouts.schedule import Backlog, Checked, DueAccount, DueClaim, ProbeClaim
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import Record
from gateway.store.tables.core import UNRESOLVED, attempts, payouts
from gateway.telemetry.records import Unsettled

_log = logging.getLogger(__name__)

_IN_DOUBT = payouts.c.state == PayoutState.UNKNOWN.value
_UNRESOLVED = select(payouts, TRACE_ID).where(UNRESOLVED).order_by(payouts.c.created_at)
_STANDING = (
    select(
        payouts.c.provider,
        func.sum(case((_IN_DOUBT, 1), else_=0)).label("unresolved"),
        func.min(case((_IN_DOUBT, payouts.c.created_at))).label("oldest_at"),
        func.sum(case((payouts.c.review, 1), else_=0)).label("review"),
    )
    .where(UNRESOLVED)
    .group_by(payouts.c.provider)
)


def _untold(_provider: str) -> None:
    """Count nothing."""


class StoredFollowUps:
    """
    Payouts that must be looked at again; any number of processes may share the work.

    A payout that cannot be read, such as one with a word of a newer release, is left out and
    logged: it keeps no other from its look. Its claim ends by itself.

    Attributes:
        on_unreadable: Told the provider of each such payout, every time.
    """

    def __init__(self, database: Database) -> None:
        self.on_unreadable: Callable[[str], None] = _untold
        self._database = database
        self._checks = CheckWriter(database)
        self._after = ""

    async def due(self, now: datetime) -> Sequence[DueAccount]:
        """
        Return accounts with payouts that are due and free, those due longest first.

        Some of them, where very many accounts have unsettled payouts; the next call goes on.
        """
        async with self._database.reading() as connection:
            asked = instants(now)
            if (await connection.execute(ANY_DUE, asked)).first() is None:
                return []
            began, found = self._after, list[DueAccount]()
            while not found:
                rows = (
                    await connection.execute(ACCOUNTS_DUE, {**asked, "after": self._after})
                ).all()
                found = [DueAccount(**row._asdict()) for row in rows if row.due_at is not None]
                self._after = _behind(rows)
                if not self._after and not began:
                    break
                if not self._after:
                    # What is due may belong to accounts before the place where this began.
                    began = ""
        return sorted(found, key=lambda each: each.due_at)

    async def claim_due(self, wanted: DueClaim) -> Sequence[Payout]:
        """Claim what is due and free, what is due longest first; by one atomic update."""
        statement, asked = claiming(wanted)
        async with self._database.writing() as connection:
            rows = (await connection.execute(statement, asked)).all()
        return list(self._readable(sorted(rows, key=_next_check)))

    async def backlog(self, now: datetime) -> Sequence[Backlog]:
        """Count what is due and free, by provider; one that has nothing of it is left out."""
        rows = await self._database.rows(BACKLOG, instants(now))
        return [Backlog(**row._asdict()) for row in rows]

    async def claim(self, wanted: ProbeClaim) -> Payout | None:
        """
        Claim one by an atomic update.

        None when somebody looks at it now, or did just now, and when it cannot be read.
        """
        key = key_columns(wanted.account_id, wanted.reference)
        looked = select(attempts.c.number).where(
            attempts.c.account_id == payouts.c.account_id,
            attempts.c.reference_sha256 == payouts.c.reference_sha256,
            attempts.c.last_probe_at > wanted.quiet_since,
        )
        taken = (
            update(payouts)
            .where(*(payouts.c[name] == value for name, value in key.items()))
            .where(free(), ~looked.exists())
            .values(check_owner=wanted.owner, check_until=wanted.until)
            .returning(payouts, TRACE_ID)
        )
        async with self._database.writing() as connection:
            rows = (await connection.execute(taken, instants(wanted.at))).all()
        return next(self._readable(rows), None)

    async def checked(self, checked: Checked) -> bool:
        """
        Record a check and release the claim; False when another process has the claim by now.

        A payout that has changed since the check keeps the schedule of its last step.
        """
        return await self._checks.write(checked)

    async def close(self) -> None:
        """Finish noting what was asked for."""
        await self._checks.close()

    async def recall(self, now: datetime) -> int:
        """Plan a look now for what a clock planned that was put back; return how many these are."""
        return await self._database.write(recalling(now))

    async def unresolved(self) -> Sequence[Payout]:
        """Return every payout whose outcome is unknown or that is in review."""
        rows = await self._database.rows(_UNRESOLVED)
        return list(self._readable(rows))

    async def find_by_key(self, provider_key: str, account_id: str | None = None) -> Payout | None:
        """
        Return the payout that a bank knows by this provider key.

        A key is one payout's within an account: the given account's goes first, for a company's
        accounts may share one at the bank. Else a key that several have names none of them.
        """
        known = select(payouts, TRACE_ID).where(payouts.c.provider_key == provider_key)
        rows = await self._database.rows(known)
        own = [row for row in rows if row.account_id == account_id] or rows
        return _restored(own[0]) if len(own) == 1 else None

    async def standing(self) -> Sequence[Unsettled]:
        """Count, by provider, the payouts whose outcome is not proven."""
        rows = await self._database.rows(_STANDING)
        return [
            Unsettled(
                provider=row.provider,
                unresolved=int(row.unresolved),
                oldest_at=row.oldest_at,
                review=int(row.review),
            )
            for row in rows
        ]

    def _readable(self, rows: Iterable[Record]) -> Iterator[Payout]:
        """Restore payouts one by one; of one that cannot be read its key is logged, and no more."""
        for row in rows:
            try:
                yield _restored(row)
            except Exception as problem:  # noqa: BLE001 - whatever is in a row, others go on
                # What the problem says may be a part of the row: a name, a tax number.
                kind = type(problem).__name__
                _log.error("payout_unreadable provider_key=%s problem=%s", row.provider_key, kind)
                self.on_unreadable(row.provider)


def _restored(row: Record) -> Payout:
    return replace(restored_payout(row), trace_id=row.trace_id or "")


def _next_check(row: Record) -> datetime:
    at: datetime = row.next_check_at
    return at


def _behind(rows: Sequence[Record]) -> str:
    """Say behind which account the next walk goes on; empty when this one has seen them all."""
    if len(rows) < SCANNED:
        return ""
    last: dict[str, str] = {row.provider: row.account_id for row in rows}
    # Every bank was walked equally far: behind the least of them, none of any is left out.
    return min(last.values())

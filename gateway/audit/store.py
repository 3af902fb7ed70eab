"""
The audit log: append-only, each event chained to the one before it.

Every writer locks the head's row, so events become visible in the order of their numbers. Hashes
and seals are described in ``gateway.store.kernel.chain``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    Delete,
    Select,
    Update,
    bindparam,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.audit.walk import (
    ACCEPTED,
    BROKEN,
    Stretch,
    Walk,
    accepted_break,
    broken,
    check_seal,
)
from gateway.core.audit import AcceptedBreak, AuditBreak, AuditEvent, AuditHead
from gateway.core.change_feed import Act
from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.chain import BEGINNING, ChainKeys, KeyAbsent
from gateway.store.kernel.database import Database, chain_of, note, os_user_of
from gateway.store.tables import columns
from gateway.store.tables.backoffice import approvals, batches
from gateway.store.tables.columns import Record
from gateway.store.tables.core import (
    accounts,
    audit,
    audit_head,
    companies,
    credentials,
    endpoints,
    payouts,
    stops,
)
from gateway.store.tables.identity import users

_KEY: Final[BindParameter[str]] = bindparam("key")
_STOP: Final = "stop"
_OWNERS: Final[Mapping[str, Select[*tuple[Any, ...]]]] = {
    "company": select(companies.c.id).where(companies.c.id == _KEY),
    "account": select(accounts.c.company_id).where(accounts.c.id == _KEY),
    "credential": select(credentials.c.company_id).where(credentials.c.client_id == _KEY),
    "endpoint": select(endpoints.c.company_id).where(endpoints.c.id == _KEY),
    "payout": (
        select(accounts.c.company_id)
        .join(payouts, payouts.c.account_id == accounts.c.id)
        .where(payouts.c.provider_key == _KEY)
    ),
    "approval": select(approvals.c.company_id).where(approvals.c.id == _KEY),
    "batch": select(batches.c.company_id).where(batches.c.id == _KEY),
    "user": select(users.c.companies).where(users.c.id == _KEY),
}
"""By the kind of a subject; a subject of any other kind is of people without a limit."""
_STOPPED: Final = select(stops.c.scope, stops.c.subject).where(stops.c.id == _KEY)


async def _owned(connection: AsyncConnection, event: AuditEvent) -> AuditEvent:
    """
    Return an event with its companies.

    Most acts have one company. An act on a user has all companies of the user's limit; none for a
    user without a limit.
    """
    if event.companies is not None:
        return event
    return replace(event, companies=frozenset((await _owner(connection, event.subject)).split()))


async def _owner(connection: AsyncConnection, subject: str) -> str:
    """Look up the company of a subject, or the companies of a user, with spaces between."""
    kind, _, key = subject.partition(":")
    if kind == _STOP:
        stopped = (await connection.execute(_STOPPED, {"key": key})).one_or_none()
        return await _owner(connection, f"{stopped.scope}:{stopped.subject}") if stopped else ""
    lookup = _OWNERS.get(kind)
    if lookup is None:
        return ""
    found = set((await connection.execute(lookup, {"key": key})).scalars())
    # A bank's key of a payout may be of several companies: then no limited person sees the act.
    return found.pop() or "" if len(found) == 1 else ""


_log = logging.getLogger(__name__)
SUBJECT: Final = "audit:chain"
"""Of acts on the log itself."""
# Events per statement while the chain is walked: memory stays flat for a log of any length.
_BATCH: Final = 1000
_HEAD_COLUMNS: Final = tuple(
    column for column in audit_head.c if column.name != audit_head.c.one.name
)
_LAST_NUMBER: Final = select(func.coalesce(func.max(audit.c.number), 0)).scalar_subquery()
_LOCKED_HEAD: Final = select(*_HEAD_COLUMNS).with_for_update()
_HEAD: Final = select(*_HEAD_COLUMNS, _LAST_NUMBER.label("last"))
_LAST: Final[Select[*tuple[Any, ...]]] = (
    select(audit.c.number, audit.c.hash).order_by(audit.c.number.desc()).limit(1)
)
# Events searched by one statement: some tens of milliseconds, for no index leads to an action.
_SEARCHED: Final = 50_000
_ACCEPTANCES: Final = (
    select(audit)
    .where(
        audit.c.number > bindparam("after"),
        audit.c.number <= bindparam("last"),
        audit.c.action == ACCEPTED,
    )
    .order_by(audit.c.number)
)
_NEXT: Final = (
    select(audit)
    .where(audit.c.number > bindparam("after"), audit.c.number <= bindparam("last"))
    .order_by(audit.c.number)
    .limit(bindparam("batch"))
)


class StoredAudit:
    """The append-only, hash-chained record of acts."""

    def __init__(self, database: Database, batch: int = _BATCH, pause_s: float = 0.0) -> None:
        """Verify ``batch`` events at a time, with pauses for other writers."""
        self._database = database
        self._batch = batch
        self._pause_s = pause_s

    async def append(self, *events: AuditEvent) -> None:
        """Add events in one transaction."""
        async with self._database.writing() as connection:
            await append(connection, *events)

    async def head(self) -> AuditHead:
        """
        Return the current head.

        Raises:
            ValueError: the head has no valid seal, or is not the last event's.
        """
        head, last = await self._ends()
        check_seal(self._database.chain, head)
        if head.number != last:
            raise broken(last + 1)
        return head

    async def verify(self, kept: AuditHead | None = None) -> int:
        """
        Verify the log as it is now; return its length.

        An accepted break is skipped, if it matches exactly.

        Args:
            kept: An earlier, externally stored head; the first bytes of its hash suffice.

        Raises:
            ValueError: names the first broken link: an event changed, missing,
                added past the end, or cut off at it; or a head without a valid seal.
        """
        head, last = await self._ends()
        walk = Walk(self._database.chain, kept, await self._accepted(head.number))
        async for row in self._rows(0, head.number):
            walk.step(row)
        walk.end(head, last)
        return walk.number

    async def accepted(self) -> Sequence[AcceptedBreak]:
        """Return the accepted breaks, oldest first; proven where ``verify`` succeeds."""
        return await self._accepted((await self._ends())[1])

    async def find_break(self) -> AuditBreak | None:
        """
        Return the first break that was not accepted; None for an intact log.

        It ends before the first event that is chained to the stored hash of the one before.

        Raises:
            ValueError: the events are valid, but the head is not.
        """
        head, last = await self._ends()
        walk = Walk(self._database.chain, None, await self._accepted(head.number))
        try:
            async for row in self._rows(0, head.number):
                walk.step(row)
            walk.end(head, last)
        except ValueError as problem:
            stretch, previous = Stretch(walk.number + 1, walk.reached, problem), None
            async for row in self._rows(walk.number, last):
                if previous is not None and walk.follows(previous, row):
                    break
                stretch.add(row)
                previous = row
            if previous is None:
                raise
            return stretch.until(previous.number, str(problem))
        return None

    async def accept(self, found: AuditBreak, event: AuditEvent) -> None:
        """
        Add the event that accepts a break, even if the head has an unknown key.

        Raises:
            ValueError: the head has no valid seal, or is not the last event's.
        """
        details = {
            "first": str(found.first),
            "last": str(found.last),
            "after": found.after,
            "digest": found.digest,
            "problem": found.problem,
            **event.details,
        }
        told = replace(
            event, action=ACCEPTED, subject=SUBJECT, details=details, companies=frozenset()
        )
        async with self._database.writing() as connection:
            note(connection, Act(told.action, told.subject))
            keys = chain_of(connection)
            head = _head_of((await connection.execute(_LOCKED_HEAD)).one())
            last = await _last(connection)
            if (head.number, head.hash) != (last.number, last.hash):
                raise broken(last.number + 1)
            with suppress(KeyAbsent):
                check_seal(keys, head)
            await _add(connection, keys, head, [told])

    async def _ends(self) -> tuple[AuditHead, int]:
        """Return the head, and the last event's number; ValueError when there is no head."""
        row = await self._database.first(_HEAD)
        if row is None:
            raise broken(0)
        return _head_of(row), row.last

    async def _rows(self, after: int, last: int) -> AsyncIterator[Record]:
        """Yield the events between two numbers, with pauses between batches."""
        while after < last:
            wanted = {"after": after, "last": last, "batch": self._batch}
            rows = await self._database.rows(_NEXT, wanted)
            if not rows:
                return
            for row in rows:
                yield row
            after = rows[-1].number
            await asyncio.sleep(self._pause_s)

    async def _accepted(self, last: int) -> Sequence[AcceptedBreak]:
        """Return the acceptances up to an event, except those within an accepted break."""
        found = []
        for after in range(0, last, _SEARCHED):
            wanted = {"after": after, "last": min(after + _SEARCHED, last)}
            rows = await self._database.rows(_ACCEPTANCES, wanted)
            found += [each for row in rows if (each := accepted_break(row)) is not None]
        return [
            each
            for each in found
            if not any(other.found.first <= each.number <= other.found.last for other in found)
        ]


async def append(connection: AsyncConnection, *events: AuditEvent) -> None:
    """
    Add events in the caller's transaction.

    Append last in the transaction: until the commit every other writer of events waits. So numbers
    become visible in order, which readers of the change feed rely on; this process's caches are
    notified when the transaction ends.

    A head without a valid seal does not stop the act: the finding is recorded before the act as an
    event that never verifies, so that appending repairs nothing.

    Raises:
        StoreUnavailable: this process has no key, or not the key that the head is sealed under.
            The head cannot be checked then, and during a key rotation that is no break.
    """
    for each in events:
        note(connection, Act(each.action, each.subject))
    keys = chain_of(connection)
    owned = [await _owned(connection, each) for each in events]
    head = _head_of((await connection.execute(_LOCKED_HEAD)).one())
    try:
        check_seal(keys, head)
        is_whole = head != BEGINNING or await _last(connection) == BEGINNING
    except KeyAbsent as absent:
        _log.error("audit_key_absent: %s", absent)
        raise StoreUnavailable(str(absent)) from absent
    except ValueError:
        is_whole = False
    if not is_whole:
        last = await _last(connection)
        _log.error("audit_broken head=%s last=%s", head.number, last.number)
        owned = [_broken_off(head, last, events[0].at), *owned]
        head = last
    await _add(connection, keys, head, owned)


async def change(database: Database, statement: Update | Delete, event: AuditEvent) -> bool:
    """Change a row and add the event, in one transaction; False if no row was changed."""
    async with database.writing() as connection:
        if (await connection.execute(statement)).rowcount == 0:
            return False
        await append(connection, event)
    return True


def _broken_off(head: AuditHead, last: AuditHead, at: datetime) -> AuditEvent:
    return AuditEvent(
        at=at,
        actor="system",
        action=BROKEN,
        subject=SUBJECT,
        details={"head": str(head.number), "last": str(last.number)},
        companies=frozenset(),
    )


async def _last(connection: AsyncConnection) -> AuditHead:
    """Return the expected head, by the last event."""
    row = (await connection.execute(_LAST)).one_or_none()
    return AuditHead(number=row.number, hash=row.hash) if row else BEGINNING


async def _add(
    connection: AsyncConnection, keys: ChainKeys, head: AuditHead, events: Sequence[AuditEvent]
) -> None:
    """
    Chain events to the last one named by ``head``.

    Of a command's events the actor may be a name that was typed, so who ran it is kept as well.
    """
    key_id, rows, os_user = keys.current, [], os_user_of(connection)
    for each in events:
        event = replace(each, details={**each.details, "os_user": os_user}) if os_user else each
        number = head.number + 1
        head = AuditHead(number, keys.link(key_id, head.hash, number, event))
        rows.append(_row(event) | {"number": number, "hash": head.hash, "key_id": key_id})
    await connection.execute(insert(audit), rows)
    await _put_head(connection, keys, head)


async def _put_head(connection: AsyncConnection, keys: ChainKeys, head: AuditHead) -> None:
    head = replace(head, key_id=keys.current)
    values = {
        "number": head.number,
        "hash": head.hash,
        "key_id": head.key_id,
        "seal": keys.seal(head),
    }
    await connection.execute(update(audit_head).values(values))


def _row(event: AuditEvent) -> dict[str, object]:
    """Return an event as a row, without its position in the chain."""
    return {
        "at": event.at,
        "actor": event.actor,
        "action": event.action,
        "subject": event.subject,
        "details": columns.written(event.details),
        "trace_id": event.trace_id,
        "companies": " ".join(sorted(event.companies or ())),  # equal sets are equal texts
    }


def _head_of(row: Record) -> AuditHead:
    return AuditHead(number=row.number, hash=row.hash, key_id=row.key_id, seal=row.seal)

"""People in the store, with their recovery codes and their failed attempts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Select, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.audit import store as audit_log
from gateway.core.audit import AuditEvent
from gateway.core.company_scope import CompanyScope
from gateway.core.rights import Role
from gateway.core.storage import AlreadyExists
from gateway.core.user import Preferences, RecoveryCode, Totp, User
from gateway.core.windows import Listed, Paging
from gateway.identity.attempt_limits import Failures, NextCounts
from gateway.store.kernel.database import Database, page
from gateway.store.kernel.old_rows import delete_old
from gateway.store.orders import void_orders
from gateway.store.tables.columns import Record, record_of, row_of
from gateway.store.tables.identity import failures, recovery_codes, sessions, users
from gateway.store.tables.scope import users_in

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
"""When the count of a row began that was made to be locked: there is no count yet."""
_CHANGE = update(failures).where(failures.c.key == bindparam("of"))


class StoredFailureCounts:
    """Wrong passwords and codes, counted for all processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, keys: Sequence[str]) -> Sequence[Failures]:
        """Return what is counted under these keys."""
        wanted = select(failures).where(failures.c.key.in_(keys))
        rows = await self._database.rows(wanted)
        return [record_of(Failures, row) for row in rows]

    async def change(self, keys: Sequence[str], next_of: NextCounts) -> Mapping[str, Failures]:
        """
        Replace the counts of some keys in one transaction, and return those that follow.

        What ``next_of`` raises undoes it.
        """
        while True:
            async with self._database.writing() as connection:
                before = await self._locked(connection, keys)
                if len(before) == len(keys):
                    following = next_of(before)
                    kept = {key: each for key, each in following.items() if each is not None}
                    if kept:
                        changes = [{"of": key, **row_of(each)} for key, each in kept.items()]
                        await connection.execute(_CHANGE, changes)
                    if gone := following.keys() - kept.keys():
                        await connection.execute(delete(failures).where(failures.c.key.in_(gone)))
                    return kept
            # PostgreSQL: a sign-in that succeeded has deleted one since we found it there

    async def _locked(
        self, connection: AsyncConnection, keys: Sequence[str]
    ) -> Mapping[str, Failures | None]:
        """Lock rows, made where there were none, in one order; return those still there."""
        first = [row_of(Failures(key=key, count=0, since=_NEVER)) for key in sorted(keys)]
        await connection.execute(self._database.insert_new(failures), first)
        rows = (await connection.execute(_locking(keys))).all()
        found = {row.key: None if row.since == _NEVER else record_of(Failures, row) for row in rows}
        return {key: found[key] for key in keys if key in found}

    async def clear(self, keys: Sequence[str]) -> None:
        """Forget what is counted under these keys."""
        held = _locking(keys).with_only_columns(failures.c.key)
        await self._database.write(delete(failures).where(failures.c.key.in_(held)))

    async def forget(self, before: datetime) -> int:
        """Delete what began and ended before an instant; return how many."""
        free = or_(failures.c.blocked_until.is_(None), failures.c.blocked_until < before)
        return await delete_old(self._database, failures.c.since, before, free)


def _locking(keys: Sequence[str]) -> Select[Any]:
    """Select rows and lock them, always in one order, so that no two changes deadlock."""
    return (
        select(failures).where(failures.c.key.in_(keys)).order_by(failures.c.key).with_for_update()
    )


_BY_ID = select(users).where(users.c.id == bindparam("id"))
_BY_EMAIL = select(users).where(users.c.email == bindparam("email"))
_WORDS: Mapping[str, Callable[[str], Any]] = {
    "roles": lambda text: frozenset(map(Role, text.split())),
    "companies": lambda text: frozenset(text.split()),
}
"""Columns of several words."""
_LIST = select(users).order_by(users.c.created_at, users.c.id)
_CODES = (
    select(recovery_codes)
    .where(recovery_codes.c.user_id == bindparam("user_id"))
    .order_by(recovery_codes.c.index)
)


class StoredUsers:
    """Users and their recovery codes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, user: User, event: AuditEvent) -> None:
        """Store a new one; AlreadyExists when the id or e-mail is taken."""
        async with self._database.writing() as connection:
            row = _row(user) | {"totp_step": user.totp.last_step if user.totp else 0}
            if not await self._database.add(connection, users, row):
                raise AlreadyExists(user.id)
            await audit_log.append(connection, event)

    async def find(self, user_id: str) -> User | None:
        """Return one by id."""
        row = await self._database.first(_BY_ID, {"id": user_id})
        return None if row is None else read_user(row)

    async def find_by_email(self, email: str) -> User | None:
        """Return one by lower-case e-mail."""
        row = await self._database.first(_BY_EMAIL, {"email": email})
        return None if row is None else read_user(row)

    async def visible(self, user_id: str, scope: CompanyScope) -> User | None:
        """Return one user by id or e-mail: one who sees no company beyond the scope."""
        column = users.c.email if "@" in user_id else users.c.id
        wanted = select(users).where(column == user_id, *users_in(scope))
        row = await self._database.first(wanted)
        return None if row is None else read_user(row)

    async def page(self, paging: Paging, scope: CompanyScope) -> Listed[User]:
        """Return a page of users who see no company beyond the scope, oldest first."""
        wanted = select(users).order_by(users.c.created_at, users.c.id).where(*users_in(scope))
        return await page(self._database, wanted, paging, read_user)

    async def last_sign_ins(self, user_ids: Sequence[str]) -> Mapping[str, datetime]:
        """Return when each of these users last signed in, as far as it is on record."""
        latest = func.max(sessions.c.created_at).label("at")
        wanted = (
            select(sessions.c.user_id, latest)
            .where(sessions.c.user_id.in_(user_ids))
            .group_by(sessions.c.user_id)
        )
        return {row.user_id: row.at for row in await self._database.rows(wanted)}

    async def list(self, ids: Collection[str] | None = None) -> Sequence[User]:
        """Return all, or those of some ids, oldest first."""
        wanted = _LIST if ids is None else _LIST.where(users.c.id.in_(ids))
        return [read_user(row) for row in await self._database.rows(wanted)]

    async def replace(
        self, user: User, event: AuditEvent | None, seen: datetime | None = None
    ) -> bool:
        """
        Overwrite one but its ``totp.last_step``; False when there is none.

        With ``seen`` only while its ``updated_at`` is still that instant. What they ordered
        and may not order any more is void, by the same transaction.
        """
        change = update(users).where(users.c.id == user.id).values(_row(user))
        if seen is not None:
            change = change.where(users.c.updated_at == seen)
        async with self._database.writing() as connection:
            if (await connection.execute(change)).rowcount == 0:
                return False
            if event is not None:
                # The audit log last: whoever decides on an order holds it first, too.
                ended = await void_orders(connection, user, event)
                for each in (event, *ended):
                    await audit_log.append(connection, each)
        return True

    async def prefer(self, user_id: str, chosen: Preferences) -> None:
        """Keep what was chosen; what was not stays as it is."""
        given = {name: value for name, value in asdict(chosen).items() if value is not None}
        if given:
            change = update(users).where(users.c.id == user_id).values(given)
            await self._database.write(change)

    async def accept_step(self, user_id: str, step: int) -> bool:
        """Note the step of an accepted code by compare-and-set; False unless it is a later one."""
        later = (
            update(users)
            .where(users.c.id == user_id, users.c.totp_step < step)
            .values(totp_step=step)
        )
        return await self._database.write(later) == 1

    async def replace_codes(self, user_id: str, codes: Sequence[RecoveryCode]) -> None:
        """Void every recovery code and store these."""
        async with self._database.writing() as connection:
            await _void(connection, user_id)
            if codes:
                await connection.execute(insert(recovery_codes), [row_of(each) for each in codes])

    async def codes(self, user_id: str) -> Sequence[RecoveryCode]:
        """Return every recovery code by index, used ones included."""
        rows = await self._database.rows(_CODES, {"user_id": user_id})
        return [record_of(RecoveryCode, row) for row in rows]

    async def use_code(self, user_id: str, index: int, at: datetime) -> bool:
        """Use one up by compare-and-set; False when it was used before."""
        use = (
            update(recovery_codes)
            .where(
                recovery_codes.c.user_id == user_id,
                recovery_codes.c.index == index,
                recovery_codes.c.used_at.is_(None),
            )
            .values(used_at=at)
        )
        return await self._database.write(use) == 1


def read_user(row: Record) -> User:
    """Read a person from the columns of ``users``."""
    totp = None
    if row.totp_secret is not None:
        totp = Totp(
            sealed_secret=row.totp_secret,
            confirmed_at=row.totp_confirmed_at,
            last_step=row.totp_step,
        )
    return record_of(User, row, _WORDS, totp=totp, preferences=record_of(Preferences, row))


def _row(user: User) -> dict[str, object]:
    """Return all columns but those that change alone: the last step, and preferences."""
    row = row_of(user)
    del row["preferences"]
    totp = row.pop("totp")
    return row | {
        **{name: " ".join(sorted(row[name])) for name in _WORDS},
        "totp_secret": totp and totp.sealed_secret,
        "totp_confirmed_at": totp and totp.confirmed_at,
    }


async def _void(connection: AsyncConnection, user_id: str) -> None:
    await connection.execute(delete(recovery_codes).where(recovery_codes.c.user_id == user_id))

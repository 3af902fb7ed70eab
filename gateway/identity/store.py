"""The stores of identity: users, sign-ins, sessions of browsers, challenges and mail."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Delete,
    Select,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.audit import store as audit_log
from gateway.core.audit import AuditEvent
from gateway.core.browsers import PanelSession, PanelState
from gateway.core.company_scope import CompanyScope
from gateway.core.rights import Role
from gateway.core.sessions import RefreshToken, Session, SigningKey
from gateway.core.storage import AlreadyExists
from gateway.core.user import Preferences, RecoveryCode, Totp, User
from gateway.core.windows import Listed, Paging
from gateway.identity.model import (
    Challenge,
    Failures,
    Mail,
    MailToken,
    NextCounts,
    Passkey,
    Purpose,
)
from gateway.store.kernel.database import Database, page
from gateway.store.kernel.old_rows import Owned, delete_old
from gateway.store.orders import void_orders
from gateway.store.tables.columns import Record, record_of, row_of
from gateway.store.tables.identity import (
    challenges,
    failures,
    mail_tokens,
    mailbox,
    panel_sessions,
    passkeys,
    recovery_codes,
    refresh_tokens,
    sessions,
    signing_keys,
    users,
)
from gateway.store.tables.notifications import push_subscriptions
from gateway.store.tables.scope import limited_exactly, users_in

EVERY: Final = "every"
"""In place of the id of a passkey: all of a user's."""
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
"""When the count of a row began that was made to be locked: there is no count yet."""
_CHANGE = update(failures).where(failures.c.key == bindparam("of"))


class StoredFailureCounts:
    """Wrong passwords and codes, counted for all processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, keys: Sequence[str]) -> Sequence[Failures]:
        """Return the counts of these keys."""
        wanted = select(failures).where(failures.c.key.in_(keys))
        rows = await self._database.rows(wanted)
        return [record_of(Failures, row) for row in rows]

    async def change(self, keys: Sequence[str], next_of: NextCounts) -> Mapping[str, Failures]:
        """
        Replace the counts of some keys in one transaction, and return the new ones.

        An error of ``next_of`` rolls it back.
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
        """Delete the counts of these keys."""
        held = _locking(keys).with_only_columns(failures.c.key)
        await self._database.write(delete(failures).where(failures.c.key.in_(held)))

    async def forget(self, before: datetime) -> int:
        """Delete counts that began and ended before an instant; return the number."""
        free = or_(failures.c.blocked_until.is_(None), failures.c.blocked_until < before)
        return await delete_old(self._database, failures.c.since, before, free)


def _locking(keys: Sequence[str]) -> Select[Any]:
    """Select rows and lock them, always in one order, so that no two changes deadlock."""
    return (
        select(failures).where(failures.c.key.in_(keys)).order_by(failures.c.key).with_for_update()
    )


_PASSKEY_AT = (
    select(func.max(passkeys.c.created_at))
    .where(passkeys.c.user_id == users.c.id)
    .scalar_subquery()
    .label("passkey_at")
)
_USERS = select(users, _PASSKEY_AT)
_BY_ID = _USERS.where(users.c.id == bindparam("id"))
_BY_EMAIL = _USERS.where(users.c.email == bindparam("email"))
_WORDS: Mapping[str, Callable[[str], Any]] = {
    "roles": lambda text: frozenset(map(Role, text.split())),
    "companies": lambda text: frozenset(text.split()),
}
"""Columns of several words."""
_LIST = _USERS.order_by(users.c.created_at, users.c.id)
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
        """Store a new user; AlreadyExists when the id or e-mail is taken."""
        async with self._database.writing() as connection:
            row = _user_row(user) | {"totp_step": user.totp.last_step if user.totp else 0}
            if not await self._database.add(connection, users, row):
                raise AlreadyExists(user.id)
            await audit_log.append(connection, event)

    async def find(self, user_id: str) -> User | None:
        """Return a user by id."""
        row = await self._database.first(_BY_ID, {"id": user_id})
        return None if row is None else read_user(row)

    async def find_by_email(self, email: str) -> User | None:
        """Return a user by lower-case e-mail."""
        row = await self._database.first(_BY_EMAIL, {"email": email})
        return None if row is None else read_user(row)

    async def visible(self, user_id: str, scope: CompanyScope) -> User | None:
        """Return a user by id or e-mail, unless the user sees a company beyond the scope."""
        column = users.c.email if "@" in user_id else users.c.id
        wanted = _USERS.where(column == user_id, *users_in(scope))
        row = await self._database.first(wanted)
        return None if row is None else read_user(row)

    async def page(self, paging: Paging, scope: CompanyScope) -> Listed[User]:
        """Return a page of users who see no company beyond the scope, oldest first."""
        return await page(self._database, _LIST.where(*users_in(scope)), paging, read_user)

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
        """Return all users, or the users of some ids, oldest first."""
        wanted = _LIST if ids is None else _LIST.where(users.c.id.in_(ids))
        return [read_user(row) for row in await self._database.rows(wanted)]

    async def replace(
        self,
        user: User,
        event: AuditEvent | None,
        seen: datetime | None = None,
        removes: str = "",
    ) -> bool:
        """
        Overwrite one but its ``totp.last_step``; False when there is none.

        With ``seen`` only while its ``updated_at`` is still that instant. Orders that they made
        and may not order any more is void, by the same transaction, which also deletes the passkey
        with the id ``removes``, or ``EVERY`` passkey of theirs.
        """
        change = update(users).where(users.c.id == user.id).values(_user_row(user))
        if seen is not None:
            change = change.where(users.c.updated_at == seen)
        async with self._database.writing() as connection:
            if (await connection.execute(change)).rowcount == 0:
                return False
            if removes:
                await connection.execute(_removing(user.id, removes))
            if event is not None:
                # The audit log last: whoever decides on an order holds it first, too.
                ended = await void_orders(connection, user, event)
                for each in (event, *ended):
                    await audit_log.append(connection, each)
        return True

    async def prefer(self, user_id: str, chosen: Preferences) -> None:
        """Store chosen preferences; others keep their values."""
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
        """Void every recovery code and store these; of two at once the later ones stay."""
        async with self._database.writing() as connection:
            await connection.execute(_OWNER, {"user_id": user_id})
            await _replace_codes(connection, user_id, codes)

    async def codes(self, user_id: str) -> Sequence[RecoveryCode]:
        """Return every recovery code by index, used ones included."""
        rows = await self._database.rows(_CODES, {"user_id": user_id})
        return [record_of(RecoveryCode, row) for row in rows]

    async def use_code(self, user_id: str, index: int, at: datetime) -> bool:
        """Use up a recovery code by compare-and-set; False when it was used before."""
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


def _user_row(user: User) -> dict[str, object]:
    """Return all columns but the last step and preferences, which change alone."""
    row = row_of(user)
    del row["preferences"], row["passkey_at"]
    totp = row.pop("totp")
    return row | {
        **{name: " ".join(sorted(row[name])) for name in _WORDS},
        "totp_secret": totp and totp.sealed_secret,
        "totp_confirmed_at": totp and totp.confirmed_at,
    }


async def _replace_codes(
    connection: AsyncConnection, user_id: str, codes: Sequence[RecoveryCode]
) -> None:
    """Void every recovery code of a locked user and store these."""
    await _void(connection, user_id)
    if codes:
        await connection.execute(insert(recovery_codes), [row_of(each) for each in codes])


async def _void(connection: AsyncConnection, user_id: str) -> None:
    await connection.execute(delete(recovery_codes).where(recovery_codes.c.user_id == user_id))


_PASSKEYS_OF = (
    select(passkeys)
    .where(passkeys.c.user_id == bindparam("user_id"))
    .order_by(passkeys.c.created_at, passkeys.c.id)
)
_BY_CREDENTIAL = select(passkeys).where(passkeys.c.credential_id == bindparam("credential_id"))


class StoredPasskeys:
    """Passkeys of users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        passkey: Passkey,
        seen: datetime,
        event: AuditEvent,
        codes: Sequence[RecoveryCode] = (),
    ) -> bool:
        """
        Store one of a user whose ``updated_at`` is still ``seen``; False for another.

        With recovery ``codes`` it is the first one, and they are stored with it: False, and
        nothing is stored, where another was registered meanwhile.

        Raises:
            AlreadyExists: its credential is registered.
        """
        try:
            return await self._add(passkey, seen, event, codes)
        except _Lost:
            return False

    async def _add(
        self, passkey: Passkey, seen: datetime, event: AuditEvent, codes: Sequence[RecoveryCode]
    ) -> bool:
        enrolled = (
            update(users)
            .where(users.c.id == passkey.user_id, users.c.updated_at == seen)
            .values(factor_reset=False)
        )
        async with self._database.writing() as connection:
            if (await connection.execute(enrolled)).rowcount == 0:
                return False
            if not await self._database.add(connection, passkeys, row_of(passkey)):
                raise AlreadyExists(passkey.id)
            if codes:
                theirs = await connection.execute(_PASSKEYS_OF, {"user_id": passkey.user_id})
                if len(theirs.all()) > 1:
                    raise _Lost
                await _replace_codes(connection, passkey.user_id, codes)
            await audit_log.append(connection, event)
        return True

    async def of(self, user_id: str) -> Sequence[Passkey]:
        """Return the passkeys of a user, oldest first."""
        rows = await self._database.rows(_PASSKEYS_OF, {"user_id": user_id})
        return [record_of(Passkey, row) for row in rows]

    async def find(self, credential_id: str) -> Passkey | None:
        """Return the passkey with a credential id."""
        row = await self._database.first(_BY_CREDENTIAL, {"credential_id": credential_id})
        return None if row is None else record_of(Passkey, row)

    async def count_use(self, passkey_id: str, sign_count: int, at: datetime) -> bool:
        """
        Store a use by compare-and-set; False where the counter did not rise.

        Many passkeys do not count: their counter is always zero.
        """
        rises = passkeys.c.sign_count < sign_count
        if sign_count == 0:
            rises = passkeys.c.sign_count == 0
        used = (
            update(passkeys)
            .where(passkeys.c.id == passkey_id, rises)
            .values(sign_count=sign_count, used_at=at)
        )
        return await self._database.write(used) == 1


def _removing(user_id: str, passkey_id: str) -> Delete:
    """Return the statement that deletes one passkey of a user, or every one."""
    theirs = delete(passkeys).where(passkeys.c.user_id == user_id)
    return theirs if passkey_id == EVERY else theirs.where(passkeys.c.id == passkey_id)


_TOKENS = Owned(refresh_tokens.c.session_id, sessions.c.id)
_KEYS = select(signing_keys).order_by(signing_keys.c.signs_from, signing_keys.c.id)


class StoredSigningKeys:
    """Keys that sign access tokens."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, key: SigningKey, event: AuditEvent) -> None:
        """Store a new signing key."""
        async with self._database.writing() as connection:
            await connection.execute(insert(signing_keys), row_of(key))
            await audit_log.append(connection, event)

    async def list(self) -> Sequence[SigningKey]:
        """Return all signing keys, by ``signs_from``, retired ones included."""
        rows = await self._database.rows(_KEYS)
        return [record_of(SigningKey, row) for row in rows]

    async def retire(self, key_id: str, at: datetime, event: AuditEvent) -> bool:
        """Stop publishing a key; False when it does not exist or is retired already."""
        retiring = (
            update(signing_keys)
            .where(signing_keys.c.id == key_id, signing_keys.c.retired_at.is_(None))
            .values(retired_at=at)
        )
        return await audit_log.change(self._database, retiring, event)


# "Last seen" is to the minute, so that reading does not become writing.
_MINUTE = timedelta(minutes=1)
_PREFIX = "session_"
_SESSION = _USERS.add_columns(*(each.label(_PREFIX + each.name) for each in sessions.c)).where(
    sessions.c.id == bindparam("id"), users.c.id == sessions.c.user_id
)
_LIVE = (
    select(sessions)
    .where(sessions.c.user_id == bindparam("user_id"), sessions.c.ended_at.is_(None))
    .where(sessions.c.ends_at > bindparam("now", type_=sessions.c.ends_at.type))
    .order_by(sessions.c.created_at, sessions.c.id)
)
_TOKEN = select(refresh_tokens).where(refresh_tokens.c.digest == bindparam("digest"))
_LAST = select(func.coalesce(func.max(refresh_tokens.c.number), 0)).where(
    refresh_tokens.c.session_id == bindparam("session_id")
)


class _Lost(Exception):
    """Another request was first: the transaction is rolled back."""


class StoredSessions:
    """Sessions and their refresh tokens."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, session: Session, first: RefreshToken, event: AuditEvent) -> None:
        """Store a sign-in with its first refresh token."""
        async with self._database.writing() as connection:
            await connection.execute(insert(sessions), row_of(session))
            await connection.execute(insert(refresh_tokens), row_of(first))
            await audit_log.append(connection, event)

    async def find(self, session_id: str) -> tuple[Session, User] | None:
        """Return a session, also an ended one, with its user, by one read."""
        row = await self._database.first(_SESSION, {"id": session_id})
        return None if row is None else (_session(row), read_user(row))

    async def of(self, user_id: str, now: datetime) -> Sequence[Session]:
        """Return the live sessions of a user, oldest first."""
        rows = await self._database.rows(_LIVE, {"user_id": user_id, "now": now})
        return [record_of(Session, row) for row in rows]

    async def touch(self, session_id: str, at: datetime) -> None:
        """Note that a session was used, at most once a minute."""
        seen = (
            update(sessions)
            .where(sessions.c.id == session_id, sessions.c.seen_at <= at - _MINUTE)
            .values(seen_at=at)
        )
        await self._database.write(seen)

    async def note_factor(self, session_id: str, at: datetime | None) -> None:
        """Store when a second factor was given; None voids an earlier factor."""
        given = update(sessions).where(sessions.c.id == session_id).values(factor_at=at)
        await self._database.write(given)

    async def has_program(self, session: Session) -> bool:
        """Return whether its user signed in before by the same program at the same network."""
        theirs = sessions.c.user_id == session.user_id, sessions.c.user_agent == session.user_agent
        wanted = select(sessions.c.networks).where(*theirs, sessions.c.panel.is_(False))
        known = {each for row in await self._database.rows(wanted) for each in row.networks}
        return not known.isdisjoint(session.networks)

    async def note_network(
        self, session_id: str, networks: tuple[str, ...], event: AuditEvent
    ) -> None:
        """Replace the known networks of a session, and record it."""
        async with self._database.writing() as connection:
            known = update(sessions).where(sessions.c.id == session_id).values(networks=networks)
            await connection.execute(known)
            await audit_log.append(connection, event)

    async def refresh_token(self, digest: bytes) -> RefreshToken | None:
        """Return a refresh token, also a used one."""
        row = await self._database.first(_TOKEN, {"digest": digest})
        return None if row is None else record_of(RefreshToken, row)

    async def last_number(self, session_id: str) -> int:
        """Return the number of the newest refresh token; 0 when there is none."""
        [(number,)] = await self._database.rows(_LAST, {"session_id": session_id})
        return int(number)

    async def rotate(self, old: RefreshToken, new: RefreshToken, at: datetime) -> bool:
        """
        Use the old one up and store the new one, in one transaction.

        False when another request used it first, or its session has ended or ends
        before ``at``; nothing was changed.
        """
        with suppress(_Lost):
            async with self._database.writing() as connection:
                await _use(connection, old, at)
                await _see(connection, old.session_id, at)
                await connection.execute(insert(refresh_tokens), row_of(new))
            return True
        return False

    async def end(self, session_id: str, at: datetime, why: str, event: AuditEvent | None) -> bool:
        """End a session; False when it does not exist or has ended already."""
        ending = (
            update(sessions)
            .where(sessions.c.id == session_id, sessions.c.ended_at.is_(None))
            .values(ended_at=at, ended_by=why)
        )
        async with self._database.writing() as connection:
            if (await connection.execute(ending)).rowcount == 0:
                return False
            if event is not None:
                await audit_log.append(connection, event)
        return True

    async def end_all(
        self, user_id: str, at: datetime, why: str, keep: str, event: AuditEvent
    ) -> int:
        """
        End every live one of a user but ``keep`` (empty for none); return how many.

        With all of them go the browsers that are sent push messages: one may have been subscribed
        by a copy of a session.
        """
        ending = (
            update(sessions)
            .where(sessions.c.user_id == user_id, sessions.c.ended_at.is_(None))
            .where(sessions.c.id != keep, sessions.c.ends_at > at)
            .values(ended_at=at, ended_by=why)
        )
        async with self._database.writing() as connection:
            ended = (await connection.execute(ending)).rowcount
            if not keep:
                subscribed = push_subscriptions.c.user_id == user_id
                await connection.execute(delete(push_subscriptions).where(subscribed))
            await audit_log.append(connection, event)
        return ended

    async def forget(self, before: datetime) -> int:
        """Delete sessions that ended before an instant, with their tokens; return the number."""
        forgotten = 0
        for end in (sessions.c.ends_at, sessions.c.ended_at):
            forgotten += await delete_old(self._database, end, before, owned=_TOKENS)
        return forgotten


async def _use(connection: AsyncConnection, token: RefreshToken, at: datetime) -> None:
    """Mark a refresh token as used; raise if it was used before."""
    using = (
        update(refresh_tokens)
        .where(refresh_tokens.c.digest == token.digest, refresh_tokens.c.used_at.is_(None))
        .values(used_at=at)
    )
    if (await connection.execute(using)).rowcount == 0:
        raise _Lost


async def _see(connection: AsyncConnection, session_id: str, at: datetime) -> None:
    """Note that a session is used; raise when it is over."""
    seen = (
        update(sessions)
        .where(sessions.c.id == session_id, sessions.c.ended_at.is_(None), sessions.c.ends_at > at)
        .values(seen_at=at)
    )
    if (await connection.execute(seen)).rowcount == 0:
        raise _Lost


def _session(row: Record) -> Session:
    """Read a sign-in from a row that holds its user too."""
    return Session(**{each.name: getattr(row, _PREFIX + each.name) for each in sessions.c})


_PANEL = select(panel_sessions).where(panel_sessions.c.id_hash == bindparam("id_hash"))
_PANELS_OF = (
    select(panel_sessions)
    .where(panel_sessions.c.user_id == bindparam("user_id"))
    .order_by(panel_sessions.c.created_at, panel_sessions.c.id_hash)
)
_NOW = bindparam("now", type_=panel_sessions.c.ends_at.type)
_PENDING = select(func.count()).where(
    panel_sessions.c.state == PanelState.MFA_PENDING.value, panel_sessions.c.ends_at > _NOW
)
# For half a minute a replaced cookie's row lies beside its follower, of the same sign-in.
_FULL = (
    select(func.count(sessions.c.id.distinct()))
    .where(panel_sessions.c.state == PanelState.FULL.value, panel_sessions.c.ends_at > _NOW)
    .where(panel_sessions.c.seen_at > bindparam("idle_since", type_=panel_sessions.c.seen_at.type))
    .where(sessions.c.id == panel_sessions.c.session_id)
    .where(sessions.c.ended_at.is_(None), sessions.c.ends_at > _NOW)
)
_LIVE_BROWSERS = select(
    _FULL.scalar_subquery().label("full"), _PENDING.scalar_subquery().label("pending")
)


class StoredPanelSessions:
    """Sessions of browsers, by the digests of their cookies."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, panel: PanelSession) -> None:
        """Store a new panel session."""
        await self._database.write(insert(panel_sessions), _panel_row(panel))

    async def find(self, id_hash: str) -> PanelSession | None:
        """Return a panel session."""
        row = await self._database.first(_PANEL, {"id_hash": id_hash})
        return None if row is None else _read_panel(row)

    async def replace(self, old_hash: str, new: PanelSession) -> bool:
        """Replace a panel session by one with a new id; False when the old one is gone."""
        removing = delete(panel_sessions).where(panel_sessions.c.id_hash == old_hash)
        with suppress(_Lost):
            async with self._database.writing() as connection:
                if (await connection.execute(removing)).rowcount == 0:
                    raise _Lost
                await connection.execute(insert(panel_sessions), _panel_row(new))
            return True
        return False

    async def supersede(self, old: PanelSession, new: PanelSession, now: datetime) -> bool:
        """
        Store a new panel session beside the old one, whose version is raised.

        False, and nothing is stored, when the old one's version has moved, or its tokens are
        being refreshed.
        """
        changing = (
            update(panel_sessions)
            .where(panel_sessions.c.id_hash == old.id_hash)
            .where(panel_sessions.c.version == old.version, _free(now))
            .values(_panel_row(old) | {"version": old.version + 1, "lease_until": None})
        )
        with suppress(_Lost):
            async with self._database.writing() as connection:
                if (await connection.execute(changing)).rowcount == 0:
                    raise _Lost
                await connection.execute(insert(panel_sessions), _panel_row(new))
            return True
        return False

    async def note_delivery(self, id_hash: str) -> None:
        """Note that the browser has this cookie."""
        delivered = (
            update(panel_sessions).where(panel_sessions.c.id_hash == id_hash).values(delivered=True)
        )
        await self._database.write(delivered)

    async def touch(self, id_hash: str, at: datetime) -> None:
        """Restart the idle time."""
        seen = (
            update(panel_sessions)
            .where(panel_sessions.c.id_hash == id_hash, panel_sessions.c.seen_at < at)
            .values(seen_at=at)
        )
        await self._database.write(seen)

    async def lease(self, id_hash: str, version: int, now: datetime, until: datetime) -> bool:
        """Take the right to refresh; False when it is taken or the version has moved."""
        taking = (
            update(panel_sessions)
            .where(panel_sessions.c.id_hash == id_hash)
            .where(panel_sessions.c.version == version, _free(now))
            .values(lease_until=until)
        )
        return await self._database.write(taking) == 1

    async def save(self, panel: PanelSession, version: int) -> bool:
        """Store new tokens over ``version``, raise it and end the lease; False when it moved."""
        saving = (
            update(panel_sessions)
            .where(panel_sessions.c.id_hash == panel.id_hash, panel_sessions.c.version == version)
            .values(_panel_row(panel) | {"version": version + 1, "lease_until": None})
        )
        return await self._database.write(saving) == 1

    async def remove(self, id_hash: str) -> bool:
        """Delete a panel session; False when it did not exist."""
        removing = delete(panel_sessions).where(panel_sessions.c.id_hash == id_hash)
        return await self._database.write(removing) == 1

    async def of(self, user_id: str) -> Sequence[PanelSession]:
        """Return a user's panel sessions, oldest first."""
        rows = await self._database.rows(_PANELS_OF, {"user_id": user_id})
        return [_read_panel(row) for row in rows]

    async def live(self, idle_since: datetime, now: datetime) -> Mapping[PanelState, int]:
        """
        Count the browsers of every state but ANONYMOUS.

        A panel session counts as signed in if its sign-in has not ended and it was used
        after ``idle_since``; one whose cookie has just been replaced is one.
        """
        instants = {"idle_since": idle_since, "now": now}
        [row] = await self._database.rows(_LIVE_BROWSERS, instants)
        return {PanelState.FULL: row.full, PanelState.MFA_PENDING: row.pending}

    async def forget(self, idle_since: datetime, now: datetime) -> int:
        """Delete panel sessions idle for too long or over; return the number."""
        idle = await delete_old(self._database, panel_sessions.c.seen_at, idle_since)
        after = now + timedelta(microseconds=1)  # the least there is: what ends now is over
        return idle + await delete_old(self._database, panel_sessions.c.ends_at, after)


def _free(now: datetime) -> ColumnElement[bool]:
    """Return the SQL condition that no request is refreshing the tokens."""
    return or_(panel_sessions.c.lease_until.is_(None), panel_sessions.c.lease_until <= now)


def _panel_row(panel: PanelSession) -> dict[str, object]:
    return row_of(panel) | {"state": panel.state.value}


def _read_panel(row: Record) -> PanelSession:
    return record_of(PanelSession, row, {"state": PanelState})


_WAITING = select(mailbox).where(mailbox.c.sent_at.is_(None)).order_by(mailbox.c.created_at)
_LATEST = select(mailbox).order_by(mailbox.c.created_at.desc(), mailbox.c.id)


class StoredMailbox:
    """Mail to be sent, and, in the sandbox, to be read; ``SealedMailbox`` encrypts its texts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, mail: Mail) -> None:
        """Store a message."""
        async with self._database.writing() as connection:
            await self.add(connection, mail)

    async def add(self, connection: AsyncConnection, mail: Mail) -> None:
        """Store a message in the caller's transaction."""
        await connection.execute(insert(mailbox), row_of(mail))

    async def waiting(self, most: int, but: Collection[str] = ()) -> Sequence[Mail]:
        """Return unsent mail, oldest first, without the ids in ``but``."""
        wanted = _WAITING.where(mailbox.c.id.not_in([*but])).limit(most)
        rows = await self._database.rows(wanted)
        return [record_of(Mail, row) for row in rows]

    async def sent(self, mail_id: str, at: datetime) -> None:
        """Mark a mail as sent; its text is deleted."""
        gone = update(mailbox).where(mailbox.c.id == mail_id).values(sent_at=at, text="")
        await self._database.write(gone)

    async def latest(self, most: int, scope: CompanyScope) -> Sequence[Mail]:
        """
        Return the newest ones, newest first.

        With a limited scope only mail to users who are limited to one of its companies,
        or to exactly all of them.
        """
        wanted = _LATEST
        if not scope.everything:
            people = select(users.c.email).where(*limited_exactly(users.c.companies, scope))
            wanted = wanted.where(mailbox.c.to.in_(people))
        rows = await self._database.rows(wanted.limit(most))
        return [record_of(Mail, row) for row in rows]

    async def forget(self, before: datetime) -> int:
        """Delete mail written before an instant, sent or not; return the number."""
        return await delete_old(self._database, mailbox.c.created_at, before)


_CHALLENGE = select(challenges).where(challenges.c.digest == bindparam("digest"))
_MAIL_TOKEN = select(mail_tokens).where(mail_tokens.c.digest == bindparam("digest"))
_OWNER = select(users.c.id).where(users.c.id == bindparam("user_id")).with_for_update()
"""Locks the person whose links are counted or used, where the database has rows to lock."""


def _unused(user_id: str, purpose: Purpose) -> Select[tuple[bytes]]:
    """Select a person's links that were not used."""
    return select(mail_tokens.c.digest).where(
        mail_tokens.c.user_id == user_id,
        mail_tokens.c.purpose == purpose.value,
        mail_tokens.c.used_at.is_(None),
    )


class StoredChallenges:
    """Challenges for second factors, and tokens of links in mails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, challenge: Challenge) -> None:
        """Store a new challenge."""
        await self._database.write(insert(challenges), row_of(challenge))

    async def find(self, digest: bytes) -> Challenge | None:
        """Return a challenge, also a used or expired one."""
        row = await self._database.first(_CHALLENGE, {"digest": digest})
        return None if row is None else record_of(Challenge, row)

    async def try_once(self, digest: bytes, most: int, now: datetime) -> bool:
        """Count a try by compare-and-set; False when it is used, over, or tried ``most`` times."""
        trying = (
            update(challenges)
            .where(challenges.c.digest == digest, challenges.c.used_at.is_(None))
            .where(challenges.c.tries < most, challenges.c.ends_at > now)
            .values(tries=challenges.c.tries + 1)
        )
        return await self._database.write(trying) == 1

    async def use(self, digest: bytes, at: datetime) -> bool:
        """Use up a challenge by compare-and-set; False when it was used before."""
        using = (
            update(challenges)
            .where(challenges.c.digest == digest, challenges.c.used_at.is_(None))
            .values(used_at=at)
        )
        return await self._database.write(using) == 1

    async def add_used(self, challenge: Challenge) -> bool:
        """Store a challenge that is used already; False when it was stored before."""
        async with self._database.writing() as connection:
            return await self._database.add(connection, challenges, row_of(challenge))

    async def add_mail_token(self, token: MailToken) -> None:
        """Store a new mail token; earlier ones of the same user and purpose are used up."""
        voiding = (
            update(mail_tokens)
            .where(mail_tokens.c.user_id == token.user_id, mail_tokens.c.used_at.is_(None))
            .where(mail_tokens.c.purpose == token.purpose.value)
            .values(used_at=token.created_at)
        )
        async with self._database.writing() as connection:
            await connection.execute(voiding)
            await connection.execute(
                insert(mail_tokens), row_of(token) | {"purpose": token.purpose.value}
            )

    async def add_mail_token_beside(self, token: MailToken, most: int) -> bool:
        """Store a new mail token; False if ``most`` of the same user and purpose are valid."""
        live = _unused(token.user_id, token.purpose).where(mail_tokens.c.ends_at > token.created_at)
        async with self._database.writing() as connection:
            await connection.execute(_OWNER, {"user_id": token.user_id})
            if len((await connection.execute(live)).all()) >= most:
                return False
            await connection.execute(
                insert(mail_tokens), row_of(token) | {"purpose": token.purpose.value}
            )
        return True

    async def use_mail_token(
        self, digest: bytes, purpose: Purpose, at: datetime
    ) -> MailToken | None:
        """Use up a token and all others of its user and purpose; None unless it is valid."""
        async with self._database.writing() as connection:
            row = (await connection.execute(_MAIL_TOKEN, {"digest": digest})).one_or_none()
            if row is None:
                return None
            found = record_of(MailToken, row, {"purpose": Purpose})
            # of two links used at once one waits here for the other, and is used up by it
            await connection.execute(_OWNER, {"user_id": found.user_id})
            unused = _unused(found.user_id, purpose)
            mine = unused.where(mail_tokens.c.digest == digest, mail_tokens.c.ends_at > at)
            if (await connection.execute(mine)).one_or_none() is None:
                return None
            using = update(mail_tokens).where(mail_tokens.c.digest.in_(unused)).values(used_at=at)
            await connection.execute(using)
        return replace(found, used_at=at)

    async def forget(self, before: datetime) -> int:
        """Delete challenges and links that expired before an instant; return the number."""
        gone = await delete_old(self._database, challenges.c.ends_at, before)
        return gone + await delete_old(self._database, mail_tokens.c.ends_at, before)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityStore:
    """Identity's stores over one database."""

    users: StoredUsers
    passkeys: StoredPasskeys
    sessions: StoredSessions
    challenges: StoredChallenges
    panels: StoredPanelSessions
    signing_keys: StoredSigningKeys
    failures: StoredFailureCounts
    mailbox: StoredMailbox

    @classmethod
    def over(cls, database: Database) -> IdentityStore:
        """Make identity's stores over a database."""
        return cls(
            users=StoredUsers(database),
            passkeys=StoredPasskeys(database),
            sessions=StoredSessions(database),
            challenges=StoredChallenges(database),
            panels=StoredPanelSessions(database),
            signing_keys=StoredSigningKeys(database),
            failures=StoredFailureCounts(database),
            mailbox=StoredMailbox(database),
        )

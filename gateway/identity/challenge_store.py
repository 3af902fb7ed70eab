"""Second factors asked for, links in mails, and mail that waits, in the store."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Select, bindparam, insert, select, update

from gateway.core.company_scope import CompanyScope
from gateway.identity.challenges import Challenge, Mail, MailToken, Purpose
from gateway.store.kernel.database import Database
from gateway.store.kernel.old_rows import delete_old
from gateway.store.tables.columns import record_of, row_of
from gateway.store.tables.identity import challenges, mail_tokens, outbox, users
from gateway.store.tables.scope import limited_exactly

_WAITING = select(outbox).where(outbox.c.sent_at.is_(None)).order_by(outbox.c.created_at)
_LATEST = select(outbox).order_by(outbox.c.created_at.desc(), outbox.c.id)


class StoredOutbox:
    """``Outbox`` over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, mail: Mail) -> None:
        """Store a message."""
        await self._database.write(insert(outbox), row_of(mail))

    async def waiting(self, most: int, but: Collection[str] = ()) -> Sequence[Mail]:
        """Return unsent ones, oldest first; those with the ids ``but`` are left out."""
        wanted = _WAITING.where(outbox.c.id.not_in([*but])).limit(most)
        rows = await self._database.rows(wanted)
        return [record_of(Mail, row) for row in rows]

    async def sent(self, mail_id: str, at: datetime) -> None:
        """Note that one went out; its text is forgotten."""
        gone = update(outbox).where(outbox.c.id == mail_id).values(sent_at=at, text="")
        await self._database.write(gone)

    async def latest(self, most: int, scope: CompanyScope) -> Sequence[Mail]:
        """Return the newest ones, newest first: mail to users within the scope."""
        wanted = _LATEST
        if not scope.everything:
            people = select(users.c.email).where(*limited_exactly(users.c.companies, scope))
            wanted = wanted.where(outbox.c.to.in_(people))
        rows = await self._database.rows(wanted.limit(most))
        return [record_of(Mail, row) for row in rows]

    async def forget(self, before: datetime) -> int:
        """Delete what was written before an instant, sent or not; return how many."""
        return await delete_old(self._database, outbox.c.created_at, before)


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
    """Second factors asked for, and links in mails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, challenge: Challenge) -> None:
        """Store a new one."""
        await self._database.write(insert(challenges), row_of(challenge))

    async def find(self, digest: bytes) -> Challenge | None:
        """Return one, used and ended ones included."""
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
        """Use one up by compare-and-set; False when it was used before."""
        using = (
            update(challenges)
            .where(challenges.c.digest == digest, challenges.c.used_at.is_(None))
            .values(used_at=at)
        )
        return await self._database.write(using) == 1

    async def add_mail_token(self, token: MailToken) -> None:
        """Store a new one; those of the same user and purpose are used up."""
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
        """Store a new one unless ``most`` of the same user and purpose work; then False."""
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
        """Use one up with all others of its user; None when there is none, or used or over."""
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
        """Delete what was over before an instant, links too; return how many."""
        gone = await delete_old(self._database, challenges.c.ends_at, before)
        return gone + await delete_old(self._database, mail_tokens.c.ends_at, before)

"""Second factors that are asked for, and links in mails, in the store."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, delete, insert, select, update

from gateway.domain.identity import Challenge, MailToken, Purpose
from gateway.store.database import Database
from gateway.store.identity_tables import challenges, mail_tokens
from gateway.store.records import record_of, row_of

_CHALLENGE = select(challenges).where(challenges.c.digest == bindparam("digest"))
_MAIL_TOKEN = select(mail_tokens).where(mail_tokens.c.digest == bindparam("digest"))


class StoredChallenges:
    """``Challenges`` over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, challenge: Challenge) -> None:
        """Store a new one."""
        async with self._database.writing() as connection:
            await connection.execute(insert(challenges), row_of(challenge))

    async def find(self, digest: bytes) -> Challenge | None:
        """Return one, used and ended ones included."""
        async with self._database.reading() as connection:
            row = (await connection.execute(_CHALLENGE, {"digest": digest})).one_or_none()
        return None if row is None else record_of(Challenge, row)

    async def try_once(self, digest: bytes, most: int, now: datetime) -> bool:
        """Count a try by compare-and-set; False when it is used, over, or tried ``most`` times."""
        trying = (
            update(challenges)
            .where(challenges.c.digest == digest, challenges.c.used_at.is_(None))
            .where(challenges.c.tries < most, challenges.c.ends_at > now)
            .values(tries=challenges.c.tries + 1)
        )
        async with self._database.writing() as connection:
            return (await connection.execute(trying)).rowcount == 1

    async def use(self, digest: bytes, at: datetime) -> bool:
        """Use one up by compare-and-set; False when it was used before."""
        using = (
            update(challenges)
            .where(challenges.c.digest == digest, challenges.c.used_at.is_(None))
            .values(used_at=at)
        )
        async with self._database.writing() as connection:
            return (await connection.execute(using)).rowcount == 1

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

    async def use_mail_token(
        self, digest: bytes, purpose: Purpose, at: datetime
    ) -> MailToken | None:
        """Use one up by compare-and-set; None when there is none, or it is used or over."""
        using = (
            update(mail_tokens)
            .where(mail_tokens.c.digest == digest, mail_tokens.c.used_at.is_(None))
            .where(mail_tokens.c.purpose == purpose.value, mail_tokens.c.ends_at > at)
            .values(used_at=at)
        )
        async with self._database.writing() as connection:
            if (await connection.execute(using)).rowcount == 0:
                return None
            row = (await connection.execute(_MAIL_TOKEN, {"digest": digest})).one()
        return record_of(MailToken, row, {"purpose": Purpose})

    async def forget(self, before: datetime) -> int:
        """Delete what was over before an instant, links too; return how many."""
        async with self._database.writing() as connection:
            gone = 0
            for table in (challenges, mail_tokens):
                over = delete(table).where(table.c.ends_at < before)
                gone += (await connection.execute(over)).rowcount
        return gone

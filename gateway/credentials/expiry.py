"""Events of credentials and of rotated secrets that end soon: a week before, and a day before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import and_, bindparam, delete, or_, select, union

from gateway.core.clocks import Now
from gateway.events import store as events
from gateway.events.model import Event, EventType
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import Record
from gateway.store.tables.core import accounts, credentials, expiry_notices, secrets

_DAY: Final = timedelta(days=1)
_FIRST_DAYS: Final = 7
_LAST_DAYS: Final = 1
_NOW: Final = bindparam("now", type_=credentials.c.expires_at.type)
_UNTIL: Final = bindparam("until", type_=credentials.c.expires_at.type)
_WHOSE: Final = (credentials.c.client_id, credentials.c.company_id, credentials.c.account_id)
_ENDING: Final = union(
    select(*_WHOSE, credentials.c.expires_at.label("ends_at")).where(
        credentials.c.revoked_at.is_(None),
        credentials.c.expires_at > _NOW,
        credentials.c.expires_at <= _UNTIL,
    ),
    select(*_WHOSE, secrets.c.expires_at.label("ends_at"))
    .join(secrets, secrets.c.client_id == credentials.c.client_id)
    .where(
        credentials.c.revoked_at.is_(None),
        or_(
            credentials.c.expires_at.is_(None),
            credentials.c.expires_at > secrets.c.expires_at,
        ),
        and_(secrets.c.expires_at > _NOW, secrets.c.expires_at <= _UNTIL),
    ),
)


@dataclass(frozen=True, slots=True)
class ExpiryWatch:
    """Writes events of what ends soon, at each account that the credential is for."""

    database: Database
    now: Now
    new_event_id: Callable[[], str] = events.RANDOM_ID

    async def turn(self) -> int:
        """
        Write the missing events of what ends within a week, or a day; return the number of ends.

        Safe to repeat, and in two processes at once.

        Raises:
            StoreUnavailable: events written until then stay.
        """
        now = self.now()
        given = {"now": now, "until": now + _FIRST_DAYS * _DAY}
        ending = await self.database.rows(_ENDING, given)
        told = [await self._tell(each, now) for each in ending]
        await self.database.write(
            delete(expiry_notices).where(expiry_notices.c.ends_at < now - _DAY)
        )
        return sum(told)

    async def _tell(self, ending: Record, now: datetime) -> bool:
        """Note one end, and write its events; False if that is done already."""
        is_last = ending.ends_at - now <= _LAST_DAYS * _DAY
        notice = {
            "client_id": ending.client_id,
            "ends_at": ending.ends_at,
            "days": _LAST_DAYS if is_last else _FIRST_DAYS,
        }
        async with self.database.writing() as connection:
            if not await self.database.add(connection, expiry_notices, notice):
                return False
            found = [ending.account_id]
            if ending.account_id is None:
                own = select(accounts.c.id).where(accounts.c.company_id == ending.company_id)
                found = list((await connection.execute(own)).scalars())
            told = [
                Event(
                    id=self.new_event_id(),
                    account_id=each,
                    type=EventType.CREDENTIAL_EXPIRING,
                    at=now,
                    client_id=ending.client_id,
                )
                for each in found
            ]
            if told:
                await events.append(connection, *told)
        return True

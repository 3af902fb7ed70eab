"""Outages of banks: when the calls to a bank began to fail, and when they went well again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, or_, select, update

from gateway.banks.model import MINUTE, RECENT, is_down
from gateway.banks.store import ProviderMinutes
from gateway.notifications.model import LOOKS_BACK, Kind, Occasion, State
from gateway.store.kernel.database import Database
from gateway.store.tables.core import accounts
from gateway.store.tables.notifications import bank_outages, notifications

TOLD_FOR: Final = timedelta(days=1)
"""The end of an outage is told for so long."""
_O: Final = bank_outages.c


@dataclass(frozen=True, slots=True)
class Outages:
    """
    The outages.

    Each begins and ends by the results of all processes' calls, which are stored once a minute.
    """

    database: Database

    async def turn(self, now: datetime) -> None:
        """Note outages that have begun or ended; safe to repeat."""
        this_minute = now.replace(second=0, microsecond=0)
        calls: dict[str, tuple[int, int]] = {}
        for each in await ProviderMinutes(self.database).added_up(
            this_minute - RECENT * MINUTE, RECENT * MINUTE, None
        ):
            sent, ok = calls.get(each.provider, (0, 0))
            calls[each.provider] = sent + each.calls, ok + each.ok
        open_ = {
            row.provider
            for row in await self.database.rows(select(_O.provider).where(_O.until.is_(None)))
        }
        for provider, (sent, ok) in calls.items():
            if is_down(sent, ok) and provider not in open_:
                async with self.database.writing() as connection:
                    row = {"provider": provider, "since": this_minute, "until": None}
                    await self.database.add(connection, bank_outages, row)
            elif sent and not is_down(sent, ok) and provider in open_:
                ended = update(bank_outages).where(_O.provider == provider, _O.until.is_(None))
                await self.database.write(ended.values(until=now))

    async def occasions(self, now: datetime) -> Sequence[Occasion]:
        """Return the outages that last, and the ends of those that ended within a day."""
        recent = select(bank_outages).where(
            or_(_O.until.is_(None), _O.until > now - TOLD_FOR), _O.since > now - LOOKS_BACK
        )
        rows = await self.database.rows(recent.order_by(_O.since))
        companies = await self._companies({row.provider for row in rows})
        found = []
        for row in rows:
            began = f"{row.provider}/{row.since.isoformat()}"
            found.append(
                Occasion(
                    kind=Kind.BANK,
                    subject=began if row.until is None else f"{began}/back",
                    record=() if row.until is None else (began,),
                    word="down" if row.until is None else "back",
                    name=row.provider,
                    link=f"/panel/providers/{row.provider}",
                    is_urgent=row.until is None,
                    companies=companies.get(row.provider, frozenset()),
                )
            )
        return found

    async def told(self, recipient: str, began: Collection[object]) -> Collection[str]:
        """Return the outages among some of whose beginning a recipient was notified."""
        wanted = select(notifications.c.subject).where(
            notifications.c.recipient == recipient,
            notifications.c.kind == Kind.BANK.value,
            notifications.c.subject.in_(began),
            notifications.c.state == State.SENT.value,
        )
        return {row.subject for row in await self.database.rows(wanted)}

    async def forget(self, before: datetime) -> int:
        """Delete outages that ended before an instant; return the number."""
        return await self.database.write(delete(bank_outages).where(_O.until < before))

    async def _companies(self, providers: Collection[str]) -> Mapping[str, frozenset[str]]:
        """Return the companies with accounts at each bank."""
        if not providers:
            return {}
        pairs = select(accounts.c.provider, accounts.c.company_id).distinct()
        found: dict[str, set[str]] = {}
        for row in await self.database.rows(pairs.where(accounts.c.provider.in_(providers))):
            found.setdefault(row.provider, set()).add(row.company_id)
        return {provider: frozenset(ids) for provider, ids in found.items()}

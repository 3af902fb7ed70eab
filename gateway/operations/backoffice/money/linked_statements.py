"""The statement as operators read it: local days, filters, sums, and what is behind a movement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from gateway.domain.bank.records.charges import ChargeRecord, ChargeRecords
from gateway.domain.bank.statements import Direction, Entry, MovementKind
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.windows import (
    LOCAL,
    LocalWindow,
    Paging,
    Search,
    Window,
    local_end,
    local_start,
)
from gateway.domain.payouts.links import PayoutLinks
from gateway.domain.payouts.payouts import Payout
from gateway.domain.payouts.returns import is_return_id
from gateway.domain.requests.calls import Caller
from gateway.operations.bank.statements import Statements


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementSearch:
    """
    Which movements: ``search`` counts days of Brasilia.

    ``text`` is looked for in the description, the counterparty's name and the end-to-end id.
    """

    search: Search
    direction: Direction | None = None
    text: str = ""


@dataclass(slots=True)
class Sums:
    """What came in and what went out, in centavos, neither negative."""

    credits: int = 0
    debits: int = 0
    credit_count: int = 0
    debit_count: int = 0

    def add(self, entry: Entry) -> None:
        """Count a movement."""
        if entry.direction is Direction.CREDIT:
            self.credits += entry.value.centavos
            self.credit_count += 1
        else:
            self.debits += entry.value.centavos
            self.debit_count += 1

    def add_all(self, other: Sums) -> None:
        """Add what was added up before."""
        self.credits += other.credits
        self.debits += other.debits
        self.credit_count += other.credit_count
        self.debit_count += other.debit_count


_EXPLAINED: Final = frozenset({MovementKind.PIX_RETURN, MovementKind.FEE})
"""Debits that say themselves what they are for."""


@dataclass(frozen=True, slots=True)
class LinkedEntry:
    """A movement, and the payout or the charge of ours that is behind it, as far as we know."""

    entry: Entry
    payout: Payout | None
    charge: ChargeRecord | None

    @property
    def difference(self) -> int:
        """Return by how many centavos more went out than the payout ordered; negative for less."""
        if self.payout is None or self.entry.direction is not Direction.DEBIT:
            return 0
        return self.entry.value.centavos - self.payout.value.centavos

    @property
    def is_unexplained(self) -> bool:
        """Say whether money went out by no payout of ours, nor as a refund or a fee."""
        entry = self.entry
        is_told = entry.kind in _EXPLAINED or is_return_id(entry.e2e_id)
        return entry.direction is Direction.DEBIT and self.payout is None and not is_told


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedStatement:
    """
    A page of movements, newest first.

    Attributes:
        sums: Of the whole window, whatever the filters.
        days: The same for each day on the page, newest first.
        read_at: When the bank was asked; None for a page from what was read before.
    """

    entries: Sequence[LinkedEntry]
    paging: Paging
    total: int
    sums: Sums
    days: Mapping[date, Sums]
    read_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedStatements:
    """Reads statements and ties them to what is on record."""

    statements: Statements
    payouts: PayoutLinks
    charges: ChargeRecords
    now: Now

    async def read(self, caller: Caller, wanted: StatementSearch) -> LinkedStatement:
        """
        Return a page of movements, Pix or not.

        The first page of all of them asks the bank. Later pages, and those of a filter, are of
        what it told within the last minute, where that was kept.

        Raises:
            ServiceError: ``SVC.ACC.005`` (422) when no provider is configured.
            NotSupported: the bank does not tell movements.
            ProviderError: the bank gave no usable answer.
            StoreUnavailable: what is behind the movements cannot be read.
        """
        paging, now = wanted.search.paging, self.now()
        asks = not (paging.offset or wanted.direction or wanted.text)
        entries = await self._local(caller, wanted.search.window, fresh=asks)
        sums, days = _summed(entries)
        chosen = _chosen(entries, wanted)
        page = chosen[paging.offset : paging.offset + paging.limit]
        shown = {local_day(each.created_at) for each in page}
        return LinkedStatement(
            entries=await self._linked(caller.account.id, page),
            paging=paging,
            total=len(chosen),
            sums=sums,
            days={day: known for day, known in days.items() if day in shown},
            read_at=now if asks else None,
        )

    async def _local(self, caller: Caller, days: Window, *, fresh: bool) -> Sequence[Entry]:
        """Read the UTC days that the local days touch, newest first, and cut what is beside."""
        local, found = LocalWindow(days.init, days.ends), list[Entry]()
        for window in local.utc_days():
            found += await self.statements.window(caller, window, fresh=fresh)
        begins, ends = local.start, local.end
        return [each for each in found if begins <= each.created_at < ends]

    async def _linked(self, account_id: str, page: Sequence[Entry]) -> Sequence[LinkedEntry]:
        """Tie movements to payouts and charges, by two queries whatever the page's size."""
        keys = {each.provider_key for each in page}
        out = {each.e2e_id for each in page if each.direction is Direction.DEBIT}
        came_in = {each.e2e_id for each in page if each.direction is Direction.CREDIT}
        payouts = _by_name(await self.payouts.behind(account_id, out, keys))
        charges = {each.e2e_id: each for each in await self.charges.paid_by(account_id, came_in)}
        return [
            LinkedEntry(
                entry=each,
                payout=payouts.get(each.provider_key) or _ordered(each, payouts),
                charge=charges.get(each.e2e_id) if each.direction is Direction.CREDIT else None,
            )
            for each in page
        ]


def local_day(at: datetime) -> date:
    """Return the day of Brasilia."""
    return at.astimezone(LOCAL).date()


def _summed(entries: Iterable[Entry]) -> tuple[Sums, Mapping[date, Sums]]:
    """Add up a window and its days."""
    days: dict[date, Sums] = {}
    for day, each in _with_days(entries):
        known = days.get(day)
        if known is None:
            known = days[day] = Sums()
        known.add(each)
    sums = Sums()
    for of_day in days.values():
        sums.add_all(of_day)
    return sums, days


def _with_days(entries: Iterable[Entry]) -> Iterator[tuple[date, Entry]]:
    """Name the local day of each; of many that follow each other it is worked out once."""
    day = begins = ends = None
    for each in entries:
        at = each.created_at
        if day is None or begins is None or ends is None or not begins <= at < ends:
            day = local_day(at)
            begins, ends = local_start(day), local_end(day)
        yield day, each


def _chosen(entries: Sequence[Entry], wanted: StatementSearch) -> Sequence[Entry]:
    """Return the movements that are asked for."""
    if wanted.direction is None and not wanted.text:
        return entries
    return [each for each in entries if _matches(each, wanted)]


def _matches(entry: Entry, wanted: StatementSearch) -> bool:
    """Say whether a movement is one that is asked for."""
    if wanted.direction not in {None, entry.direction}:
        return False
    text = wanted.text.casefold()
    words = (entry.description, entry.counterparty.name, entry.e2e_id)
    return not text or any(text in each.casefold() for each in words)


def _by_name(payouts: Iterable[Payout]) -> Mapping[str, Payout]:
    """Order payouts by each name that a bank may call them by; the two never look alike."""
    return {name: each for each in payouts for name in (each.provider_key, each.e2e_id) if name}


def _ordered(entry: Entry, payouts: Mapping[str, Payout]) -> Payout | None:
    """Return the payout of a debit; what came in has another's end-to-end id."""
    return payouts.get(entry.e2e_id) if entry.direction is Direction.DEBIT else None

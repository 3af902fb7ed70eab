"""
A bank's movements matched with payouts, for follow-up, verification, statements and day closings.

A movement names its payout by our key, where the bank repeats it. A debit names it by the
end-to-end id too; incoming money carries the id of another payment.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from gateway.banks.connections import offered
from gateway.banks.lists import walked
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import Bank, Evidence, Phase, PixReturn, Settled
from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.core.money import Money
from gateway.core.strict import is_e2e_id
from gateway.core.windows import LONGEST_DAYS, Window
from gateway.payouts.model import Payout

MOST: Final = 100
"""Returns of one payout that are kept; a receiver sends money back in a few parts at most."""

# How far a bank's clock may be behind ours; older movements are not looked at.
_CLOCKS_APART: Final = timedelta(hours=1)
# What is looked for is among the newest; a bank may return fewer at once.
_PAGE: Final = 200
# An answer without proof is better than a look that never ends; the next one tries again.
_MOST_PAGES: Final = 50


class NamedPayouts:
    """Payouts, found by the names that a movement of their bank carries."""

    def __init__(self, payouts: Iterable[Payout]) -> None:
        self._by_key: dict[str, Payout] = {}
        self._by_e2e_id: dict[str, list[Payout]] = {}
        for each in payouts:
            self._by_key[each.provider_key] = each
            if each.e2e_id:
                self._by_e2e_id.setdefault(each.e2e_id, []).append(each)

    def every(self, entry: Entry) -> Sequence[Payout]:
        """Return the payouts that a movement names, with the one named by our key first."""
        e2e_id = entry.e2e_id if entry.direction is Direction.DEBIT else ""
        return self.named(entry.provider_key, e2e_id)

    def of(self, entry: Entry) -> Payout | None:
        """Return the payout that a movement names, preferably by our key."""
        return next(iter(self.every(entry)), None)

    def named(self, provider_key: str, e2e_id: str) -> Sequence[Payout]:
        """Return the payouts of a key and of a debit's end-to-end id; each may be empty."""
        found = [self._by_key[provider_key]] if provider_key in self._by_key else []
        others = self._by_e2e_id.get(e2e_id, ())
        return [*found, *(each for each in others if each.provider_key != provider_key)]


def returns_in(entries: Iterable[Entry], provider_key: str) -> tuple[PixReturn, ...]:
    """
    Return the returns of a payout among movements of its account.

    An entry is a return if it has our key and the return's own id. Without that id it could not be
    distinguished from a second return.
    """
    return tuple(
        PixReturn(id=entry.e2e_id, value=entry.value, at=entry.created_at)
        for entry in entries
        if entry.provider_key == provider_key and is_return(entry)
    )


def is_return(entry: Entry) -> bool:
    """Return whether a movement is a return of one of our payouts."""
    came_in = entry.direction is Direction.CREDIT and entry.kind is MovementKind.PIX_RETURN
    return came_in and entry.provider_key != "" and is_return_id(entry.e2e_id)


def is_return_id(text: str) -> bool:
    """Return whether a text is a return's own id of the central bank's form."""
    return text.startswith("D") and is_e2e_id(text)


CallPlace = Callable[[], AbstractAsyncContextManager[None]]
"""Entered for a call: waits until the bank may be asked, and is there for as long as it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """
    Limits of one statement search.

    Attributes:
        within_s: Seconds that the bank may take for all pages together; waits are not counted.
        ends_at: The loop's time at which the search ends; None for no limit.
        place: Entered for each page.
    """

    within_s: float
    ends_at: float | None = None
    place: CallPlace = nullcontext


class StatementSearch:
    """
    Searches the movements of an account's payouts in one walk, since the oldest was created.

    A movement proves a payout that it names if it is a debit of the same amount. Where the bank
    names payouts in no movement, it is not queried. The returns of a payout are listed before it,
    for entries come newest first.

    Attributes:
        found: The settlements seen so far, by provider key. They are proven however the walk
            ends: nothing that stands in a later page takes a movement back.
    """

    def __init__(self, payouts: Sequence[Payout], bank: Bank) -> None:
        can = bank.adapter.capabilities
        sought = [each for each in payouts if can.statement_proves(each.e2e_id)]
        self.found: dict[str, Settled] = {}
        self._bank = bank
        self._named = NamedPayouts(sought)
        self._waiting = {each.provider_key: each for each in sought}
        self._back: dict[str, list[Entry]] = {}
        self._oldest = self._since()

    async def walk(self, now: datetime, asking: Asking) -> None:
        """
        Read the statement until everything is found or nothing more can be.

        Raises:
            ProviderError: the bank gave no usable answer.
            TimeoutError: its time is over.
        """
        if not self._waiting:
            return
        window = _window(self._oldest, now)
        async with asyncio.timeout_at(asking.ends_at):
            await self._read(window, asking)

    async def _read(self, window: Window, asking: Asking) -> None:
        """Read page after page, each in a slot of its own."""
        bank, left_s, clock = self._bank, asking.within_s, asyncio.get_running_loop().time
        size = min(_PAGE, bank.adapter.capabilities.largest_page)
        calls, cursor = offered(bank, PortCall.LIST_STATEMENT), None
        for _ in range(_MOST_PAGES):
            async with asking.place():
                asked_at = clock()
                async with asyncio.timeout(left_s):
                    page = await calls.list_statement(bank.account, window, cursor, size)
                left_s -= clock() - asked_at
            cursor = page.next_cursor
            if self._ends_in(page.items) or cursor is None:
                return

    def _ends_in(self, entries: Iterable[Entry]) -> bool:
        """Search a page; return whether the following pages can be skipped."""
        for entry in entries:
            for payout in self._named.every(entry):
                if payout.provider_key not in self._waiting:
                    continue
                if entry.direction is Direction.DEBIT and entry.value == payout.value:
                    self._settle(entry, payout)
                elif entry.provider_key == payout.provider_key:
                    self._back.setdefault(entry.provider_key, []).append(entry)
            if not self._waiting or entry.created_at < self._oldest:
                return True
        return False

    def _settle(self, entry: Entry, payout: Payout) -> None:
        """Convert a movement to the settlement it proves."""
        key = payout.provider_key
        del self._waiting[key]
        self.found[key] = Settled(
            evidence=Evidence(phase=Phase.ANSWERED, bytes_left=True, reason="statement"),
            value=entry.value,
            provider_id=entry.provider_id,
            e2e_id=entry.e2e_id,
            settled_at=entry.created_at,
            returns=returns_in(self._back.pop(key, ()), key),
        )
        self._oldest = self._since()

    def _since(self) -> datetime:
        """Return the earliest possible time of the movements searched for."""
        created = (each.created_at for each in self._waiting.values())
        return min(created, default=datetime.max.replace(tzinfo=UTC)) - _CLOCKS_APART


def _window(since: datetime, now: datetime) -> Window:
    """Return the days since then, limited to a window."""
    last = max(now.date(), since.date())
    first = max(since.date(), last - timedelta(days=LONGEST_DAYS - 1))
    return Window(first, last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """
    Money that left an account.

    Attributes:
        key: The provider key it was ordered under; empty when the bank does
            not repeat it, or when it was ordered elsewhere.
        value: Above zero.
        returned: All of it came back under the same key.
    """

    key: str
    e2e_id: str
    value: Money
    at: datetime
    returned: bool = False


@dataclass(frozen=True, slots=True)
class StatementPayouts:
    """The payouts in a statement: executions, and returns by provider key."""

    executions: Sequence[Execution]
    returns: Mapping[str, Sequence[PixReturn]]


async def statement_payouts(bank: Bank, window: Window, rows: Sequence[Payout]) -> StatementPayouts:
    """
    Read the Pix that left an account in a window, and came back to it, newest first.

    Args:
        bank: The account's.
        window: Of settlement.
        rows: Payouts whose end-to-end ids name the key of an entry without one.

    Raises:
        ProviderError: the bank gave no usable answer.
    """
    size = bank.adapter.capabilities.largest_page
    calls = offered(bank, PortCall.LIST_STATEMENT)
    pages = walked(lambda cursor: calls.list_statement(bank.account, window, cursor, size))
    entries = [entry async for page in pages for entry in page.items]
    keys = dict.fromkeys(entry.provider_key for entry in entries if is_return(entry))
    returns = {key: returns_in(entries, key) for key in keys}
    return StatementPayouts(_executions(entries, NamedPayouts(rows)), returns)


def _executions(entries: Sequence[Entry], rows: NamedPayouts) -> list[Execution]:
    """Return the debits that may be payouts, each with its key; refunds are left out."""
    back: Counter[str] = Counter()
    for entry in entries:
        if entry.provider_key and entry.direction is Direction.CREDIT:
            back[entry.provider_key] += entry.value.centavos
    found: list[Execution] = []
    for entry in entries:
        is_ours = entry.is_pix and entry.kind is not MovementKind.PIX_RETURN
        if not is_ours or entry.direction is not Direction.DEBIT:
            continue
        row = rows.of(entry)
        found.append(
            Execution(
                key=entry.provider_key or (row.provider_key if row else ""),
                e2e_id=entry.e2e_id,
                value=entry.value,
                at=entry.created_at,
                returned=back[entry.provider_key] >= entry.value.centavos,
            )
        )
    return found

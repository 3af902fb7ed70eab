"""Statements for users: movements linked to our records, sums, and exports."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from msgspec import structs

from gateway.banks.port.refunds import IncomingPayment, Refund
from gateway.banks.port.statements import Balance, Direction, Entry, MovementKind
from gateway.charges.model import ChargeRecord
from gateway.core.money import Sum
from gateway.core.strict import hidden_tax_number
from gateway.core.windows import Paging, Search, Window, local_time
from gateway.payouts.matching import is_return_id
from gateway.payouts.model import Payout
from gateway.reports.texts import Locale

_EXPLAINED: Final = frozenset({MovementKind.PIX_RETURN, MovementKind.FEE})
"""Debits that say themselves what they are for."""


def without_number(entry: Entry) -> Entry:
    """Mask both ends of the counterparty's tax number, if it is a person's."""
    who = entry.counterparty
    hidden = structs.replace(who, tax_number=hidden_tax_number(who.tax_number))
    return structs.replace(entry, counterparty=hidden)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementSearch:
    """
    Search parameters of movements: ``search`` counts days of Brasilia.

    ``text`` is an amount, or a part of the description, of the counterparty's name, of the
    end-to-end id or of the reference of the payout or charge behind it.

    Attributes:
        untied: Only those behind which nothing of ours is known.
    """

    search: Search
    direction: Direction | None = None
    text: str = ""
    untied: bool = False


@dataclass(slots=True)
class Sums:
    """Credits and debits in centavos, neither negative."""

    came_in: int = 0
    went_out: int = 0
    credit_count: int = 0
    debit_count: int = 0

    @property
    def credits(self) -> Sum:
        """Sum of credits."""
        return Sum(self.came_in)

    @property
    def debits(self) -> Sum:
        """Sum of debits."""
        return Sum(self.went_out)

    def add(self, entry: Entry) -> None:
        """Count a movement."""
        if entry.direction is Direction.CREDIT:
            self.came_in += entry.value.centavos
            self.credit_count += 1
        else:
            self.went_out += entry.value.centavos
            self.debit_count += 1

    def add_all(self, other: Sums) -> None:
        """Add other sums."""
        self.came_in += other.came_in
        self.went_out += other.went_out
        self.credit_count += other.credit_count
        self.debit_count += other.debit_count


@dataclass(frozen=True, slots=True)
class LinkedEntry:
    """
    A movement, and our record behind it, if known.

    Attributes:
        received, refund: As the bank lists them, where neither payout nor charge is on record.
    """

    entry: Entry
    payout: Payout | None
    charge: ChargeRecord | None
    received: IncomingPayment | None = None
    refund: Refund | None = None

    @property
    def is_tied(self) -> bool:
        """Return whether any record of ours is behind it."""
        return any((self.payout, self.charge, self.received, self.refund))

    @property
    def difference(self) -> Sum | None:
        """Amount moved beyond the payout's order, negative for less; None for equal."""
        if self.payout is None or self.entry.direction is not Direction.DEBIT:
            return None
        more = self.entry.value.centavos - self.payout.value.centavos
        return Sum(more) if more else None

    @property
    def is_unexplained(self) -> bool:
        """Return whether it is a debit without a payout of ours, a refund or a fee."""
        entry = self.entry
        is_told = entry.kind in _EXPLAINED or is_return_id(entry.e2e_id)
        return entry.direction is Direction.DEBIT and self.payout is None and not is_told

    @property
    def day(self) -> date:
        """The day of Brasilia."""
        return local_day(self.entry.created_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedStatement:
    """
    A page of movements, newest first.

    Attributes:
        sums: Totals of the whole window, without the filters.
        days: Totals of filtered movements, for each day on the page, newest first.
        chosen: Totals of filtered movements, of all pages.
        read_at: The time of the bank's answer; None for a page from an earlier read.
    """

    entries: Sequence[LinkedEntry]
    paging: Paging
    total: int
    sums: Sums
    days: Mapping[date, Sums]
    chosen: Sums
    read_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Balances of an account before and after the days of a statement."""

    opening: Sum
    closing: Sum


def local_day(at: datetime) -> date:
    """Return the day of Brasilia."""
    return local_time(at).date()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """
    A report request; ``format`` is a name of ``FORMATS``.

    Attributes:
        window: Days in UTC, or in the time of Brasilia.
        hides_people: Tax numbers of people lose both ends.
    """

    window: Window
    format: str
    locale: Locale = Locale.PLAIN
    hides_people: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """
    A file.

    Attributes:
        rows: Its movements.
        rest: The pieces after ``content``; None where that is all.
    """

    file_name: str
    media_type: str
    content: bytes
    rows: int
    rest: AsyncGenerator[bytes, None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One page of movements, their number in the window, and the balance now."""

    entries: tuple[Entry, ...]
    paging: Paging
    total: int
    balance: Balance

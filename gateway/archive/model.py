"""Files of archived payouts: their names, their record, and what may leave the database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime

from msgspec import Struct

from gateway.core.money import Money


class ArchiveFile(Struct, frozen=True, kw_only=True):
    """
    A file of the payouts that an account created in a month, as the database and its manifest say.

    Attributes:
        month: The first day of the month, in UTC.
        number: From 1; a later run finds payouts that had to stay when the month was archived.
        sha256: Of the file as it is on disk, compressed.
        centavos: The sum of what was ordered.
        proven_at: When it was read back and compared with the database.
        emptied_at: When its last payout had left the database; None while payouts may be left.
    """

    account_id: str
    month: date
    number: int
    sha256: str
    payouts: int
    centavos: int
    proven_at: datetime
    emptied_at: datetime | None = None

    @property
    def name(self) -> str:
        """The file's name below the folder of archives."""
        return f"{self.account_id}/{self.month:%Y-%m}-{self.number}.jsonl.gz"


@dataclass(frozen=True, slots=True)
class Planned:
    """Payouts that a run would write to a file, or a file whose payouts it would delete."""

    step: str
    account_id: str
    month: date
    payouts: int
    value: Money


def first_kept(now: datetime, months: int) -> date:
    """Return the first day of the oldest month whose payouts stay, ``months`` before this month."""
    whole = now.year * 12 + now.month - 1 - months
    return date(whole // 12, whole % 12 + 1, 1)


def begin_of(month: date) -> datetime:
    """Return the first instant of a month."""
    return datetime(month.year, month.month, 1, tzinfo=UTC)


def next_month(month: date) -> date:
    """Return the first day of the month after."""
    return first_kept(begin_of(month), -1)


def month_of(at: datetime) -> date:
    """Return the first day of an instant's month."""
    return first_kept(at.astimezone(UTC), 0)

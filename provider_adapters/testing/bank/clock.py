"""The bank's clock: the wall clock plus an offset, in microseconds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from provider_adapters.testing.bank import messages

SAO_PAULO: Final = ZoneInfo("America/Sao_Paulo")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_YEAR_S = 366 * 86400.0
# Far enough for every test, near enough that every instant stays a valid date.
_LATEST_OFFSET_S = 100 * _YEAR_S


class BankClock:
    """A clock that tests can move; the bank reads no other."""

    def __init__(self, wall: Callable[[], datetime]) -> None:
        """Start without an offset; ``wall`` returns aware UTC datetimes."""
        self._wall = wall
        self._offset_s = 0.0

    @property
    def offset_s(self) -> float:
        """Seconds the bank is ahead of the wall clock."""
        return self._offset_s

    def move(self, offset_s: float) -> None:
        """
        Set the offset from the wall clock, in seconds of either sign.

        Raises:
            Refusal: ``INVALID_REQUEST`` beyond a hundred years.
        """
        messages.require(abs(offset_s) <= _LATEST_OFFSET_S, "offset_s is at most a hundred years")
        self._offset_s = offset_s

    def now(self) -> datetime:
        """Return the bank's time, aware UTC."""
        return self._wall() + timedelta(seconds=self._offset_s)

    def micros(self) -> int:
        """Return the bank's time in microseconds since 1970, as it is stored."""
        return to_micros(self.now())


def to_micros(moment: datetime) -> int:
    """Return the microseconds since 1970, exactly: no float is involved."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Read a stored instant."""
    return _EPOCH + timedelta(microseconds=micros)


def show(micros: int) -> str:
    """Format an instant as the bank does: RFC 3339, UTC, milliseconds."""
    moment = from_micros(micros)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def shown(micros: int | None) -> str | None:
    """Format an instant that may not have come."""
    return None if micros is None else show(micros)


def day_of(micros: int) -> str:
    """Write the day of an instant in Sao Paulo, where banks' days begin and end."""
    return f"{from_micros(micros).astimezone(SAO_PAULO):%Y-%m-%d}"


def local_time(micros: int, between: str = "T") -> str:
    """Write an instant to the second, in Sao Paulo and without saying so."""
    local = from_micros(micros).astimezone(SAO_PAULO).replace(tzinfo=None)
    return local.isoformat(between, "seconds")


def midnight(day: date, later: int = 0) -> int:
    """Return the first instant of a day in Sao Paulo, or so many days later."""
    local = datetime.combine(day + timedelta(days=later), time(), SAO_PAULO)
    return to_micros(local.astimezone(UTC))


def read_day(text: str) -> date:
    """Read a day, ``YYYY-MM-DD``; raises ``INVALID_REQUEST``."""
    try:
        return date.fromisoformat(text)
    except ValueError as problem:
        message = "a day is YYYY-MM-DD"
        raise messages.invalid(message) from problem


def read(text: str) -> int:
    """
    Read an RFC 3339 instant with its zone into microseconds since 1970.

    Raises:
        Refusal: ``INVALID_REQUEST`` for any other text.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as problem:
        message = "an instant is RFC 3339 with a zone"
        raise messages.invalid(message) from problem
    messages.require(moment.tzinfo, "an instant needs its zone")
    return to_micros(moment)

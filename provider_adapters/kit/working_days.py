"""
Working days of Brazil's banks.

Source: Resolução CMN 4.880 of 2020 and the central bank's list of national holidays; 20 November
is one since 2024 (Lei 14.759 of 2023). Holidays of states and cities are working days here.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

_DAY: Final = timedelta(days=1)
_SATURDAY: Final = 5
_FIXED: Final = frozenset(
    {(1, 1), (4, 21), (5, 1), (9, 7), (10, 12), (11, 2), (11, 15), (11, 20), (12, 25)}
)
_FROM_EASTER: Final = frozenset({-48, -47, -2, 60})
"""Monday and Tuesday of Carnival, Good Friday, Corpus Christi."""
_AWARENESS: Final = (11, 20)
_AWARENESS_SINCE: Final = 2024


def is_working_day(day: date) -> bool:
    """Return whether a day is a working day of banks: no weekend, no national holiday."""
    fixed = (day.month, day.day)
    if day.weekday() >= _SATURDAY or (day - _easter(day.year)).days in _FROM_EASTER:
        return False
    return fixed not in _FIXED or (fixed == _AWARENESS and day.year < _AWARENESS_SINCE)


def working_day_from(day: date) -> date:
    """Return the day itself, or else the next working day; raises ``OverflowError``."""
    while not is_working_day(day):
        day += _DAY
    return day


def _easter(year: int) -> date:
    """Return Easter Sunday in the Gregorian calendar (Meeus, Jones and Butcher)."""
    century = year // 100
    epact = (19 * (year % 19) + century - century // 4 - (8 * century + 13) // 25 + 15) % 30
    epact -= (epact // 28) * (1 - (epact // 28) * (29 // (epact + 1)) * ((21 - year % 19) // 11))
    weekday = (year + year // 4 + epact + 2 - century + century // 4) % 7
    days = epact - weekday
    month = 3 + (days + 40) // 44
    return date(year, month, days + 28 - 31 * (month // 4))

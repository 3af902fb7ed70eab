"""Working days, compared with another's calendar."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

from workalendar.america import BrazilBankCalendar

from provider_adapters.kit.working_days import is_working_day, working_day_from
from tests.world.tables import cases

YEARS: Final = range(2000, 2100)


class NationalBankDays(BrazilBankCalendar):
    """
    The library's bank days, with what is no holiday of the central bank's list taken out.

    On Ash Wednesday banks open at noon, and on the last day of a year for each other.
    """

    include_ash_wednesday = False

    def get_variable_days(self, year: int) -> list[tuple[date, str]]:
        self.include_consciencia_negra = year >= 2024
        last = self.get_last_day_of_year_for_only_internal_bank_trans(year)
        return [each for each in super().get_variable_days(year) if each[0] != last]


@cases("year", YEARS)
def test_the_working_days_of_a_year_match_another_implementation_s(year: int):
    days = [date(year, 1, 1) + timedelta(days=number) for number in range(365)]
    theirs = NationalBankDays()

    differing = [day for day in days if is_working_day(day) != theirs.is_working_day(day)]

    assert differing == []


def test_a_non_working_day_moves_to_the_next_working_day():
    moved = {
        date(2026, 11, 27): date(2026, 11, 27),
        date(2026, 11, 28): date(2026, 11, 30),
        date(2026, 11, 20): date(2026, 11, 23),
        date(2026, 4, 2): date(2026, 4, 2),
        date(2026, 4, 3): date(2026, 4, 6),
    }

    assert {day: working_day_from(day) for day in moved} == moved

"""The days that a page's filter names, as people in Brazil count them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from gateway.core.clocks import Now
from gateway.core.windows import day_before, written
from gateway.http.panel.pages.formats import DAY_FORM, ZONE, day_of
from gateway.http.panel.pages.visit import Visit


@dataclass(frozen=True, slots=True)
class Days:
    """The days that are asked for, both included."""

    init: date
    ends: date

    @property
    def asked(self) -> dict[str, str]:
        """Both as the back office reads them."""
        return {"init": self.init.isoformat(), "ends": self.ends.isoformat()}

    @property
    def typed(self) -> tuple[str, str]:
        """Both as the fields of the filter hold them."""
        return written(self.init, DAY_FORM), written(self.ends, DAY_FORM)


def days_of(visit: Visit, now: Now) -> Days:
    """Read the days of a page's filter; yesterday and today where none are named."""
    today = now().astimezone(ZONE).date()
    ends = day_of(visit.query("ends")) or today
    return Days(day_of(visit.query("init")) or day_before(ends), ends)

"""The days of a page's filter, as people in Brazil count them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from gateway.core.clocks import Now
from gateway.core.windows import day_before, written
from gateway.http.panel.pages.formats import DAY_FORM, ZONE, day_of
from gateway.http.panel.pages.visit import Visit


@dataclass(frozen=True, slots=True)
class Days:
    """The days of a filter, both included."""

    init: date
    ends: date

    @property
    def asked(self) -> dict[str, str]:
        """Both days in the back office's format."""
        return {"init": self.init.isoformat(), "ends": self.ends.isoformat()}

    @property
    def typed(self) -> tuple[str, str]:
        """Both days as the fields of the filter show them."""
        return written(self.init, DAY_FORM), written(self.ends, DAY_FORM)


def days_of(visit: Visit, now: Now) -> Days:
    """Read the days of a page's filter; by default yesterday and today."""
    today = now().astimezone(ZONE).date()
    ends = day_of(visit.query("ends")) or today
    return Days(day_of(visit.query("init")) or day_before(ends), ends)

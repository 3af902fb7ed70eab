"""What several tests of lists share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gateway.core.windows import Window

_DAY, _TODAY = timedelta(days=1), datetime.now(UTC).date()


def today() -> Window:
    """The days around now, which are the same for each page, also at midnight."""
    return Window(_TODAY - _DAY, _TODAY + _DAY)

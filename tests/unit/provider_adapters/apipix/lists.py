"""What several tests of lists share."""

from __future__ import annotations

from datetime import UTC, datetime

from gateway.domain.kernel.windows import Window


def today() -> Window:
    day = datetime.now(UTC).date()
    return Window(day, day)

"""Every mistake of the list."""

from __future__ import annotations

from tests.mistakes.rows import (
    access,
    adapters,
    banks,
    configuration,
    payouts,
    people,
    reading,
    reports,
    running,
    telemetry,
    worker,
)

MISTAKES = (
    *access.ROWS,
    *reading.ROWS,
    *payouts.ROWS,
    *people.ROWS,
    *banks.ROWS,
    *running.ROWS,
    *adapters.ROWS,
    *reports.ROWS,
    *worker.ROWS,
    *configuration.ROWS,
    *telemetry.ROWS,
)

"""Every mistake of the list."""

from __future__ import annotations

from tests.mistakes.rows import (
    access,
    adapters,
    backoffice,
    backoffice_surface,
    banks,
    cells,
    configuration,
    events,
    identity,
    outflow,
    panel,
    payouts,
    people,
    reading,
    reports,
    running,
    screens,
    telemetry,
    wire,
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
    *panel.ROWS,
    *screens.ROWS,
    *identity.ROWS,
    *backoffice.ROWS,
    *backoffice_surface.ROWS,
    *wire.ROWS,
    *events.ROWS,
    *outflow.ROWS,
    *cells.ROWS,
)

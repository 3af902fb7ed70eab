"""Every mistake of the list."""

from __future__ import annotations

from tests.mistakes.rows import (
    access,
    backoffice,
    backoffice_surface,
    banks,
    identity,
    panel,
    payouts,
    people,
    reading,
    running,
    screens,
)

MISTAKES = (
    *access.ROWS,
    *reading.ROWS,
    *payouts.ROWS,
    *people.ROWS,
    *banks.ROWS,
    *running.ROWS,
    *panel.ROWS,
    *screens.ROWS,
    *identity.ROWS,
    *backoffice.ROWS,
    *backoffice_surface.ROWS,
)

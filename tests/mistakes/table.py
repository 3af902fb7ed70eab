"""Every mistake of the list."""

from __future__ import annotations

from tests.mistakes.rows import (
    access,
    backoffice,
    banks,
    identity,
    payouts,
    people,
    reading,
    running,
)

MISTAKES = (
    *access.ROWS,
    *reading.ROWS,
    *payouts.ROWS,
    *people.ROWS,
    *banks.ROWS,
    *running.ROWS,
    *identity.ROWS,
    *backoffice.ROWS,
)

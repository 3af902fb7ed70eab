"""The clocks of the process."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from gateway.domain.accounts.accounts import Environment
from gateway.domain.kernel.clocks import Now

OFFSET = "PIXGATE_CLOCK_OFFSET"
"""Seconds by which a sandbox gateway's wall clock is wrong on purpose."""


def wall_clock(environment: Environment, environ: Mapping[str, str]) -> Now:
    """Return the wall clock in UTC; only the sandbox honours an offset."""
    given = environ.get(OFFSET, "") if environment is Environment.SANDBOX else ""
    if not given:
        return _now
    offset = timedelta(seconds=float(given))
    return lambda: _now() + offset


_now: Final[Now] = partial(datetime.now, UTC)

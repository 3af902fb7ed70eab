"""What several tests of request log share."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from gateway.request_log.model import (
    LoggedRequest,
)
from tests.world.stores.office import REQUEST
from tests.world.stores.samples import NOW


def logged_at(minutes: float) -> LoggedRequest:
    """Return a request so many minutes after ``NOW``."""
    return replace(REQUEST, at=NOW + timedelta(minutes=minutes))

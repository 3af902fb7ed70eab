"""The request log: the redacted access lines of the last thirty days."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRequest:
    """
    One served request, as the access line tells it.

    Attributes:
        line: The whole line as JSON; what may stand there is decided by the log.
    """

    at: datetime
    trace_id: str
    surface: str
    route: str
    status: int
    code: str
    client_id: str
    user_id: str
    company_id: str
    line: str

"""The page that shows a new secret: once, and for five minutes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from gateway.http.panel.pages.page import Shown

_SHOWN_FOR: Final = timedelta(minutes=5)
"""How long a page that was left open shows a secret."""


def shown_once(
    made: Mapping[str, Any], now: datetime, template: str = "access/credential_issued.html"
) -> Shown:
    """Show a secret; the store is no longer read, for a read could fail."""
    data = {
        "made": made,
        "until": int((now + _SHOWN_FOR).timestamp() * 1000),
        "seconds": int(_SHOWN_FOR.total_seconds()),
    }
    return Shown(template=template, data=data, is_secret=True)

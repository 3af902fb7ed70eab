"""Search parameters of the request log: list, summary and export."""

from __future__ import annotations

from functools import partial
from typing import Final

from gateway.core import strict
from gateway.core.calls import Input
from gateway.request_log.model import CURSOR, Cursor, RequestSearch
from policies.validation.backoffice import inputs

_FILTERS: Final = (
    inputs.instant_filter("since", "Included."),
    inputs.instant_filter("until", "Not included."),
    inputs.text_filter("trace_id", "The trace id."),
    inputs.text_filter("route", "The row, such as `banking.balance`."),
    inputs.text_filter("route_text", "A part of the row's name."),
    inputs.text_filter("method", "The method, such as `GET`."),
    inputs.whole_filter("status", "The HTTP status.", least=100, most=999),
    inputs.whole_filter("status_class", "The status's first digit.", least=1, most=5),
    inputs.text_filter("code", "The code of the refusal."),
    inputs.text_filter("reason", "The reason of the refusal."),
    inputs.text_filter("client_id", "The credential that asked."),
    inputs.text_filter("account_id", "The account that was asked about."),
    inputs.text_filter("user_id", "The user who asked."),
    inputs.whole_filter("slower_ms", "At least so many milliseconds.", most=86_400_000),
    inputs.text_filter("before", "Where the page before ended: its `next`.", f"^{CURSOR}$"),
)


def _status(text: str) -> int:
    """Parse three digits, which every database can compare."""
    if not (len(text) == len("200") and text.isascii() and text.isdigit()):
        raise strict.Malformed
    return int(text)


def _status_class(text: str) -> int:
    if text not in {"1", "2", "3", "4", "5"}:
        raise strict.Malformed
    return int(text)


_SEARCH: Final = partial(
    inputs.search,
    RequestSearch,
    *_FILTERS,
    since=inputs.instant,
    until=inputs.instant,
    status=_status,
    status_class=_status_class,
    slower_ms=strict.whole_number,
    before=Cursor.read,
)
SEARCH: Final[Input[RequestSearch]] = _SEARCH(is_paged=False)
PAGE: Final[Input[RequestSearch]] = _SEARCH()

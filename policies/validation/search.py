"""Search parameters: days and page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from gateway.core import errors, strict
from gateway.core.calls import RawRequest
from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ServiceError
from gateway.core.windows import DEFAULT_LIMIT, LARGEST_LIMIT, Paging, Search, Window
from policies.validation import fields


def search(asked: RawRequest) -> Search:
    """
    Read ``init``, ``ends``, ``page`` and ``limit``.

    Raises:
        ServiceError: in this order ``SVC.VAL.001`` when a date is missing,
            ``.007`` when one is not ``YYYY-MM-DD`` or given twice, ``.008`` when
            they run backwards or span more than 90 days, ``.009`` when page or
            limit is not a positive integer (contract part 8).
    """
    return Search(window(asked), paging(asked))


def window(asked: RawRequest) -> Window:
    """Read ``init`` and ``ends``, both included."""
    for name in ("init", "ends"):
        if list(asked.query.get(name, ())) in ([], [""]):
            raise ServiceError(errors.FIELD_MISSING, "missing", field=name)
    return days(_day(asked, "init"), _day(asked, "ends"))


def days(init: date, ends: date, error: ErrorCode = errors.WINDOW_INVALID) -> Window:
    """Make a window, or refuse with ``SVC.VAL.008`` or another code."""
    try:
        return Window(init, ends)
    except ValueError as problem:
        reason = "window_backwards" if ends < init else "window_long"
        raise ServiceError(error, reason, field="ends") from problem


def paging(asked: RawRequest) -> Paging:
    """Read ``page`` (from 1) and ``limit`` (more than 100 is 100)."""
    page = _positive(asked, "page", 1)
    return Paging(page, limit(asked))


def limit(asked: RawRequest) -> int:
    """Read ``limit`` (more than 100 is 100)."""
    limit = _positive(asked, "limit", DEFAULT_LIMIT)
    return min(limit, LARGEST_LIMIT)


def _positive(asked: RawRequest, name: str, default: int) -> int:
    """Read a positive whole number, or take the default when it is absent."""
    values = asked.query.get(name)
    if values is None:
        return default
    if len(values) != 1:
        raise ServiceError(errors.NUMBER_INVALID, "repeated", field=name)
    return positive_integer(lambda: strict.whole_number(values[0]), name)


def positive_integer(read: Callable[[], int], name: str) -> int:
    """Read an integer from 1 up, or refuse with ``SVC.VAL.009``."""
    try:
        number = read()
    except ValueError as problem:
        raise ServiceError(errors.NUMBER_INVALID, "positive_integer", field=name) from problem
    if number < 1:
        raise ServiceError(errors.NUMBER_INVALID, "positive_integer", field=name)
    return number


def _day(asked: RawRequest, name: str) -> date:
    values = asked.query[name]
    if len(values) != 1:
        raise ServiceError(errors.DATE_INVALID, "repeated", field=name)
    return fields.day(values[0], name)

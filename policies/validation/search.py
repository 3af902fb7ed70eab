"""Which days, and which page of them?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from gateway.domain import errors, strict
from gateway.domain.calls import Asked
from gateway.domain.errors import ErrorCode, ServiceError
from gateway.domain.windows import DEFAULT_LIMIT, LARGEST_LIMIT, Paging, Search, Window

Value = TypeVar("Value")


def search(asked: Asked) -> Search:
    """
    Read ``init``, ``ends``, ``page`` and ``limit``.

    Raises:
        ServiceError: in this order ``SVC.VAL.001`` when a date is missing,
            ``.007`` when one is not ``YYYY-MM-DD`` or given twice, ``.008`` when
            they run backwards or span more than 90 days, ``.009`` when page or
            limit is not a positive integer (contract part 8).
    """
    return Search(window(asked), paging(asked))


def window(asked: Asked) -> Window:
    """Read ``init`` and ``ends``, both included."""
    given = [asked.query.get(name, ()) for name in ("init", "ends")]
    if any(len(values) == 0 or list(values) == [""] for values in given):
        raise ServiceError(errors.FIELD_MISSING, "window")
    init, ends = (_only(values, strict.day, errors.DATE_INVALID) for values in given)
    try:
        return Window(init, ends)
    except ValueError as problem:
        raise ServiceError(errors.WINDOW_INVALID, "window") from problem


def paging(asked: Asked) -> Paging:
    """Read ``page`` (from 1) and ``limit`` (more than 100 is 100)."""
    page = _positive(asked, "page", 1)
    limit = _positive(asked, "limit", DEFAULT_LIMIT)
    return Paging(page, min(limit, LARGEST_LIMIT))


def _positive(asked: Asked, name: str, default: int) -> int:
    """Read a positive whole number, or take the default when it is absent."""
    values = asked.query.get(name)
    if values is None:
        return default
    number = _only(values, strict.whole_number, errors.NUMBER_INVALID)
    if number < 1:
        raise ServiceError(errors.NUMBER_INVALID, name)
    return number


def _only(values: Sequence[str], read: Callable[[str], Value], error: ErrorCode) -> Value:
    """Read the one value there is."""
    if len(values) != 1:
        raise ServiceError(error, "repeated")
    try:
        return read(values[0])
    except ValueError as problem:
        raise ServiceError(error, "form") from problem

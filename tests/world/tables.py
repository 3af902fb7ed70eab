"""
A table as one test: each row is tried, and each that fails is reported with its values.

Like ``pytest.mark.parametrize``, but one item: for tests of plain functions, whose rows need no
fixture of their own.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

Test = Callable[..., Any]


def cases(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Call a test with each row; ``names`` and ``rows`` are those of ``parametrize``."""
    columns = [each.strip() for each in names.split(",")] if isinstance(names, str) else [*names]
    is_single = isinstance(names, str) and len(columns) == 1
    table = [dict(zip(columns, [row] if is_single else row, strict=True)) for row in rows]
    assert table, "a table without a row proves nothing"

    def decorate(test: Test) -> Test:
        async def try_each_async(**given: Any) -> None:
            failed: list[BaseException] = []
            for row in table:
                with _noting(row, failed):
                    await test(**given, **row)
            _report(failed, len(table))

        def try_each(**given: Any) -> None:
            failed: list[BaseException] = []
            for row in table:
                with _noting(row, failed):
                    test(**given, **row)
            _report(failed, len(table))

        run = try_each_async if inspect.iscoroutinefunction(test) else try_each
        wrapped = functools.wraps(test)(run)
        parameters = inspect.signature(test).parameters.values()
        rest = [each for each in parameters if each.name not in columns]
        wrapped.__signature__ = inspect.Signature(rest)  # type: ignore[attr-defined]
        return wrapped

    return decorate


@contextmanager
def _noting(row: dict[str, Any], failed: list[BaseException]) -> Iterator[None]:
    try:
        yield
    except (Exception, pytest.fail.Exception) as problem:  # noqa: BLE001 - reported in the end
        shown = ", ".join(f"{name}={value!r}"[:200] for name, value in row.items())
        problem.add_note(f"row: {shown}")
        failed.append(problem)


def _report(failed: list[BaseException], tried: int) -> None:
    if failed:
        message = f"{len(failed)} of {tried} rows"
        raise BaseExceptionGroup(message, failed)

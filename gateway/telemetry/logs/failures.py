"""An exception as fields of a log line: which, where, and a message without values."""

from __future__ import annotations

from traceback import walk_tb
from types import TracebackType

from gateway.telemetry.logs.redaction import mask_quoted

# A line a reader can take in; the rest of a message rarely helps and may quote a caller.
_LONGEST = 500
_FRAMES = 12
_CAUSES = 4


def describe_failure(problem: BaseException, causes: int = _CAUSES) -> dict[str, object]:
    """
    Describe an exception and what it came from.

    Neither source lines nor local variables; quoted parts of the message and
    the parameters of a statement are hidden.
    """
    fields: dict[str, object] = {
        "type": f"{type(problem).__module__}.{type(problem).__qualname__}",
        "text": _message(problem),
        "where": _frames(problem.__traceback__),
    }
    origin = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)
    if origin is not None and causes:
        fields["cause"] = describe_failure(origin, causes - 1)
    return fields


def _message(problem: BaseException) -> str:
    """Write the message; of a database's only what stands before the statement and its values."""
    try:
        text = str(problem)
    except Exception:  # noqa: BLE001 - a broken __str__ must not hide the failure it belongs to
        return "unreadable"
    for end in ("\n[SQL", "\nDETAIL", "\n[parameters"):
        text = text.partition(end)[0]
    return mask_quoted(text)[:_LONGEST]


def _frames(trace: TracebackType | None) -> list[str]:
    """Name the innermost places, outermost first."""
    places = [
        f"{frame.f_globals.get('__name__', '?')}:{line} {frame.f_code.co_qualname}"
        for frame, line in walk_tb(trace)
    ]
    return places[-_FRAMES:]

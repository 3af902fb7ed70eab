"""Reads the query of the event feed."""

from __future__ import annotations

from typing import Final

from gateway.core import errors, strict
from gateway.core.calls import Input, Parameter, RawRequest
from gateway.core.errors import ServiceError
from gateway.core.windows import LARGEST_LIMIT
from gateway.events.model import LONGEST_WAIT_S, Cursor, EventType, Wanted
from policies.validation import search
from policies.validation.inputs import SEARCH

_WORDS: Final = "|".join(each.value.replace(".", r"\.") for each in EventType)
_LIMIT: Final = next(each for each in SEARCH.parameters if each.name == "limit")


def _wanted(asked: RawRequest) -> Wanted:
    """
    Read ``after``, ``types``, ``limit`` and ``wait``.

    Raises:
        ServiceError: in this order ``SVC.VAL.011`` for a cursor or a type that is none of ours,
            ``.009`` when limit is not a positive integer, or wait not one of 0 to 25.
    """
    return Wanted(
        after=_after(asked),
        types=_types(asked),
        limit=search.limit(asked),
        wait_s=_wait(asked),
    )


def _after(asked: RawRequest) -> Cursor | None:
    text = _single(asked, "after")
    if not text:
        return None
    try:
        return Cursor.parse(text)
    except ValueError as problem:
        raise ServiceError(errors.PAYLOAD_INVALID, "cursor_form", field="after") from problem


def _types(asked: RawRequest) -> frozenset[EventType]:
    text = _single(asked, "types")
    if not text:
        return frozenset()
    try:
        return frozenset(map(EventType, text.split(",")))
    except ValueError as problem:
        error, words = errors.PAYLOAD_INVALID, [each.value for each in EventType]
        raise ServiceError(error, "not_one_of", field="types", words=words) from problem


def _wait(asked: RawRequest) -> int:
    values = asked.query.get("wait", ("0",))
    if len(values) != 1:
        raise ServiceError(errors.NUMBER_INVALID, "repeated", field="wait")
    try:
        wait_s = strict.whole_number(values[0])
    except ValueError as problem:
        raise ServiceError(errors.NUMBER_INVALID, "out_of_range", field="wait") from problem
    if wait_s > LONGEST_WAIT_S:
        raise ServiceError(errors.NUMBER_INVALID, "out_of_range", field="wait")
    return wait_s


def _single(asked: RawRequest, name: str) -> str:
    """Return the value of a parameter; empty where it is absent."""
    values = asked.query.get(name, ("",))
    if len(values) != 1:
        raise ServiceError(errors.PAYLOAD_INVALID, "repeated", field=name)
    return values[0]


FEED: Final[Input[Wanted]] = Input(
    read=_wanted,
    parameters=(
        Parameter(
            name="after",
            required=False,
            schema={"type": "string", "maxLength": 64},
            description=(
                "`next` of the call before; without it the oldest event of 30 days is the first."
            ),
        ),
        Parameter(
            name="types",
            required=False,
            schema={
                "type": "string",
                "pattern": f"^({_WORDS})(,({_WORDS}))*$",
                "examples": [f"{EventType.PAYOUT_PAID},{EventType.PAYOUT_FAILED}"],
            },
            description="Types of events, with commas between them; without it all.",
        ),
        Parameter(
            name="limit",
            required=False,
            schema=_LIMIT.schema,
            description=f"At most; more than {LARGEST_LIMIT} counts as {LARGEST_LIMIT}.",
        ),
        Parameter(
            name="wait",
            required=False,
            schema={"type": "integer", "minimum": 0, "maximum": LONGEST_WAIT_S, "default": 0},
            description="Seconds to wait for an event where there is none.",
        ),
    ),
    refuses=(errors.PAYLOAD_INVALID, errors.WINDOW_INVALID, errors.NUMBER_INVALID),
)

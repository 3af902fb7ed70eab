"""Inputs of partners' routes, with their documentation."""

from __future__ import annotations

from datetime import date

from gateway.core import errors
from gateway.core.calls import Input, Parameter
from gateway.core.windows import DEFAULT_LIMIT, LARGEST_LIMIT, Search
from policies.validation import parameters, search

_DAY = {"type": "string", "format": "date", "examples": ["2026-09-22"]}


NOTHING: Input[None] = Input(read=lambda _asked: None)

KEY_ID: Input[str] = Input(read=parameters.key_id, refuses=(errors.IDENTIFIER_INVALID,))

REFERENCE: Input[str] = Input(read=parameters.reference, refuses=(errors.PAYLOAD_INVALID,))

DAY: Input[date] = Input(read=parameters.day, refuses=(errors.DATE_INVALID,))

SEARCH: Input[Search] = Input(
    read=search.search,
    parameters=(
        Parameter(name="init", required=True, schema=_DAY, description="First UTC day, included."),
        Parameter(name="ends", required=True, schema=_DAY, description="Last UTC day, included."),
        Parameter(
            name="page",
            required=False,
            schema={"type": "integer", "minimum": 1, "maximum": 10**18 - 1, "default": 1},
            description="Counted from 1.",
        ),
        Parameter(
            name="limit",
            required=False,
            schema={"type": "integer", "minimum": 1, "default": DEFAULT_LIMIT},
            description=f"Per page; more than {LARGEST_LIMIT} counts as {LARGEST_LIMIT}.",
        ),
    ),
    refuses=(
        errors.FIELD_MISSING,
        errors.DATE_INVALID,
        errors.WINDOW_INVALID,
        errors.NUMBER_INVALID,
    ),
)

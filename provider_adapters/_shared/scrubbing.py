"""Making a bank's documents fit for an operator's eyes: what is not known to be harmless goes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

HIDDEN = "***"

_DEEPEST = 12
_HARMLESS_HEADERS = frozenset(
    {
        "content-encoding",
        "content-length",
        "content-type",
        "date",
        "idempotency-key",
        "idempotent-replayed",
        "location",
        "retry-after",
        "transfer-encoding",
        "x-trace-id",
    }
)
_ANY_JSON = msgspec.json.Decoder()


def scrubbed_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Keep the names of all headers, and the values of the harmless ones."""
    return {
        name: text if name.lower() in _HARMLESS_HEADERS else HIDDEN
        for name, text in headers.items()
    }


def scrubbed_body(body: bytes, harmless: Collection[str]) -> object:
    """
    Keep a JSON document's shape, and the values of the fields named in ``harmless``.

    Tokens, names, tax numbers and keys go because nobody named them, also where
    a bank invents a new field. What is no JSON is told by its length alone.
    """
    if not body:
        return None
    try:
        return _scrubbed(_ANY_JSON.decode(body), harmless, _DEEPEST)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return f"{len(body)} bytes, not JSON"


def _scrubbed(value: object, harmless: Collection[str], depth: int) -> object:
    """Walk down; a bare value here has no name that would make it harmless."""
    if value is None or isinstance(value, bool):
        return value
    if depth == 0 or not isinstance(value, dict | list):
        return HIDDEN
    if isinstance(value, list):
        return [_scrubbed(item, harmless, depth - 1) for item in value]
    return {
        name: item
        if name in harmless and not isinstance(item, dict | list)
        else _scrubbed(item, harmless, depth - 1)
        for name, item in value.items()
    }

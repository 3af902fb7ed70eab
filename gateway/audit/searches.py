"""Search parameters of the audit log, and the lines of an export."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.audit.model import AuditSearch
from gateway.audit.service import AuditEntry
from gateway.core.access import Staff
from gateway.core.calls import Input
from gateway.http.rendering import document_of, dumps
from policies.validation.backoffice import inputs

NDJSON: Final = "application/x-ndjson"
SEARCH: Final[Input[AuditSearch]] = inputs.search(
    AuditSearch,
    inputs.instant_filter("since", "Included."),
    inputs.instant_filter("until", "Not included."),
    inputs.text_filter(
        "actor",
        "The actor, or a part of a user's name or address; `*` at the end matches anything.",
    ),
    inputs.text_filter("action", "The action; `*` likewise."),
    inputs.text_filter("subject", "The subject; `*` likewise."),
    inputs.text_filter("trace_id", "The trace id of the request."),
    since=inputs.instant,
    until=inputs.instant,
)
AFTER: Final[Input[int]] = inputs.filters(
    lambda given: given.whole("after") or 0,
    inputs.whole_filter("after", "The last number that is known; 0 for none."),
)


def lines(found: Sequence[AuditEntry], reader: Staff) -> bytes:
    """Write each act with all fields of its hash, including the time in microseconds."""
    return b"".join(
        dumps({**document_of(each.to_document(reader)), "at": each.event.at.isoformat()}) + b"\n"
        for each in found
    )

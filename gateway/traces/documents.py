"""A trace as it is shown: everything under one trace id."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from gateway.audit.model import AuditDocument
from gateway.core.access import Staff
from gateway.payouts.model import AttemptDocument
from gateway.request_log.model import RequestDocument
from gateway.traces.model import ExplainedRequestDocument, TracedAttempt
from gateway.traces.service import Trace


class TracedAttemptDocument(AttemptDocument, frozen=True, kw_only=True):
    """A try to pay that was made under the trace id, and the payout it was for."""

    account_id: str
    reference: str
    state: str


class TraceDocument(TypedDict):
    """
    Everything under one trace id: the newest request first, the oldest try and act first.

    ``explained`` is about the newest request that was refused, else the newest; absent without
    any. ``audit`` is absent for who may not read the audit log.
    """

    trace_id: str
    explained: NotRequired[ExplainedRequestDocument]
    requests: list[RequestDocument]
    attempts: list[TracedAttemptDocument]
    audit: NotRequired[list[AuditDocument]]


def document_of(found: Trace, reader: Staff) -> TraceDocument:
    """Show a trace."""
    document: TraceDocument = {
        "trace_id": found.trace_id,
        "requests": [each.to_document() for each in found.requests],
        "attempts": [_attempt(each) for each in found.attempts],
    }
    if found.explained is not None:
        document["explained"] = found.explained
    if found.acts is not None:
        document["audit"] = [each.to_document(reader) for each in reversed(found.acts)]
    return document


def _attempt(found: TracedAttempt) -> TracedAttemptDocument:
    return TracedAttemptDocument.of(
        found.attempt,
        found.payout,
        account_id=found.payout.account_id,
        reference=found.payout.reference,
        state=found.payout.state,
    )

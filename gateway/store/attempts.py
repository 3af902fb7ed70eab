"""Attempts in the store: rows, and what is known of the call."""

from __future__ import annotations

import json

from gateway.domain.payouts import PayoutState
from gateway.domain.providers import Evidence, Phase
from gateway.domain.stores import Attempt
from gateway.store.columns import Record


def attempt_row(attempt: Attempt) -> dict[str, object]:
    """Write an attempt, without the payout's key."""
    return {
        "number": attempt.number,
        "provider": attempt.provider,
        "started_at": attempt.started_at,
        "send_deadline": attempt.send_deadline,
        "lease_until": attempt.lease_until,
        "trace_id": attempt.trace_id,
        "outcome": None if attempt.outcome is None else attempt.outcome.value,
        "evidence": None if attempt.evidence is None else evidence_document(attempt.evidence),
        "ended_at": attempt.ended_at,
        "last_probe_at": attempt.last_probe_at,
        "next_probe_at": attempt.next_probe_at,
    }


def restored_attempt(row: Record) -> Attempt:
    """Read back an attempt."""
    return Attempt(
        number=row.number,
        provider=row.provider,
        started_at=row.started_at,
        send_deadline=row.send_deadline,
        lease_until=row.lease_until,
        trace_id=row.trace_id,
        outcome=None if row.outcome is None else PayoutState(row.outcome),
        evidence=None if row.evidence is None else restored_evidence(row.evidence),
        ended_at=row.ended_at,
        last_probe_at=row.last_probe_at,
        next_probe_at=row.next_probe_at,
    )


def evidence_document(evidence: Evidence) -> str:
    """Write evidence in ASCII: a bank's code may hold characters no text column takes."""
    fields = {
        "phase": evidence.phase.value,
        "bytes_left": evidence.bytes_left,
        "reason": evidence.reason,
        "http_status": evidence.http_status,
        "provider_code": evidence.provider_code,
    }
    return json.dumps(fields, separators=(",", ":"))


def restored_evidence(document: str) -> Evidence:
    """Read back evidence."""
    fields = json.loads(document)
    return Evidence(
        phase=Phase(fields["phase"]),
        bytes_left=fields["bytes_left"],
        reason=fields["reason"],
        http_status=fields["http_status"],
        provider_code=fields["provider_code"],
    )

"""The audit log as users read it: searches, acts, and the proof of the whole chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from msgspec import Struct

from gateway.core.schemas import PresentMoment
from gateway.core.windows import Paging


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSearch:
    """
    Which acts; None for all.

    Texts match whole, or what begins so where they end in ``*``; a trace id
    matches whole. An ``actor`` also matches users by a part of their name or address, in
    capitals and small letters alike.
    """

    paging: Paging
    since: datetime | None = None
    until: datetime | None = None
    actor: str | None = None
    action: str | None = None
    subject: str | None = None
    trace_id: str | None = None


class AuditDocument(Struct, frozen=True, kw_only=True):
    """
    An act; ``hash`` chains it to the one before, ``companies`` are shown it beside us.

    The ``details`` of an opinion on a payout are empty for everybody but the user who gave it,
    until the payout is decided.
    """

    number: int
    at: PresentMoment
    actor: str
    action: str
    subject: str
    details: Mapping[str, str]
    trace_id: str
    companies: list[str]
    hash: str


class AcceptedBreakDocument(Struct, frozen=True, kw_only=True):
    """
    Acts that cannot be proven, ``first`` to ``last``, which two people accepted by act ``number``.

    Their names and the reason are empty for users who are limited to companies.
    """

    first: int
    last: int
    problem: str
    number: int
    at: PresentMoment
    proposed_by: str
    approved_by: str
    reason: str


class Proof(Struct, frozen=True, kw_only=True):
    """
    Whether the whole chain holds; ``problem`` names the first link that does not.

    ``events`` counts the acts that you may see; ``accepted`` are breaks that the chain is whole
    but for.
    """

    whole: bool
    events: int
    problem: str
    accepted: list[AcceptedBreakDocument]

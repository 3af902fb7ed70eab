"""The audit log as users read it: searches, acts, and the proof of the whole chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from msgspec import Struct

from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.schemas import PresentMoment
from gateway.core.windows import Paging


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSearch:
    """
    Which acts; None for all.

    Texts match whole, or as a prefix where they end in ``*``; a trace id
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

    number: fields.Number
    at: PresentMoment
    actor: Annotated[
        str,
        meaning(
            "Who did it: `user:` and an id, `cli:` and a name, or a task of the gateway.",
            "user:ana@example.com",
        ),
    ]
    action: Annotated[
        str, meaning("What was done, such as `company.created`.", "credential.issued")
    ]
    subject: fields.Subject
    details: Annotated[Mapping[str, str], meaning("What the act was about, by name.")]
    trace_id: fields.TraceId
    companies: fields.Companies
    hash: Annotated[
        str,
        meaning(
            "Digest of this act and of the one before, in hexadecimal.",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        ),
    ]


class AcceptedBreakDocument(Struct, frozen=True, kw_only=True):
    """
    Acts that cannot be proven, ``first`` to ``last``, which two people accepted by act ``number``.

    Their names and the reason are empty for users who are limited to companies.
    """

    first: Annotated[int, meaning("Number of the first act of the break.")]
    last: Annotated[int, meaning("Number of the last act of the break.")]
    problem: fields.Problem
    number: fields.Number
    at: PresentMoment
    proposed_by: Annotated[str, meaning("Who proposed it.", "user:ana@example.com")]
    approved_by: Annotated[str, meaning("Who approved it.", "user:bia@example.com")]
    reason: fields.Reason


class Proof(Struct, frozen=True, kw_only=True):
    """
    Whether the whole chain holds; ``problem`` names the first link that does not.

    ``events`` counts the acts that you may see; ``accepted`` are breaks that the chain is whole
    but for.
    """

    whole: Annotated[bool, meaning("Whether nothing was changed, removed or inserted.")]
    events: Annotated[int, meaning("How many acts were checked.")]
    problem: fields.Problem
    accepted: Annotated[
        list[AcceptedBreakDocument],
        meaning("Breaks of the audit log that two people have accepted, with their reason."),
    ]

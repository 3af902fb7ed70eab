"""The audit log as users read it: searches, acts, and the proof of the whole chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from gateway.core import fields
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

    number: fields.Number
    at: PresentMoment
    actor: Annotated[
        str,
        Meta(
            description=(
                "Who did it: `user:` and an id, `cli:` and a name, or a task of the gateway."
            ),
            extra_json_schema={"example": "user:ana@example.com"},
        ),
    ]
    action: Annotated[
        str,
        Meta(
            description="What was done, such as `company.created`.",
            extra_json_schema={"example": "credential.issued"},
        ),
    ]
    subject: fields.Subject
    details: Annotated[Mapping[str, str], Meta(description="What the act was about, by name.")]
    trace_id: fields.TraceId
    companies: fields.Companies
    hash: Annotated[
        str,
        Meta(
            description="Digest of this act and of the one before, in hexadecimal.",
            extra_json_schema={
                "example": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
            },
        ),
    ]


class AcceptedBreakDocument(Struct, frozen=True, kw_only=True):
    """
    Acts that cannot be proven, ``first`` to ``last``, which two people accepted by act ``number``.

    Their names and the reason are empty for users who are limited to companies.
    """

    first: Annotated[int, Meta(description="Number of the first act of the break.")]
    last: Annotated[int, Meta(description="Number of the last act of the break.")]
    problem: fields.Problem
    number: fields.Number
    at: PresentMoment
    proposed_by: Annotated[
        str,
        Meta(description="Who proposed it.", extra_json_schema={"example": "user:ana@example.com"}),
    ]
    approved_by: Annotated[
        str,
        Meta(description="Who approved it.", extra_json_schema={"example": "user:bia@example.com"}),
    ]
    reason: fields.Reason


class Proof(Struct, frozen=True, kw_only=True):
    """
    Whether the whole chain holds; ``problem`` names the first link that does not.

    ``events`` counts the acts that you may see; ``accepted`` are breaks that the chain is whole
    but for.
    """

    whole: Annotated[bool, Meta(description="Whether nothing was changed, removed or inserted.")]
    events: Annotated[int, Meta(description="How many acts were checked.")]
    problem: fields.Problem
    accepted: Annotated[
        list[AcceptedBreakDocument],
        Meta(
            description="Breaks of the audit log that two people have accepted, with their reason."
        ),
    ]

"""Callbacks: statements that banks sent, as stored and processed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final

from msgspec import Struct

from gateway.banks.port.provider_callbacks import CallbackKind, NamedBy
from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.schemas import OptionalMoment, PresentMoment, inline
from gateway.core.windows import Paging

_HIDDEN: Final = re.compile(
    # an address for mail: first, and from its very beginning, so that no text is read twice
    r"(?<![\w.+-])[\w.+-]++@[\w-]+\.[\w.-]+"
    r"|(?<!\d)\d{3}\.?\d{3}\.?\d{3}-?\d{2}(?!\d)"  # a CPF, or as many digits
    r"|(?<!\d)\+?55\d{10,11}(?!\d)",  # a telephone number
    re.ASCII,
)


class CallbackState(StrEnum):
    """Processing state of a callback."""

    RECEIVED = "received"
    DONE = "done"
    IGNORED = "ignored"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """
    One statement of a proven callback.

    Attributes:
        id: A lower-case UUID.
        event: The bank's own name of it, or the SHA-256 of the body and the place in
            it: with the provider it identifies a repeated callback.
        subject: The provider key of a payout or refund, the reference of a charge.
        account, named_by: The account's name and its kind; see ``Notice``.
        body: As received.
        tries: Number of processing attempts.
        due_at: Time of the next attempt; None when processing is over.
        company_id: Company of the account; empty until known.
        provider_id: The bank's id of a payout, as the callback has it; see ``Notice``.
    """

    id: str
    provider: str
    event: str
    kind: CallbackKind
    subject: str
    received_at: datetime
    body: bytes = field(repr=False)
    account: str = ""
    named_by: NamedBy = NamedBy.ACCOUNT
    state: CallbackState = CallbackState.RECEIVED
    tries: int = 0
    due_at: datetime | None = None
    handled_at: datetime | None = None
    company_id: str = ""
    provider_id: str = ""

    def to_document(self, _reader: object) -> WebhookDocument:
        """Return the callback as a document, secrets in its body redacted."""
        fields = WebhookDocument.__struct_fields__
        values = {name: getattr(self, name) for name in fields if name != "body"}
        body = redacted(self.body.decode("utf-8", "replace"))
        return WebhookDocument(body=body, **values)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackSearch:
    """Search parameters of callbacks; None for all, ``companies`` None for every company."""

    paging: Paging
    provider: str | None = None
    kind: CallbackKind | None = None
    state: CallbackState | None = None


class WebhookDocument(Struct, frozen=True, kw_only=True):
    """A callback that was proven; ``body`` is what came, where it is text."""

    id: fields.Id
    provider: fields.Provider
    event: Annotated[str, meaning("The bank's id of the notification.", "evt_1042")]
    kind: Annotated[CallbackKind, inline(CallbackKind), meaning("Which kind it is.")]
    subject: Annotated[str, meaning("What the bank's notification names.", fields.ID)]
    state: Annotated[CallbackState, inline(CallbackState), meaning("The state that it is in.")]
    tries: Annotated[int, meaning("How often it was worked on.")]
    received_at: PresentMoment
    handled_at: OptionalMoment
    body: Annotated[
        str,
        meaning(
            "What the bank sent, without tax and telephone numbers and mail addresses.",
            '{"event": "charge.paid"}',
        ),
    ]


def redacted(body: str) -> str:
    """Mask personal data in a bank's text: tax and telephone numbers, mail."""
    return _HIDDEN.sub("•••", body)

"""The sandbox's mailbox: unsent mail with its links; not in production."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from msgspec import Struct

from gateway.core import fields
from gateway.core.access import Staff, requires
from gateway.core.fields import meaning
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.schemas import OptionalMoment, PresentMoment
from gateway.core.structs import struct_of
from gateway.identity.store import StoredMailbox

_MAILS: Final = 50
"""Enough to find the link that was sent a moment ago."""


class Mail(Struct, frozen=True, kw_only=True):
    """A message."""

    to: Annotated[str, meaning("The address that the mail goes to.", "ana@example.com")]
    subject: Annotated[str, meaning("The subject line.", fields.ID)]
    text: Annotated[
        str,
        meaning("A sentence for people.", "Choose your password: https://pix.example/panel/reset"),
    ]
    created_at: PresentMoment
    sent_at: OptionalMoment


@dataclass(frozen=True, slots=True)
class Mailbox:
    """The mail to people in scope."""

    records: StoredMailbox

    @requires(Area.MAILBOX, Action.READ)
    async def latest(self, who: Staff) -> list[Mail]:
        """Read the newest mails of the sandbox."""
        found = await self.records.latest(_MAILS, who.scope)
        return [struct_of(Mail, each) for each in found]

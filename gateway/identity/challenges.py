"""Challenges: second factors asked for and links in mails; and mail that waits to be sent."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from gateway.core.company_scope import CompanyScope


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """
    A password was right; a second factor is asked for (contract 2.9).

    Attributes:
        digest: Of the ``mfa_token``.
        tries: Codes tried so far; the fifth wrong one ends it.
        bound_to: The panel's pre-session it was made in; empty for callers of
            the interface.
    """

    digest: bytes
    user_id: str
    created_at: datetime
    ends_at: datetime
    tries: int = 0
    used_at: datetime | None = None
    bound_to: str = ""

    def is_open(self, now: datetime, tries: int) -> bool:
        """Say whether a code may still be tried for it, of which there are ``tries``."""
        return self.used_at is None and now < self.ends_at and self.tries < tries


class Purpose(StrEnum):
    """What a link in a mail is for."""

    RESET = "reset"
    INVITATION = "invitation"


@dataclass(frozen=True, slots=True, kw_only=True)
class MailToken:
    """What a link in a mail carries, as its SHA-256; works once."""

    digest: bytes
    purpose: Purpose
    user_id: str
    created_at: datetime
    ends_at: datetime
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A message to a person; ``text`` holds links, so it is shown in the sandbox alone."""

    id: str
    to: str
    subject: str
    text: str = field(repr=False)
    created_at: datetime
    sent_at: datetime | None = None


class Outbox(Protocol):
    """Mail to be sent, and, in the sandbox, to be read."""

    async def put(self, mail: Mail) -> None:
        """Store a message."""
        ...

    async def waiting(self, most: int, but: Collection[str] = ()) -> Sequence[Mail]:
        """Return unsent ones, oldest first; those with the ids ``but`` are left out."""
        ...

    async def sent(self, mail_id: str, at: datetime) -> None:
        """Note that one went out; its text is forgotten."""
        ...

    async def latest(self, most: int, scope: CompanyScope) -> Sequence[Mail]:
        """
        Return the newest ones, newest first.

        With a limited scope only mail to users who are limited to one of its companies,
        or to exactly all of them.
        """
        ...

    async def forget(self, before: datetime) -> int:
        """Delete what was written before an instant, sent or not; return how many."""
        ...

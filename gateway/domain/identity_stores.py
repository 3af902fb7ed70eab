"""
The ports to what identity stores.

As in ``gateway.domain.stores``: every method raises ``StoreUnavailable`` when
the store cannot answer; an ``AuditEvent`` is stored in the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from gateway.domain.identity import (
    Challenge,
    Failures,
    Mail,
    MailToken,
    PanelSession,
    PanelState,
    Purpose,
    RecoveryCode,
    RefreshToken,
    SigningKey,
)
from gateway.domain.people import Session, User
from gateway.domain.stores import AuditEvent


class Users(Protocol):
    """People by id and by e-mail."""

    async def add(self, user: User, event: AuditEvent) -> None:
        """Store a new one; AlreadyExists when the id or e-mail is taken."""
        ...

    async def find(self, user_id: str) -> User | None:
        """Return one by id."""
        ...

    async def find_by_email(self, email: str) -> User | None:
        """Return one by lower-case e-mail."""
        ...

    async def list(self) -> Sequence[User]:
        """Return all, oldest first."""
        ...

    async def replace(
        self, user: User, event: AuditEvent | None, seen: datetime | None = None
    ) -> bool:
        """
        Overwrite one but its ``totp.last_step``; False when there is none.

        With ``seen`` only while its ``updated_at`` is still that instant (False
        otherwise), so that no change undoes another, such as being disabled.
        """
        ...

    async def accept_step(self, user_id: str, step: int) -> bool:
        """Note the step of an accepted code by compare-and-set; False unless it is a later one."""
        ...

    async def replace_codes(self, user_id: str, codes: Sequence[RecoveryCode]) -> None:
        """Void every recovery code and store these."""
        ...

    async def codes(self, user_id: str) -> Sequence[RecoveryCode]:
        """Return every recovery code by index, used ones included."""
        ...

    async def use_code(self, user_id: str, index: int, at: datetime) -> bool:
        """Use one up by compare-and-set; False when it was used before."""
        ...


class Sessions(Protocol):
    """Sign-ins and their refresh tokens."""

    async def begin(self, session: Session, first: RefreshToken, event: AuditEvent) -> None:
        """Store a sign-in with its first refresh token."""
        ...

    async def find(self, session_id: str) -> tuple[Session, User] | None:
        """Return one with its user, ended ones included; one read."""
        ...

    async def of(self, user_id: str, now: datetime) -> Sequence[Session]:
        """Return the live ones of a user, oldest first."""
        ...

    async def touch(self, session_id: str, at: datetime) -> None:
        """Remember that it was used, at most once a minute."""
        ...

    async def note_factor(self, session_id: str, at: datetime) -> None:
        """Remember that a second factor was given."""
        ...

    async def refresh_token(self, digest: bytes) -> RefreshToken | None:
        """Return one, used ones included."""
        ...

    async def last_number(self, session_id: str) -> int:
        """Return the number of the newest refresh token; 0 when there is none."""
        ...

    async def rotate(self, old: RefreshToken, new: RefreshToken, at: datetime) -> bool:
        """
        Use the old one up and store the new one, in one transaction.

        Returns:
            False when somebody else used it first, or its session has ended or
            ends before ``at``; nothing was changed.
        """
        ...

    async def end(self, session_id: str, at: datetime, why: str, event: AuditEvent | None) -> bool:
        """End one; False when there is none or it has ended already."""
        ...

    async def end_all(
        self, user_id: str, at: datetime, why: str, keep: str, event: AuditEvent
    ) -> int:
        """End every live one of a user but ``keep`` (empty for none); return how many."""
        ...

    async def forget(self, before: datetime) -> int:
        """Delete what ended before an instant, with its tokens; return how many sessions."""
        ...


class Challenges(Protocol):
    """Second factors that are asked for, and links in mails."""

    async def add(self, challenge: Challenge) -> None:
        """Store a new one."""
        ...

    async def find(self, digest: bytes) -> Challenge | None:
        """Return one, used and ended ones included."""
        ...

    async def try_once(self, digest: bytes, most: int, now: datetime) -> bool:
        """Count a try by compare-and-set; False when it is used, over, or tried ``most`` times."""
        ...

    async def use(self, digest: bytes, at: datetime) -> bool:
        """Use one up by compare-and-set; False when it was used before."""
        ...

    async def add_mail_token(self, token: MailToken) -> None:
        """Store a new one; those of the same user and purpose are used up."""
        ...

    async def add_mail_token_beside(self, token: MailToken, most: int) -> bool:
        """Store a new one unless ``most`` of the same user and purpose work; then False."""
        ...

    async def use_mail_token(
        self, digest: bytes, purpose: Purpose, at: datetime
    ) -> MailToken | None:
        """
        Use one up, and with it all others of the same user and purpose.

        Returns:
            None when there is none, or it is used or over; of several at once
            only one is used.
        """
        ...

    async def forget(self, before: datetime) -> int:
        """Delete what was over before an instant, links too; return how many."""
        ...


class PanelSessions(Protocol):
    """What browsers' cookies stand for."""

    async def add(self, panel: PanelSession) -> None:
        """Store a new one."""
        ...

    async def find(self, id_hash: str) -> PanelSession | None:
        """Return one."""
        ...

    async def replace(self, old_hash: str, new: PanelSession) -> bool:
        """Put one with a new id in an old one's place; False when the old one was gone."""
        ...

    async def touch(self, id_hash: str, at: datetime) -> None:
        """Slide the idle time."""
        ...

    async def lease(self, id_hash: str, version: int, now: datetime, until: datetime) -> bool:
        """Take the right to refresh; False when it is taken or the version has moved."""
        ...

    async def save(self, panel: PanelSession, version: int) -> bool:
        """Store new tokens over ``version``, raise it and end the lease; False when it moved."""
        ...

    async def remove(self, id_hash: str) -> bool:
        """Delete one; False when there was none."""
        ...

    async def of(self, user_id: str) -> Sequence[PanelSession]:
        """Return those of a user, oldest first."""
        ...

    async def live(self, idle_since: datetime, now: datetime) -> Mapping[PanelState, int]:
        """
        Count the browsers of every state but ANONYMOUS.

        Signed in counts one whose sign-in has not ended and which was heard of
        after ``idle_since``; one whose cookie has just been renewed is one.
        """
        ...

    async def forget(self, idle_since: datetime, now: datetime) -> int:
        """Delete what was idle for too long or is over; return how many."""
        ...


class SigningKeys(Protocol):
    """Keys that sign access tokens."""

    async def add(self, key: SigningKey, event: AuditEvent) -> None:
        """Store a new one."""
        ...

    async def list(self) -> Sequence[SigningKey]:
        """Return all, by ``signs_from``, retired ones included."""
        ...

    async def retire(self, key_id: str, at: datetime, event: AuditEvent) -> bool:
        """Stop publishing one; False when there is none or it is retired already."""
        ...


class FailureCounts(Protocol):
    """Wrong passwords and codes, counted for all processes."""

    async def find(self, keys: Sequence[str]) -> Sequence[Failures]:
        """Return what is counted under these keys."""
        ...

    async def change(self, key: str, next_of: Callable[[Failures | None], Failures]) -> Failures:
        """Replace one by what follows it, in one transaction; return what follows."""
        ...

    async def clear(self, keys: Sequence[str]) -> None:
        """Forget what is counted under these keys."""
        ...

    async def forget(self, before: datetime) -> int:
        """Delete what began and ended before an instant; return how many."""
        ...


class Outbox(Protocol):
    """Mail to be sent, and, in the sandbox, to be read."""

    async def put(self, mail: Mail) -> None:
        """Store a message."""
        ...

    async def waiting(self, most: int) -> Sequence[Mail]:
        """Return unsent ones, oldest first."""
        ...

    async def sent(self, mail_id: str, at: datetime) -> None:
        """Note that one went out; its text is forgotten."""
        ...

    async def latest(self, most: int, companies: frozenset[str] = frozenset()) -> Sequence[Mail]:
        """
        Return the newest ones, newest first.

        With ``companies`` only mail to people who are limited to one of these,
        or to exactly all of them.
        """
        ...

    async def forget(self, before: datetime) -> int:
        """Delete what was written before an instant, sent or not; return how many."""
        ...

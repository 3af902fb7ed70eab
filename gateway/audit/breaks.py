"""Accepting a break of the audit log: one person proposes, another person approves."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Final

from gateway.audit.store import StoredAudit
from gateway.core.audit import AuditBreak, AuditEvent
from gateway.core.audit_context import RuleViolation, reason
from gateway.core.clocks import Now
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right, rights_of
from gateway.core.user import User

_NEEDED: Final = Right(Area.AUDIT, Action.READ)
"""Of the roles security and admin."""
_SEAL: Final = "seal"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditBreaks:
    """
    The two steps of accepting a break.

    Attributes:
        find_user: Finds a user by the e-mail address.
        keys: Seal proposals, by key id, the current one first.
    """

    audit: StoredAudit
    find_user: Callable[[str], Awaitable[User | None]]
    keys: Mapping[str, bytes]
    now: Now

    async def propose(self, number: int, by: str, why: str) -> str:
        """
        Return a proposal as a line of text for a second person; nothing is stored.

        Raises:
            RuleViolation: the log is whole, or its first break is at another event, or ``by`` is
                no active user without a limit to companies who may read the audit log.
        """
        found = await self._found(number)
        document = {
            **asdict(found),
            "by": await self._person(by),
            "at": self.now().isoformat(timespec="seconds"),
            "reason": reason(why),
        }
        key_id, key = next(iter(self.keys.items()))
        return _written({**document, "key_id": key_id, _SEAL: _sealed(document, key)})

    async def approve(self, number: int, by: str, proposal: str) -> AuditBreak:
        """
        Accept a break as it was proposed: that is an event of the log; return the break.

        Raises:
            RuleViolation: the proposal is not ours or not of this break, both people are the same,
                or one of them is no such user, see ``propose``; or the end of the log is broken.
        """
        document = self._read(proposal)
        approver, proposer = await self._person(by), await self._person(str(document["by"]))
        if approver == proposer:
            message = f"{approver} proposed it: a second person approves"
            raise RuleViolation(message)
        found = await self._found(number)
        if any(document.get(name) != value for name, value in asdict(found).items()):
            message = "the break is not the one that was proposed: propose it again"
            raise RuleViolation(message)
        event = AuditEvent(
            at=self.now(),
            actor=f"user:{approver}",
            action="",
            subject="",
            details={
                "proposed_by": f"user:{proposer}",
                "proposed_at": str(document["at"]),
                "reason": str(document["reason"]),
            },
        )
        try:
            await self.audit.accept(found, event)
        except ValueError as problem:
            raise RuleViolation(_end(problem)) from problem
        return found

    async def _found(self, number: int) -> AuditBreak:
        """Return the first break, which must be at that event."""
        try:
            found = await self.audit.find_break()
        except ValueError as problem:
            raise RuleViolation(_end(problem)) from problem
        if found is None:
            message = "the audit log is whole"
            raise RuleViolation(message)
        if found.first != number:
            message = f"the first break is at event {found.first}, not {number}: {found.problem}"
            raise RuleViolation(message)
        return found

    async def _person(self, email: str) -> str:
        user = await self.find_user(email.strip().lower())
        if user is None or not user.active:
            message = f"{email!r} is the e-mail address of no active user"
            raise RuleViolation(message)
        if user.companies or not any(each.covers(_NEEDED) for each in rights_of(user.roles)):
            message = f"{user.email} is neither security nor admin for all companies"
            raise RuleViolation(message)
        return user.email

    def _read(self, proposal: str) -> Mapping[str, object]:
        message = "the proposal was changed, or made under a key that is not configured"
        try:
            document = json.loads(proposal)
            seal, key = document.pop(_SEAL), self.keys[document.pop("key_id")]
            if not hmac.compare_digest(seal, _sealed(document, key)):
                raise RuleViolation(message)
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise RuleViolation(message) from problem
        known: Mapping[str, object] = document
        return known


def _end(problem: ValueError) -> str:
    told = "the next act that is logged records this as an event audit.broken, to be accepted then"
    return f"{problem}; {told}"


def _sealed(document: Mapping[str, object], key: bytes) -> str:
    return hmac.digest(key, _written(document).encode(), "sha256").hex()


def _written(document: Mapping[str, object]) -> str:
    return json.dumps(document, sort_keys=True, ensure_ascii=False)

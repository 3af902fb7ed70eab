"""
Rights of the operator's users, and the roles that bundle them.

This is the whole table; a row of the back office names the right it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gateway.core.permissions import Action


class Area(StrEnum):
    """
    Areas of the back office.

    ``REPORT`` is every download with rows, of any kind: it is needed beside the
    right to read them. ``KEY_OWNER`` is who owns a Pix key of any bank.
    """

    COMPANY = "company"
    ACCOUNT = "account"
    BALANCE = "balance"
    TRANSACTION = "transaction"
    REPORT = "report"
    PIX_KEY = "pix_key"
    KEY_OWNER = "key_owner"
    QRCODE = "qrcode"
    REFUND = "refund"
    PAYOUT = "payout"
    APPROVAL = "approval"
    REVIEW = "review"
    PROBE = "probe"
    STOP = "stop"
    WEBHOOK = "webhook"
    PROVIDER = "provider"
    CREDENTIAL = "credential"
    ENDPOINT = "endpoint"
    USER = "user"
    SESSION = "session"
    AUDIT = "audit"
    REQUEST_LOG = "request_log"
    MAILBOX = "mailbox"
    CONFIG = "config"


class Role(StrEnum):
    """A user's job."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    APPROVER = "approver"
    SECURITY = "security"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Right:
    """One ``area:action``; a higher action covers the lower ones."""

    resource: Area
    action: Action

    def __str__(self) -> str:
        """Write it like a permission, ``account:read``."""
        return f"{self.resource}:{self.action.name.lower()}"

    def covers(self, needed: Right) -> bool:
        """Return whether this right covers ``needed``."""
        return self.resource is needed.resource and self.action >= needed.action


def _all(action: Action, *areas: Area) -> frozenset[Right]:
    return frozenset(Right(area, action) for area in areas)


_BUSINESS = (
    Area.COMPANY,
    Area.ACCOUNT,
    Area.BALANCE,
    Area.TRANSACTION,
    Area.PIX_KEY,
    Area.QRCODE,
    Area.REFUND,
    Area.PAYOUT,
    Area.APPROVAL,
    Area.REVIEW,
    Area.STOP,
    Area.WEBHOOK,
    Area.PROVIDER,
    Area.ENDPOINT,
)
_CONTROL = (
    Area.CREDENTIAL,
    Area.USER,
    Area.SESSION,
    Area.AUDIT,
    Area.REQUEST_LOG,
    Area.MAILBOX,
    Area.CONFIG,
)

_READS = _all(Action.READ, *_BUSINESS)
# Not of whoever decides: they look at rows, and need no register of payees.
_FILES = _all(Action.READ, Area.REPORT)

RIGHTS: Mapping[Role, frozenset[Right]] = {
    # Accounting takes statements and payouts away.
    Role.VIEWER: _READS | _FILES,
    # Whoever orders payouts asks who is behind a key; nobody else has a reason to.
    Role.OPERATOR: _READS
    | _FILES
    | _all(Action.READ, Area.REQUEST_LOG, Area.KEY_OWNER)
    | _all(Action.WRITE, Area.PIX_KEY, Area.QRCODE, Area.REFUND, Area.PAYOUT, Area.STOP)
    | _all(Action.WRITE, Area.PROBE),
    # Whoever decides does not order: the two are different people, and different roles.
    Role.APPROVER: _READS | _all(Action.WRITE, Area.APPROVAL, Area.REVIEW, Area.STOP, Area.PROBE),
    Role.SECURITY: _READS
    | _FILES
    | _all(Action.READ, *_CONTROL)
    | _all(Action.WRITE, Area.CREDENTIAL, Area.ENDPOINT, Area.SESSION, Area.STOP)
    | _all(Action.MANAGE, Area.USER),
    # An admin runs the service and its people, and moves no money alone.
    Role.ADMIN: _READS
    | _FILES
    | _all(Action.READ, *_CONTROL)
    | _all(
        Action.MANAGE,
        Area.COMPANY,
        Area.ACCOUNT,
        Area.PROVIDER,
        Area.CREDENTIAL,
        Area.ENDPOINT,
        Area.USER,
        Area.SESSION,
        Area.STOP,
    ),
}
"""What each role may do; a person with several may do all of it."""

STEP_UP: frozenset[Area] = frozenset(
    {Area.CREDENTIAL, Area.USER, Area.PROVIDER, Area.ACCOUNT, Area.PAYOUT, Area.REFUND}
    | {Area.APPROVAL, Area.REVIEW, Area.PIX_KEY, Area.COMPANY, Area.SESSION, Area.ENDPOINT}
)
"""
Where writing asks for a second factor given within the last five minutes.

Not for stops: pulling one must be quick. The row that lifts one asks on its own, and so does the
one that cancels a charge: making charges brings money in. Nor for probes: they ask the bank a
question, as we do by ourselves, and send no money.
"""


def rights_of(roles: Iterable[Role]) -> frozenset[Right]:
    """Return every right of these roles."""
    return frozenset[Right]().union(*(RIGHTS[role] for role in roles))


def changes(right: Right) -> bool:
    """Return whether this right can change money, keys, stops or users, or their settings."""
    return right.action > Action.READ


_GRANTED_BY_HOLDERS = frozenset(
    {Area.COMPANY, Area.ACCOUNT, Area.PROVIDER, Area.CREDENTIAL, Area.USER, Area.SESSION}
    | {Area.AUDIT, Area.ENDPOINT}
)
"""Where nobody gives a right that they lack; rights over money take the second person."""


def may_grant(granter: Iterable[Role], roles: Iterable[Role]) -> bool:
    """Return whether users with some roles may grant others, with another user's approval."""
    held = rights_of(granter)
    wanted = (each for each in rights_of(roles) if each.resource in _GRANTED_BY_HOLDERS)
    return all(any(right.covers(each) for right in held) for each in wanted)


def may_write(roles: Iterable[Role]) -> bool:
    """Return whether users with these roles may change anything."""
    return any(changes(right) for right in rights_of(roles))


def needs_step_up(right: Right) -> bool:
    """Return whether this right requires a fresh second factor."""
    return changes(right) and right.resource in STEP_UP

"""
Permissions and limits of partners' credentials.

A permission is a resource and an action; a higher action covers the lower ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final

import msgspec

from gateway.core.caller_rules import ANYWHERE, CallerRule
from gateway.core.money import Money
from gateway.core.public_keys import PublicKey


class Resource(StrEnum):
    """Resources that a credential may use (contract 5.2; ``event`` is an extension)."""

    BALANCE = "balance"
    TRANSACTION = "transaction"
    WITHDRAW = "withdraw"
    PIX_KEY = "pix_key"
    QRCODE = "qrcode"
    EVENT = "event"


class Action(IntEnum):
    """Actions on a resource: manage covers write, write covers read."""

    READ = 1
    WRITE = 2
    MANAGE = 3


@dataclass(frozen=True, slots=True)
class Permission:
    """One ``resource:action``."""

    resource: Resource
    action: Action

    def __str__(self) -> str:
        """Write it as the contract does, ``balance:read``."""
        return f"{self.resource}:{self.action.name.lower()}"

    def covers(self, needed: Permission) -> bool:
        """Return whether this permission covers ``needed``."""
        return self.resource is needed.resource and self.action >= needed.action

    @classmethod
    def parse(cls, text: str) -> Permission:
        """
        Read ``resource:action``.

        Raises:
            ValueError: when either word is not ours.
        """
        resource, _, word = text.partition(":")
        for action in actions_on(Resource(resource)):
            if word == action.name.lower():
                return cls(Resource(resource), action)
        problem = f"no such action: {word!r}"
        raise ValueError(problem)


def actions_on(resource: Resource) -> tuple[Action, ...]:
    """Return the actions that there are on a resource: events can only be read."""
    return (Action.READ,) if resource is Resource.EVENT else tuple(Action)


EVERY_PERMISSION: tuple[Permission, ...] = tuple(
    Permission(resource, action) for resource in Resource for action in actions_on(resource)
)
READS_EVENTS: Final = Permission(Resource.EVENT, Action.READ)


class CredentialLimits(msgspec.Struct, frozen=True, kw_only=True):
    """
    Payout limits of a credential; None for no limit but the account's balance.

    Attributes:
        per_payout: The most that one payout may be.
        per_day: The most that all of a UTC day may sum up to.
        per_payout_at_night, per_night: The same for payouts sent at night; see ``core/night.py``.
    """

    per_payout: Money | None = None
    per_day: Money | None = None
    per_payout_at_night: Money | None = None
    per_night: Money | None = None

    @property
    def is_complete(self) -> bool:
        """Whether both a payout and a day are limited."""
        return self.per_payout is not None and self.per_day is not None

    def raised_by(self, new: CredentialLimits) -> bool:
        """Return whether ``new`` allows more than these limits."""
        return any(
            _above(getattr(new, name), getattr(self, name)) for name in self.__struct_fields__
        )


UNLIMITED = CredentialLimits()


def _above(new: Money | None, old: Money | None) -> bool:
    """Compare two limits; None means no limit."""
    return old is not None and (new is None or new > old)


class Principal(msgspec.Struct, frozen=True, kw_only=True):
    """
    A partner with a proven credential.

    Attributes:
        public_keys: One of them signs each payout; empty for none.
    """

    client_id: str
    company_id: str
    account_id: str | None
    permissions: frozenset[Permission]
    limits: CredentialLimits = UNLIMITED
    callers: CallerRule = ANYWHERE
    public_keys: tuple[PublicKey, ...] = ()


USER_CLIENT: Final = "user:"
"""How a person's name begins in place of a client id; no client id of a credential does."""


def client_of(user_id: str) -> str:
    """Return a person's name in place of a client id."""
    return f"{USER_CLIENT}{user_id}"


def payer(user_id: str, company_id: str) -> Principal:
    """Return a person who pays from a company's accounts; rights are checked elsewhere."""
    return Principal(
        client_id=client_of(user_id),
        company_id=company_id,
        account_id=None,
        permissions=frozenset(),
    )

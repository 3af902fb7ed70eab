"""Permissions: a resource and an action; a higher action covers the lower ones."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Resource(StrEnum):
    """What a credential may be allowed to touch (contract 5.2)."""

    BALANCE = "balance"
    TRANSACTION = "transaction"
    WITHDRAW = "withdraw"
    PIX_KEY = "pix_key"
    QRCODE = "qrcode"


class Action(IntEnum):
    """What it may do there: manage covers write, write covers read."""

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
        """Say whether holding this one is enough for ``needed``."""
        return self.resource is needed.resource and self.action >= needed.action

    @classmethod
    def parse(cls, text: str) -> Permission:
        """
        Read ``resource:action``.

        Raises:
            ValueError: when either word is not ours.
        """
        resource, _, word = text.partition(":")
        for action in Action:
            if word == action.name.lower():
                return cls(Resource(resource), action)
        problem = f"no such action: {word!r}"
        raise ValueError(problem)


EVERY_PERMISSION: tuple[Permission, ...] = tuple(
    Permission(resource, action) for resource in Resource for action in Action
)

"""ETag and If-Match for optimistic locking."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from gateway.core.account import Account
from gateway.core.errors import VERSION_CHANGED, ServiceError

_LENGTH: Final = 32
"""Hexadecimal digits: 128 bits, more than anybody can make meet."""
_ANY: Final = "*"


@dataclass(frozen=True, slots=True)
class Expected:
    """
    Versions in ``If-Match``; empty for no condition.

    Source: RFC 9110, 13.1.1.
    """

    versions: frozenset[str] = frozenset()

    def check(self, version: str) -> None:
        """Raise ``SVC.GTW.011`` (412) unless the version matches, or there is no condition."""
        if self.versions and not self.versions & {version, _ANY}:
            raise ServiceError(VERSION_CHANGED, "changed_meanwhile")


ANY_VERSION: Final = Expected()


def expected(headers: Sequence[str]) -> Expected:
    """Parse every ``If-Match``; a malformed one is a version that no record has."""
    return Expected(frozenset(each.strip() for line in headers for each in line.split(",")))


class Changed(Protocol):
    """A record with a distinct time for every change."""

    @property
    def id(self) -> str:
        """A UUID."""
        ...

    @property
    def updated_at(self) -> datetime:
        """The instant of the latest change."""
        ...


def version_of_user(user: Changed) -> str:
    """Return the version of a user; every change has its own time."""
    return entity_tag("user", user.id, user.updated_at.isoformat())


def version_of_account(account: Account) -> str:
    """Return the version of an account, its sealed credentials included."""
    return entity_tag(
        *("account", account.id, account.company_id, account.name, account.tax_number),
        *(str(account.active), str(account.verified), account.provider),
        *(account.provider_account, account.sealed_credentials.hex(), repr(account.coordinates)),
    )


def entity_tag(*parts: str) -> str:
    """Return an entity tag of parts, from which no part can be read."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8))
        digest.update(content)
    return f'"{digest.hexdigest()[:_LENGTH]}"'

"""The companies whose records a caller may see and change."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


@dataclass(frozen=True, slots=True)
class CompanyScope:
    """
    The companies of a caller; records of other companies do not exist for the caller.

    Attributes:
        companies: Their ids; None for every company. Without any id nothing is visible.
    """

    companies: frozenset[str] | None

    @property
    def everything(self) -> bool:
        """Return whether there is no limit."""
        return self.companies is None

    def includes(self, company_id: str) -> bool:
        """Return whether a company is in scope."""
        return self.companies is None or company_id in self.companies

    def covers(self, limit: AbstractSet[str]) -> bool:
        """
        Return whether a user limited to ``limit`` sees nothing beyond this scope.

        An empty limit is none: such a user sees every company.
        """
        return self.companies is None or (bool(limit) and limit <= self.companies)


EVERY_COMPANY: Final = CompanyScope(None)
"""No limit: of administrators of every company, of the command line and of our own tasks."""


def scope_of(companies: frozenset[str]) -> CompanyScope:
    """Return the scope of a user as users are stored: no company named is every company."""
    return CompanyScope(companies) if companies else EVERY_COMPANY


class StopScope(StrEnum):
    """Kind of a stop's subject."""

    PROVIDER = "provider"
    ACCOUNT = "account"
    COMPANY = "company"
    CREDENTIAL = "credential"
    EVERYTHING = "everything"


WIDE: Final = frozenset({StopScope.PROVIDER, StopScope.EVERYTHING})
"""Scopes beyond one company: only staff of every company create or lift such a stop."""

"""
One caller's records: what lies outside their company scope is as good as absent.

Every administrative act on a record begins here, whoever asks for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gateway.domain.backoffice.lists import (
    ScopedRecords,
)
from gateway.domain.identity.errors import NOT_FOUND
from gateway.domain.identity.users import User
from gateway.domain.kernel.company_scope import EVERY_COMPANY, CompanyScope
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.strict import uuid_text
from gateway.domain.kernel.windows import Paging
from gateway.operations.bank.pages import Listed
from gateway.operations.kernel.audit_context import AuditContext, RuleViolation

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class RecordsInScope:
    """
    The records of one company scope.

    What a path names and is not in scope is ``NOT_FOUND`` (404). What a body names and is not
    in scope is a broken rule, in the words of one that does not exist.
    """

    records: ScopedRecords
    scope: CompanyScope = EVERY_COMPANY

    async def user(self, user_id: str) -> User:
        """Return one user; ``NOT_FOUND`` for one who sees a company outside of the scope."""
        return _found(await self.records.user(user_id, self.scope), "user")

    def require_companies(self, wanted: Iterable[str]) -> frozenset[str]:
        """
        Read the limit of another user; it may not reach beyond the caller's own.

        Raises:
            RuleViolation: a name that is no UUID, or a limit that is wider than the scope.
        """
        try:
            companies = frozenset(map(uuid_text, wanted))
        except ValueError as problem:
            message = "a company is named by its id"
            raise RuleViolation(message, "uuid_form", field="companies") from problem
        if not self.scope.covers(companies):
            message = "name companies that you see yourself"
            raise RuleViolation(message, "company_unknown", field="companies")
        return companies

    async def _has_account(self, account_id: str) -> bool:
        if self.scope.everything:
            return True
        return await self.records.account(account_id.lower(), self.scope) is not None


def _found(record: Item | None, kind: str) -> Item:
    if record is None:
        raise ServiceError(NOT_FOUND, kind)
    return record


async def _listed(paging: Paging, found: Awaitable[tuple[Sequence[Item], int]]) -> Listed[Item]:
    items, total = await found
    return Listed(items=items, paging=paging, total=total)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminServices:
    """
    The records that administrators keep, for one caller.

    Attributes:
        visible: What the caller may see and change; asked before a record is changed.
    """

    acting: AuditContext
    visible: RecordsInScope

    def by(self, acting: AuditContext, scope: CompanyScope) -> AdminServices:
        """Return the same services for another caller."""
        return AdminServices(
            acting=acting,
            visible=replace(self.visible, scope=scope),
        )

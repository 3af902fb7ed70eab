"""All movements of an account, those that are not Pix too: what a report is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.domain.accounts import Account
from gateway.domain.providers import Banks, Page
from gateway.domain.statements import Entry
from gateway.domain.windows import Window
from gateway.operations.administration import NotPossible
from gateway.operations.connections import bank_of
from gateway.operations.pages import PAGE, every

MOST = 20_000
"""Movements that are gathered at once; more belong into several windows."""


@dataclass(frozen=True, slots=True)
class AccountMovements:
    """Reads movements from the bank (contract 4.3)."""

    banks: Banks
    most: int = MOST

    async def movements(self, account: Account, window: Window) -> Sequence[Entry]:
        """
        Return every movement of a window, newest first.

        Raises:
            NotPossible: there are more than ``most``.
            ServiceError: ``SVC.ACC.005`` (422) when no provider is configured.
            ProviderError: the bank does not tell.
        """
        bank = bank_of(self.banks, account)
        counted = 0

        async def read(cursor: str | None) -> Page[Entry]:
            nonlocal counted
            page = await bank.adapter.list_statement(bank.account, window, cursor, PAGE)
            counted += len(page.items)
            if counted > self.most:
                message = f"more than {self.most} movements: ask for fewer days"
                raise NotPossible(message, "too_many_movements")
            return page

        entries = await every(read)
        return sorted(entries, key=lambda entry: entry.created_at, reverse=True)

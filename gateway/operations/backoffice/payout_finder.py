"""Finding payouts, whatever is known of them, within the companies that a person sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from gateway.credentials.model import Credential
from gateway.domain.accounts.accounts import Account
from gateway.domain.backoffice.lists import ScopedRecords
from gateway.domain.backoffice.payout_search import (
    FoundPayout,
    Named,
    OpenWork,
    PayoutDirectory,
    PayoutQuery,
    PayoutsFound,
)
from gateway.domain.kernel import strict
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.windows import LOCAL, local_start

_KEY: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)
_CLIENT: Final = "cli_"
_ANY: Final = (Named.REFERENCE, Named.PROVIDER_ID, Named.TRACE_ID)
"""What a text without a form of its own may name."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a text has led to."""

    payouts: Sequence[FoundPayout] = ()
    account: Account | None = None
    credential: Credential | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutFinder:
    """
    Searches the store alone; every call raises ``StoreUnavailable`` as stores do.

    Attributes:
        digests: Makes the digests that a recipient's tax number may be stored under.
    """

    directory: PayoutDirectory
    records: ScopedRecords
    now: Now
    digests: Callable[[str], Sequence[bytes]]

    async def search(self, scope: CompanyScope, query: PayoutQuery) -> PayoutsFound:
        """Return a page of the payouts in scope, and how all in the window stand."""
        return await self.directory.search(self.dated(query), scope)

    def dated(self, query: PayoutQuery) -> PayoutQuery:
        """Say when the days of a query begin, where it says how many they are."""
        if query.days is None:
            return query
        today = self.now().astimezone(LOCAL).date()
        start = local_start(today - timedelta(days=query.days - 1))
        return replace(query, wanted=replace(query.wanted, start=start), days=None)

    async def open_work(self, scope: CompanyScope, _taken: None) -> OpenWork:
        """Count what waits for somebody now."""
        return await self.directory.open_work(self.now(), scope)

    async def find(self, scope: CompanyScope, text: str) -> Found:
        """
        Return what a text names; its form decides what is asked.

        A tax number, an end-to-end id, the id of an account or a trace, a credential, our key at
        the bank; else the beginning of a reference, the bank's id, or a trace.
        """
        number = _tax_number(text)
        if number:
            return Found(await self.directory.paid_to(self.digests(number), scope))
        if strict.is_e2e_id(text):
            return Found(await self.directory.named(Named.E2E_ID, text, scope))
        if text.startswith(_CLIENT):
            return Found(credential=await self.records.credential(text, scope))
        if _KEY.fullmatch(text):
            keyed = await self.directory.named(Named.PROVIDER_KEY, text, scope)
            return Found(keyed or await self._any(text, scope))
        if _is_uuid(text):
            account = await self.records.account(text.lower(), scope)
            return Found(account=account) if account else Found(await self._any(text, scope))
        return Found(await self._any(text, scope))

    async def _any(self, text: str, scope: CompanyScope) -> Sequence[FoundPayout]:
        """Try what a text may name, until something is found."""
        for by in _ANY:
            found = await self.directory.named(by, text, scope)
            if found:
                return found
        return ()


def _tax_number(text: str) -> str:
    """Return a CPF or CNPJ without punctuation; empty for another text."""
    try:
        return strict.tax_number(text)
    except ValueError:
        return ""


def _is_uuid(text: str) -> bool:
    try:
        return bool(strict.uuid_text(text))
    except ValueError:
        return False

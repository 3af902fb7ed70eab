"""What came in by Pix, with or without a charge."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.accounts import Account
from gateway.domain.incoming import IncomingPayment, IncomingSearch
from gateway.domain.provider_options import Option
from gateway.domain.providers import Banks
from gateway.operations.connections import bank_of
from gateway.operations.options import incoming_calls
from gateway.operations.pages import PAGE, Listed, every, listed


@dataclass(frozen=True, slots=True)
class Incoming:
    """Reads the payments of an account (contract 4.3)."""

    banks: Banks

    async def search(self, account: Account, wanted: IncomingSearch) -> Listed[IncomingPayment]:
        """
        Return a page of payments, newest first; the window is read whole from the bank.

        Raises:
            ServiceError: ``SVC.ACC.005`` (422) when no provider is configured.
            NotSupported: the bank does not offer it.
            ProviderError: the bank does not tell.
        """
        bank = bank_of(self.banks, account)
        calls = incoming_calls(bank, Option.LIST_RECEIVED)
        window = wanted.search.window
        payments = await every(
            lambda cursor: calls.list_received(bank.account, window, cursor, PAGE)
        )
        chosen = [each for each in payments if wanted.status in {None, each.status}]
        chosen.sort(key=lambda each: each.paid_at, reverse=True)
        return listed(chosen, wanted.search.paging)

"""What an account holds now."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.balances import Balance
from gateway.domain.calls import Caller
from gateway.domain.providers import Banks
from gateway.operations.connections import bank_of


@dataclass(frozen=True, slots=True)
class Balances:
    """Reads balances, always live (contract 2.3)."""

    banks: Banks

    async def read(self, caller: Caller, _taken: None) -> Balance:
        """Ask the bank; raises ``ProviderError`` when it does not tell."""
        bank = bank_of(self.banks, caller.account)
        return await bank.adapter.get_balance(bank.account)

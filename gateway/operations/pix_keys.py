"""The PIX keys of an account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.domain.calls import Caller
from gateway.domain.pix_keys import PixKey
from gateway.domain.providers import Banks
from gateway.operations.connections import bank_of


@dataclass(frozen=True, slots=True)
class OwnedKey:
    """A key with the id it is shown under."""

    id: str
    key: PixKey


@dataclass(frozen=True, slots=True)
class PixKeys:
    """Reads keys from the bank (contract 2.8)."""

    banks: Banks

    async def list(self, caller: Caller, _taken: None) -> Sequence[OwnedKey]:
        """Return every key; raises ``ProviderError`` when the bank does not tell."""
        bank = bank_of(self.banks, caller.account)
        keys = await bank.adapter.list_keys(bank.account)
        return [OwnedKey(key.public_id(caller.account.id), key) for key in keys]

    async def read(self, caller: Caller, key_id: str) -> OwnedKey:
        """Return one key; raises ``NotFound`` when the bank has none of that id."""
        bank = bank_of(self.banks, caller.account)
        return OwnedKey(key_id, await bank.adapter.get_key(bank.account, key_id))

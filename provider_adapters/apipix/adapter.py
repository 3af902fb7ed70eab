"""A bank of API Pix behind the provider port; its profile says what it offers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway.domain.bank.capabilities import Capabilities, PortCall
from gateway.domain.bank.charges import Charge, ChargeOrder, ChargePayment
from gateway.domain.bank.payout_orders import PayoutOrder
from gateway.domain.bank.pix_keys import KeyOrder, PixKey
from gateway.domain.bank.provider_callbacks import (
    CallbackOrder,
    CallbackSecrets,
    RegisteredCallback,
)
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import (
    NotFound,
    NotSupported,
    Outcome,
    Page,
    ProviderAccount,
    ProviderError,
)
from gateway.domain.bank.refunds import IncomingPayment, Refund, RefundOrder
from gateway.domain.bank.statements import Balance, Entry
from gateway.domain.kernel.clocks import Deadline
from gateway.domain.kernel.windows import Window
from provider_adapters.apipix.callbacks import ApiPixProof, Callbacks
from provider_adapters.apipix.charges import Charges
from provider_adapters.apipix.efi.calls import Efi
from provider_adapters.apipix.received import Received
from provider_adapters.apipix.secrets import ApiPixSecrets
from provider_adapters.kit.client import ProviderClient
from provider_adapters.kit.outcomes import unsent
from provider_adapters.kit.proofs import PeerCertificate
from provider_adapters.kit.secrets import secrets_of


class Banking(Protocol):
    """What some banks offer beyond the standard, each in its own way."""

    async def get_balance(self, account: ProviderAccount) -> Balance:
        """Read the balance, live."""
        ...

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        """Read a page of movements."""
        ...

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        """Order a payout, once."""
        ...

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, provider_id: str, /
    ) -> Outcome:
        """Look a payout up by our key, or by the bank's id."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiPixAdapter:
    """
    One configured bank.

    Attributes:
        clients: The bank's own, and that of the host that gives tokens if it is another.
        banking: Balance, statement and payouts, for a bank that has them.
        keys: PIX keys, likewise.
        authority: Who signs the certificate that the bank shows with callbacks.
        derives: The bank is a simulator on this machine, which may use a derived secret.
    """

    capabilities: Capabilities
    clients: Sequence[ProviderClient]
    charges: Charges
    received: Received
    callbacks: Callbacks
    banking: Banking | None
    keys: Efi | None
    authority: PeerCertificate | None
    derives: bool

    async def start(self) -> None:
        """Open the clients' connections on the running loop."""
        for client in self.clients:
            await client.start()

    async def close(self) -> None:
        """Close the clients' connections."""
        for client in self.clients:
            await client.close()

    def callback_proof(self, secrets: CallbackSecrets) -> ApiPixProof:
        """Make the check of callbacks; raises ``ProofRefused`` without certificate and secret."""
        shared = secrets.shared_or_derived if self.derives else secrets.shared
        return ApiPixProof(
            self.authority,
            shared,
            self.callbacks.access.profile.secret_address,
            lists_keys=PortCall.LIST_KEYS in self.capabilities.calls,
        )

    async def get_balance(self, account: ProviderAccount) -> Balance:
        """Read the balance, live."""
        return await self._banking(PortCall.GET_BALANCE).get_balance(account)

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        """Read a page of movements."""
        own = self._banking(PortCall.LIST_STATEMENT)
        return await own.list_statement(account, window, cursor, limit)

    async def list_keys(self, account: ProviderAccount) -> Sequence[PixKey]:
        """Read the account's keys, as far as the bank lists them."""
        return await self._keys_of(PortCall.LIST_KEYS).list_keys(account, "list_keys")

    async def get_key(self, account: ProviderAccount, key_id: str) -> PixKey:
        """Find a key among those that the bank lists."""
        for key in await self._keys_of(PortCall.GET_KEY).list_keys(account, "get_key"):
            if key.public_id(account.account_id) == key_id:
                return key
        raise NotFound(Reason.NOT_FOUND)

    async def get_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Read a charge, an expired one too; ``GET /cob/{txid}``, ``GET /cobv/{txid}``."""
        return await self.charges.get(account, reference)

    async def get_charge_payment(self, account: ProviderAccount, reference: str) -> ChargePayment:
        """Read the latest payment of a charge; the same paths."""
        return await self.charges.payment(account, reference)

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        """Order a payout, once."""
        try:
            own = self._banking(PortCall.CREATE_PAYOUT)
        except ProviderError as failure:
            return unsent(failure)
        return await own.create_payout(account, order, send_by)

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, provider_id: str
    ) -> Outcome:
        """Look a payout up by our key, or by the bank's id; NotFound proves nothing."""
        banking = self._banking(PortCall.FIND_PAYOUT)
        return await banking.find_payout(account, provider_key, provider_id)

    async def create_key(self, account: ProviderAccount, order: KeyOrder) -> PixKey:
        """Register a key, once."""
        return await self._keys_of(PortCall.CREATE_KEY).create_key(account, order)

    async def cancel_key(self, account: ProviderAccount, key: PixKey) -> PixKey:
        """Give a key up."""
        return await self._keys_of(PortCall.CANCEL_KEY).cancel_key(account, key)

    async def create_charge(self, account: ProviderAccount, order: ChargeOrder) -> Charge:
        """Make an immediate charge, once; ``PUT /cob/{txid}``."""
        return await self.charges.create(account, order)

    async def cancel_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Cancel a charge; ``PATCH /cob/{txid}`` or ``/cobv/{txid}``."""
        return await self.charges.cancel(account, reference)

    async def find_received(self, account: ProviderAccount, e2e_id: str) -> IncomingPayment:
        """Read one payment received; ``GET /pix/{e2eid}``."""
        return await self.received.find(account, e2e_id)

    async def list_received(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[IncomingPayment]:
        """Read a page of payments received; ``GET /pix``."""
        return await self.received.page(account, window, cursor, limit)

    async def create_refund(
        self, account: ProviderAccount, order: RefundOrder, send_by: Deadline
    ) -> Outcome:
        """Give money back, once; ``PUT /pix/{e2eid}/devolucao/{id}``."""
        return await self.received.refund(account, order, send_by)

    async def find_refund(self, account: ProviderAccount, provider_key: str) -> Refund:
        """Look a refund up by our key, in the payments it may give back; ``GET /pix``."""
        return await self.received.find_refund(account, provider_key)

    async def list_refunds(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Refund]:
        """Read a page of refunds; ``GET /pix``."""
        return await self.received.refunds(account, window, cursor, limit)

    async def register_callback(
        self, account: ProviderAccount, order: CallbackOrder
    ) -> RegisteredCallback:
        """Have callbacks sent to an address, for every key; ``PUT /webhook/{chave}``."""
        return await self.callbacks.register(account, await self._keys(account), order)

    async def list_callbacks(self, account: ProviderAccount) -> Sequence[RegisteredCallback]:
        """Read the address of every key; ``GET /webhook/{chave}``."""
        return await self.callbacks.list(account, await self._keys(account))

    async def remove_callback(self, account: ProviderAccount, callback_id: str) -> None:
        """Remove the address of one key; ``DELETE /webhook/{chave}``."""
        await self.callbacks.remove(account, await self._keys(account), callback_id)

    async def _keys(self, account: ProviderAccount) -> Sequence[str]:
        """Return the account's own keys: the one of its credentials, then those listed."""
        own = secrets_of(account, ApiPixSecrets).pix_key
        keys = dict.fromkeys([own] if own else [])
        if PortCall.LIST_KEYS in self.capabilities.calls:
            keys |= dict.fromkeys(key.key for key in await self.list_keys(account))
        return tuple(keys)

    def _banking(self, call: PortCall) -> Banking:
        """Return who answers balance, statement and payouts; raises ``NotSupported``."""
        if self.banking is None or call not in self.capabilities.calls:
            raise NotSupported(Reason.NOT_SUPPORTED)
        return self.banking

    def _keys_of(self, call: PortCall) -> Efi:
        """Return who answers calls about keys; raises ``NotSupported``."""
        if self.keys is None or call not in self.capabilities.calls:
            raise NotSupported(Reason.NOT_SUPPORTED)
        return self.keys

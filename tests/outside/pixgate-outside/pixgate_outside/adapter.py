"""The bank behind the port: the nine calls of the contract, and the proof of callbacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.banks.port.capabilities import Capabilities
from gateway.banks.port.charges import Charge, ChargePayment
from gateway.banks.port.payout_orders import PayoutOrder
from gateway.banks.port.pix_keys import PixKey
from gateway.banks.port.provider_callbacks import CallbackSecrets
from gateway.banks.port.providers import (
    NotFound,
    NotSupported,
    Outcome,
    Page,
    ProviderAccount,
    ProviderError,
    Reason,
)
from gateway.banks.port.statements import Balance, Entry
from gateway.core.clocks import Deadline, Now
from gateway.core.windows import Window
from provider_adapters.kit.client import ProviderClient
from provider_adapters.kit.outcomes import read_back, unsent

from pixgate_outside import mapping, payouts, requests
from pixgate_outside.access import Access
from pixgate_outside.payouts import Expected, expected_of
from pixgate_outside.proof import Proof
from pixgate_outside.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """The bank, as one configured provider."""

    capabilities: Capabilities
    client: ProviderClient
    access: Access
    settings: Settings
    now: Now

    async def start(self) -> None:
        """Open what needs an event loop."""
        await self.client.start()

    async def close(self) -> None:
        """Close all connections."""
        await self.client.close()

    def callback_proof(self, secrets: CallbackSecrets) -> Proof:
        """Make the check of callbacks; raises ``ProofRefused`` where nothing could be proven."""
        return Proof(self.settings, secrets, self.now)

    async def probe(self) -> None:
        """Reach the bank without touching an account."""
        await self.client.read(requests.PROBE, mapping.reached)

    async def get_balance(self, account: ProviderAccount) -> Balance:
        """Read the balance, live."""
        return await self.access.read(account, requests.balance(account), mapping.balance)

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        """Read a page of movements, newest first."""
        unknown = self.client.unknown_word("list_statement")
        request = requests.statement(account, window, cursor, limit)
        return await self.access.read(
            account, request, lambda answer: mapping.statement(answer, cursor, unknown)
        )

    async def list_keys(self, account: ProviderAccount) -> Sequence[PixKey]:
        """Read every key, cancelled ones too."""
        return await self._keys(account, "list_keys")

    async def get_key(self, account: ProviderAccount, key_id: str) -> PixKey:
        """Find a key among all, by the id that we show for it."""
        for key in await self._keys(account, "get_key"):
            if key.public_id(account.account_id) == key_id:
                return key
        raise NotFound(Reason.NOT_FOUND)

    async def get_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Read a charge, an expired one too."""
        unknown = self.client.unknown_word("get_charge")
        return await self.access.read(
            account,
            requests.charge(account, reference),
            lambda answer: mapping.charge(answer, self.now(), unknown),
        )

    async def get_charge_payment(self, account: ProviderAccount, reference: str) -> ChargePayment:
        """Read a charge and its latest payment."""
        request = requests.charge_payment(account, reference)
        return await self.access.read(account, request, mapping.charge_payment)

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        """
        Order a payout, at most once.

        Returns:
            What the bank's answer proves, see ``payouts``. NotSent when no byte left us or the
            bank did not look at the order, Rejected for what it can never take, Unknown for
            all else.
        """
        try:
            request, expected = requests.create_payout(account, order), expected_of(order)
        except ProviderError as failure:
            return unsent(failure)
        unknown = self.client.unknown_word("create_payout")
        outcome = await self.access.pay(
            account, request, lambda answer: payouts.created(answer, expected, unknown), send_by
        )
        return await read_back(outcome, lambda: self._compared(account, order))

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, provider_id: str
    ) -> Outcome:
        """
        Look a payout up, by the bank's id or by our key.

        Raises:
            NotFound: The bank does not show it.
            NotSupported: It is found by what is not known.
        """
        if not self.capabilities.finds(provider_id):
            raise NotSupported(Reason.NOT_SUPPORTED)
        expected = Expected(provider_key=provider_key)
        return await self._found(account, provider_id, expected)

    async def _keys(self, account: ProviderAccount, operation: str) -> Sequence[PixKey]:
        unknown = self.client.unknown_word(operation)
        return await self.access.read(
            account,
            requests.keys(account, operation),
            lambda answer: mapping.keys(answer, unknown),
        )

    async def _compared(self, account: ProviderAccount, order: PayoutOrder) -> Outcome:
        """Read the payout of a known key, and compare amount and destination."""
        return await self._found(account, "", expected_of(order, must_show=True))

    async def _found(
        self, account: ProviderAccount, provider_id: str, expected: Expected
    ) -> Outcome:
        unknown = self.client.unknown_word("find_payout")
        request = requests.payout(account, expected.provider_key, provider_id)
        return await self.access.read(
            account, request, lambda answer: payouts.found(answer, expected, unknown)
        )

"""The sandbox bank behind the provider port."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

from gateway.banks.port.charges import Charge, ChargeOrder, ChargePayment, ChargeStatus
from gateway.banks.port.payout_orders import PayoutOrder
from gateway.banks.port.pix_keys import KeyOrder, KeyOwner, PixKey, PixKeyType
from gateway.banks.port.provider_callbacks import (
    CallbackOrder,
    CallbackSecrets,
    MissedEvent,
    RegisteredCallback,
)
from gateway.banks.port.providers import (
    NotSupported,
    Outcome,
    Page,
    ProviderAccount,
    ProviderError,
    Reason,
)
from gateway.banks.port.refunds import IncomingPayment, Refund, RefundOrder
from gateway.banks.port.statements import Balance, Block, Entry
from gateway.core.clocks import Deadline, Now
from gateway.core.windows import Window
from provider_adapters.kit.adapter import BankAdapter, key_of, made_or_read
from provider_adapters.kit.answers import ProviderAnswer
from provider_adapters.kit.outcomes import Expected, read_back, unsent
from provider_adapters.kit.payers import unpaid_of
from provider_adapters.kit.requests import ProviderRequest, sending
from provider_adapters.sandbox import callbacks, mapping, payouts, refunds, requests
from provider_adapters.sandbox.callbacks import SandboxProof


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SandboxAdapter(BankAdapter):
    """
    The sandbox bank as one configured provider.

    The first nine operations are common to all banks, the others are optional
    (``gateway.banks.port.providers``). Each builds a request, sends it, and
    translates the answer. A ``ProviderAccount``'s credentials are the bank's
    token for that account.

    Attributes:
        key_types: The types of keys that payouts can go to.
        banks: The accepted bank numbers; None for every bank.
    """

    now: Now
    key_types: Collection[PixKeyType]
    banks: Collection[str] | None

    def callback_proof(self, secrets: CallbackSecrets) -> SandboxProof:
        """Make the check of the bank's callbacks; raises ``ProofRefused`` without a secret."""
        return SandboxProof(secrets.shared_or_derived, self.now)

    async def probe(self) -> None:
        """Reach the bank; ``GET /``. Any answer in the bank's own shape is enough."""
        await self.client.read(requests.PROBE, mapping.reached)

    async def get_balance(self, account: ProviderAccount) -> Balance:
        """Read the balance, live; ``GET …/saldo``."""
        return await self.client.read(requests.balance(account), mapping.balance)

    async def list_blocks(self, account: ProviderAccount) -> Sequence[Block]:
        """Read all that is blocked; ``GET …/bloqueios``."""
        request = requests.below_account(account, "list_blocks", "/bloqueios")
        return await self.client.read(request, mapping.blocks)

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        """Read a page of movements; ``GET …/extrato``."""
        request = requests.statement(account, window, cursor, limit)
        return await self.client.read(request, mapping.statement)

    async def list_keys(self, account: ProviderAccount) -> Sequence[PixKey]:
        """Read every key, cancelled ones too; ``GET …/chaves``."""
        return await self._keys(account, "list_keys")

    async def get_key(self, account: ProviderAccount, key_id: str) -> PixKey:
        """Find a key among all: some of the bank's ids are not UUIDs, so ours must be compared."""
        return key_of(await self._keys(account, "get_key"), account, key_id)

    async def get_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Read a charge, an expired one too; ``GET …/cobrancas/{referencia}``."""
        return await self._charge(account, reference, "get_charge", self.client.read_by())

    async def get_charge_payment(self, account: ProviderAccount, reference: str) -> ChargePayment:
        """
        Read the latest payment of a charge; ``GET …/cobrancas/{referencia}/pagamento``.

        The charge is read too, after it: the payment names its payer even when the charge is
        anonymous, and whether a charge is paid that is not reusable, the charge says, so that the
        QR code says the same. All calls share the time limit of one read.
        """
        by = self.client.read_by()
        path = "/cobrancas/{referencia}/pagamento"
        operation = "get_charge_payment"
        request = requests.below_account(account, operation, path, referencia=reference)
        payment = await self.client.read(request, mapping.charge_payment, by)
        charge = await self._charge(account, reference, operation, by)
        if not charge.reusable:
            if charge.status is not ChargeStatus.PAID:
                return unpaid_of(charge)
            if payment.paid_at is None:  # it was paid in between
                payment = await self.client.read(request, mapping.paid_charge, by)
        payer = charge.payer and (payment.payer or charge.payer)
        return dataclasses.replace(payment, payer=payer)

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        """
        Order a payout; ``POST …/transferencias``.

        The provider key is sent as the idempotency key. The bank keeps it
        forever and answers a repetition with the payout's current state.

        Returns:
            Accepted or Settled as the bank answered; for a known key as it shows
            the payout, if that is the one ordered. Rejected for a listed refusal,
            and for an order that it can never take. NotSent when no byte left us, or the
            bank did not look at the order: its credentials, or too many calls.
            Unknown for all else: look the payout up, do not send it again.
        """
        try:
            request = self._payout(account, order)
        except ProviderError as failure:
            return unsent(failure)
        expected = payouts.expected(order)
        outcome = await self.client.pay(
            request, lambda answer: payouts.created(answer, expected), send_by
        )
        return await read_back(outcome, lambda: self._compared(account, order))

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, provider_id: str
    ) -> Outcome:
        """
        Look a payout up; ``GET …/transferencias/{id}`` or ``…/por-chave/{chave}``.

        The bank shows a payout from the moment it is executed. The caller
        compares ``Settled.value`` with the order, which is not known here.

        Raises:
            NotFound: The bank does not know the payout. That proves nothing
                before ``absent_after`` has passed.
            NotSupported: There is no bank's id, and lookup by key is disabled.
        """
        if not self.capabilities.finds(provider_id):
            raise NotSupported(Reason.NOT_SUPPORTED)
        request = requests.payout(account, provider_key, provider_id)
        return await self._found(request, Expected(provider_key))

    async def create_key(self, account: ProviderAccount, order: KeyOrder) -> PixKey:
        """Register a key, sent once; ``POST …/chaves``."""
        return await self.client.change(requests.create_key(account, order), mapping.changed_key)

    async def cancel_key(self, account: ProviderAccount, key: PixKey) -> PixKey:
        """Cancel a key; ``DELETE …/chaves/{id}``, safe to repeat."""
        path = "/chaves/{id}"
        request = requests.below_account(account, "cancel_key", path, id=key.provider_id)
        return await self.client.read(sending(request, method="DELETE"), mapping.changed_key)

    async def look_up_key(self, account: ProviderAccount, key: str) -> KeyOwner:
        """
        Read the owner of a key; ``POST …/consultas-chave``, which changes nothing.

        The key is in the body, because paths are logged.
        """
        request = requests.below_account(account, "look_up_key", "/consultas-chave")
        return await self.client.read(sending(request, {"chave": key}), mapping.owner)

    async def create_charge(self, account: ProviderAccount, order: ChargeOrder) -> Charge:
        """Create a charge, sent once; ``POST …/cobrancas``."""
        request = requests.create_charge(account, order)

        async def read() -> Charge:
            by = self.client.read_by()
            return await self._charge(account, order.reference, "create_charge", by)

        return await made_or_read(self.client.change(request, self._changed_charge), read)

    async def cancel_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Cancel a charge; ``DELETE …/cobrancas/{referencia}``, safe to repeat."""
        request = requests.charge(account, reference, "cancel_charge")
        return await self.client.read(sending(request, method="DELETE"), self._changed_charge)

    async def find_received(self, account: ProviderAccount, e2e_id: str) -> IncomingPayment:
        """Read one payment received; ``GET …/recebimentos/{e2e}``."""
        path = "/recebimentos/{e2e}"
        request = requests.below_account(account, "find_received", path, e2e=e2e_id)
        return await self.client.read(request, mapping.received_payment)

    async def list_received(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[IncomingPayment]:
        """Read a page of payments received; ``GET …/recebimentos``."""
        request = requests.received_payments(account, window, cursor, limit)
        return await self.client.read(request, mapping.received_payments)

    async def create_refund(
        self, account: ProviderAccount, order: RefundOrder, send_by: Deadline
    ) -> Outcome:
        """
        Refund a payment received; ``POST …/recebimentos/{e2e}/devolucoes``.

        The provider key is sent as the idempotency key, as for a payout.
        """
        try:
            request = requests.create_refund(account, order)
        except ProviderError as failure:
            return unsent(failure)
        return await self.client.pay(
            request, lambda answer: refunds.created(answer, order), send_by
        )

    async def find_refund(self, account: ProviderAccount, provider_key: str) -> Refund:
        """Look a refund up; ``GET …/devolucoes/por-chave/{chave}``."""
        path = "/devolucoes/por-chave/{chave}"
        request = requests.below_account(account, "find_refund", path, chave=provider_key)
        return await self.client.read(request, lambda answer: refunds.found(answer, provider_key))

    async def list_refunds(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Refund]:
        """Read a page of refunds; ``GET …/devolucoes``."""
        request = requests.refunds(account, window, cursor, limit)
        return await self.client.read(request, refunds.page)

    async def register_callback(
        self, account: ProviderAccount, order: CallbackOrder
    ) -> RegisteredCallback:
        """Have callbacks sent to an address, sent once; ``POST …/avisos``."""
        request = requests.register_callback(account, order)
        return await self.client.change(request, callbacks.registered)

    async def list_callbacks(self, account: ProviderAccount) -> Sequence[RegisteredCallback]:
        """Read every address; ``GET …/avisos``."""
        request = requests.below_account(account, "list_callbacks", "/avisos")
        return await self.client.read(request, callbacks.registrations)

    async def remove_callback(self, account: ProviderAccount, callback_id: str) -> None:
        """Remove an address; ``DELETE …/avisos/{id}``, safe to repeat."""
        path = "/avisos/{id}"
        request = requests.below_account(account, "remove_callback", path, id=callback_id)
        await self.client.read(sending(request, method="DELETE"), callbacks.registered)

    async def list_missed_events(
        self, account: ProviderAccount, limit: int
    ) -> Sequence[MissedEvent]:
        """Read callbacks that could not be delivered; ``GET …/eventos-perdidos``."""
        request = requests.missed_events(account, limit)
        return await self.client.read(request, callbacks.missed_events)

    async def acknowledge_events(self, account: ProviderAccount, event_ids: Sequence[str]) -> None:
        """Acknowledge missed events; ``POST …/eventos-perdidos/lidos``, safe to repeat."""
        path = "/eventos-perdidos/lidos"
        request = requests.below_account(account, "acknowledge_events", path)
        document = {"eventos": list(event_ids)}
        await self.client.read(sending(request, document), callbacks.acknowledged)

    async def _keys(self, account: ProviderAccount, operation: str) -> Sequence[PixKey]:
        request = requests.below_account(account, operation, "/chaves")
        return await self.client.read(request, mapping.keys)

    async def _charge(
        self, account: ProviderAccount, reference: str, operation: str, by: Deadline
    ) -> Charge:
        request = requests.charge(account, reference, operation)
        return await self.client.read(
            request, lambda answer: mapping.charge(answer, self.now()), by
        )

    def _changed_charge(self, answer: ProviderAnswer) -> Charge:
        return mapping.changed_charge(answer, self.now())

    async def _compared(self, account: ProviderAccount, order: PayoutOrder) -> Outcome:
        """Read the payout of a known key, and compare amount and destination."""
        request = requests.payout(account, order.provider_key, "")
        return await self._found(request, payouts.expected(order, must_show=True))

    async def _found(self, request: ProviderRequest, expected: Expected) -> Outcome:
        """Look a payout up."""
        return await self.client.read(request, lambda answer: payouts.found(answer, expected))

    def _payout(self, account: ProviderAccount, order: PayoutOrder) -> ProviderRequest:
        """Build the request of a payout; raises ``NotSupported`` or ``Refused``."""
        if not self.capabilities.payouts:
            raise NotSupported(Reason.NOT_SUPPORTED)
        requests.refuse_unknown_place(order, self.key_types, self.banks)
        return requests.create_payout(account, order)

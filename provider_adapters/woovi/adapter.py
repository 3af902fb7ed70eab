"""The bank of Woovi (OpenPix) behind the provider port."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence

from gateway.banks.port.charges import Charge, ChargeOrder, ChargePayment, ChargeStatus
from gateway.banks.port.payout_orders import PayoutOrder
from gateway.banks.port.pix_keys import KeyOrder, KeyOwner, PixKey
from gateway.banks.port.provider_callbacks import CallbackOrder, CallbackSecrets, RegisteredCallback
from gateway.banks.port.providers import (
    CHARGE_PAID,
    IN_USE,
    NotFound,
    Outcome,
    Page,
    ProviderAccount,
    ProviderError,
    Refused,
)
from gateway.banks.port.refunds import IncomingPayment, Refund, RefundOrder
from gateway.banks.port.statements import Balance, Entry
from gateway.core.clocks import Deadline, Monotonic, Now
from gateway.core.money import Money
from gateway.core.windows import Window
from provider_adapters.kit import paging
from provider_adapters.kit.adapter import BankAdapter, key_of, made_or_read
from provider_adapters.kit.outcomes import Expected, read_back, unsent
from provider_adapters.kit.payers import unpaid_of
from provider_adapters.kit.public_keys import FetchedKeys
from provider_adapters.woovi import (
    callbacks,
    documents,
    mapping,
    payouts,
    received,
    refunds,
    requests,
)
from provider_adapters.woovi.callbacks import WooviProof


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WooviAdapter(BankAdapter):
    """
    Woovi as one configured provider.

    An account's ``provider_account`` is the bank's ``accountId``, its secrets are its AppID.
    Our reference and our keys are the bank's ``correlationID``: it finds everything by that.
    """

    now: Now
    clock: Monotonic

    def callback_proof(self, secrets: CallbackSecrets) -> WooviProof:
        """Make the check of callbacks; without a secret the bank's own keys prove them alone."""
        keys = FetchedKeys(self.client, requests.PUBLIC_KEYS, mapping.public_keys, self.clock)
        return WooviProof(keys, secrets)

    async def probe(self) -> None:
        """Reach the bank; ``GET /webhook/public-keys``, which is open to everybody."""
        await self.client.read(requests.PROBE, mapping.reached)

    async def get_balance(self, account: ProviderAccount) -> Balance:
        """Read the balance, live; ``GET /account/{accountId}``."""
        asked = account.provider_account
        request = requests.balance(account)
        return await self.client.read(request, lambda answer: mapping.balance(answer, asked))

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        """Read a page of movements; ``GET /statement``."""
        request = requests.statement(account, window, paging.number_of(cursor), limit)
        return await self.client.read(
            request, lambda answer: mapping.statement(answer, cursor, window)
        )

    async def list_keys(self, account: ProviderAccount) -> Sequence[PixKey]:
        """Read every key; ``GET /pix-keys``."""
        return await self._keys(account, "list_keys")

    async def get_key(self, account: ProviderAccount, key_id: str) -> PixKey:
        """Find a key among all: the bank gives them no ids."""
        return key_of(await self._keys(account, "get_key"), account, key_id)

    async def get_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Read a charge, an expired one too; ``GET /charge/{id}``."""
        return await self._charge(account, reference, "get_charge", self.client.read_by())

    async def get_charge_payment(self, account: ProviderAccount, reference: str) -> ChargePayment:
        """
        Read the payment of a charge; ``GET /charge/{id}``, then ``GET /transaction?charge=``.

        Both calls share the time limit of one read; a charge that is not paid costs one.
        """
        by = self.client.read_by()
        charge = await self._charge(account, reference, "get_charge_payment", by)
        if charge.status is not ChargeStatus.PAID:
            return unpaid_of(charge)
        request = requests.charge_transactions(account, reference)
        return await self.client.read(
            request, lambda answer: received.charge_payment(answer, charge), by
        )

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        """
        Order a payout, approved in the same call; ``POST /payment``.

        The provider key is the ``correlationID``, which pays once.

        Returns:
            As the bank answered; for a known key as it shows the payout, if that is the one
            ordered. Rejected for a listed refusal, and for an order that it can never take. NotSent
            when no byte left us, or the bank did not look at the order. Unknown for all else.
        """
        try:
            request = requests.create_payout(account, order)
        except ProviderError as failure:
            return unsent(failure)
        expected = payouts.expected(order)
        outcome = await self.client.pay(
            request, lambda answer: payouts.created(answer, expected), send_by
        )
        compared = payouts.expected(order, must_show=True)
        return await read_back(outcome, lambda: self._found(account, compared))

    async def find_payout(
        self,
        account: ProviderAccount,
        provider_key: str,
        _provider_id: str,
    ) -> Outcome:
        """
        Look a payout up; ``GET /payment/{correlationID}``. The bank gives it no id of its own.

        Raises:
            NotFound: The bank does not find the payout, which proves nothing.
        """
        return await self._found(account, Expected(provider_key))

    async def create_key(self, account: ProviderAccount, order: KeyOrder) -> PixKey:
        """Register a key, sent once; ``POST /pix-keys``: a CNPJ or a random one."""
        return await self.client.change(requests.create_key(account, order), mapping.created_key)

    async def cancel_key(self, account: ProviderAccount, key: PixKey) -> PixKey:
        """Cancel a key, not the default one; ``DELETE /pix-keys/{pixKey}``, sent once."""
        request = requests.cancel_key(account, key.key)
        return await self.client.change(request, lambda answer: mapping.cancelled_key(answer, key))

    async def look_up_key(self, account: ProviderAccount, key: str) -> KeyOwner:
        """Read the owner of a key; ``POST /pix-keys/check``, which changes nothing."""
        return await self.client.read(requests.look_up_key(account, key), mapping.owner)

    async def create_charge(self, account: ProviderAccount, order: ChargeOrder) -> Charge:
        """
        Create a charge, sent once; ``GET /charge/{id}``, then ``POST /charge``.

        The answer for a known reference is undocumented, so it is looked up first. The
        bank chooses the key. Where its answer shows no payload, the charge is read once more.
        """
        request = requests.create_charge(account, order)
        with contextlib.suppress(NotFound):
            by = self.client.read_by()
            await self._charge(account, order.reference, "create_charge", by)
            raise Refused(IN_USE)

        async def read() -> Charge:
            by = self.client.read_by()
            return await self._charge(account, order.reference, "create_charge", by)

        making = self.client.change(
            request, lambda answer: mapping.charge(answer, order.reference, self.now())
        )
        made = await made_or_read(making, read)
        if not made.emv:
            with contextlib.suppress(ProviderError):
                return await read()
        return made

    async def cancel_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """
        Cancel a charge; ``GET /charge/{id}``, then ``DELETE``.

        It is read first: the answer does not show it, and it cannot be read afterwards.
        """
        by = self.client.read_by()
        charge = await self._charge(account, reference, "cancel_charge", by)
        if charge.status is ChargeStatus.PAID:
            raise Refused(CHARGE_PAID)
        request = requests.cancel_charge(account, reference)
        await self.client.change(request, mapping.deleted)
        return dataclasses.replace(charge, status=ChargeStatus.CANCELED)

    async def find_received(self, account: ProviderAccount, e2e_id: str) -> IncomingPayment:
        """Read one payment received; ``GET /transaction/{id}``, then the charge's refunds."""
        by = self.client.read_by()
        request = requests.transaction(account, e2e_id)
        found = await self.client.read(request, received.received_payment, by)
        refunded = await self._refunded(account, found, "find_received", by)
        return received.incoming(found, refunded)

    async def list_received(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[IncomingPayment]:
        """Read a page of payments received; ``GET /transaction``."""
        by = self.client.read_by()
        request = requests.transactions(account, window, paging.number_of(cursor), limit)
        page = await self.client.read(
            request, lambda answer: received.received_payments(answer, cursor, limit), by
        )
        items = [
            received.incoming(
                each, await self._refunded_if_told(account, each, "list_received", by)
            )
            for each in page.items
        ]
        return mapping.newest_first(
            Page(items=items, next_cursor=page.next_cursor), window, lambda item: item.paid_at
        )

    async def create_refund(
        self, account: ProviderAccount, order: RefundOrder, send_by: Deadline
    ) -> Outcome:
        """
        Refund a payment received; ``POST /refund``.

        The provider key is the ``correlationID``, as for a payout.
        """
        try:
            request = requests.create_refund(account, order)
        except ProviderError as failure:
            return unsent(failure)
        return await self.client.pay(
            request, lambda answer: refunds.created(answer, order), send_by
        )

    async def find_refund(self, account: ProviderAccount, provider_key: str) -> Refund:
        """Look a refund up; ``GET /refund/{correlationID}``."""
        request = requests.refund(account, provider_key)
        return await self.client.read(request, lambda answer: refunds.found(answer, provider_key))

    async def list_refunds(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Refund]:
        """Read a page of refunds in the window; ``GET /refund`` lists all."""
        request = requests.refunds(account, paging.number_of(cursor), limit)
        return await self.client.read(request, lambda answer: refunds.page(answer, cursor, window))

    async def register_callback(
        self, account: ProviderAccount, order: CallbackOrder
    ) -> RegisteredCallback:
        """
        Have callbacks sent to an address; ``POST /webhook`` for each event it does not get yet.

        The bank makes the secret of each registration itself and shows it on its pages alone, so
        that ours is not sent.
        """
        request = requests.webhooks(account, "register_callback", order.url)
        known = await self.client.read(
            request, lambda answer: callbacks.events_of(answer, order.url)
        )
        made = list(known.values())
        for event in mapping.REGISTERED:
            if event not in known:
                request = requests.register_callback(account, order, event)
                made.append(await self.client.change(request, callbacks.registered))
        return made[0]

    async def list_callbacks(self, account: ProviderAccount) -> Sequence[RegisteredCallback]:
        """Read every address; ``GET /webhook``."""
        request = requests.webhooks(account, "list_callbacks")
        return callbacks.addresses(await self.client.read(request, callbacks.registrations))

    async def remove_callback(self, account: ProviderAccount, callback_id: str) -> None:
        """Remove an address, for every event; ``GET /webhook``, then ``DELETE`` of each."""
        request = requests.webhooks(account, "remove_callback")
        found = await self.client.read(request, callbacks.registrations)
        for each in callbacks.of_same_address(found, callback_id):
            request = requests.remove_callback(account, each.id)
            await self.client.change(request, mapping.deleted)

    async def _keys(self, account: ProviderAccount, operation: str) -> Sequence[PixKey]:
        by = self.client.read_by()

        async def page(cursor: str | None) -> Page[PixKey]:
            request = requests.keys(account, operation, paging.number_of(cursor))
            return await self.client.read(request, lambda answer: mapping.keys(answer, cursor), by)

        return await paging.whole(page)

    async def _charge(
        self, account: ProviderAccount, reference: str, operation: str, by: Deadline
    ) -> Charge:
        """Read a charge, for one of three operations."""
        return await self.client.read(
            requests.charge(account, reference, operation),
            lambda answer: mapping.charge(answer, reference, self.now()),
            by,
        )

    async def _found(self, account: ProviderAccount, expected: Expected) -> Outcome:
        """Look a payout up, and compare it with the order."""
        request = requests.payout(account, expected.provider_key)
        return await self.client.read(request, lambda answer: payouts.found(answer, expected))

    async def _refunded_if_told(
        self, account: ProviderAccount, found: documents.Transaction, operation: str, by: Deadline
    ) -> Money:
        """Return the refunded amount of a payment by its state; queried only if it is partial."""
        state = {found.status, found.type}
        if mapping.WHOLLY_REFUNDED in state:
            return Money(found.value)
        if mapping.PARTLY_REFUNDED in state:
            return await self._refunded(account, found, operation, by)
        return Money(0)

    async def _refunded(
        self, account: ProviderAccount, found: documents.Transaction, operation: str, by: Deadline
    ) -> Money:
        """Return the refunded amount. Woovi reports it only for payments of a charge."""
        reference = received.charge_of(found)
        if not reference:
            return Money(
                found.value if mapping.WHOLLY_REFUNDED in {found.status, found.type} else 0
            )
        request = requests.charge_refunds(account, reference, operation)
        return await self.client.read(request, received.charge_refunds, by)

"""Asaas behind the provider port."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from typing import Final

from gateway.banks.port.charges import (
    Charge,
    ChargeOrder,
    ChargePayment,
    ChargeStatus,
    ChargeType,
    Payer,
)
from gateway.banks.port.payout_orders import PayoutOrder
from gateway.banks.port.pix_keys import KeyOrder, PixKey, PixKeyType
from gateway.banks.port.provider_callbacks import CallbackOrder, CallbackSecrets, RegisteredCallback
from gateway.banks.port.providers import (
    CHARGE_PAID,
    IN_USE,
    BadReply,
    NotFound,
    NotSupported,
    Outcome,
    Page,
    ProviderAccount,
    ProviderError,
    Reason,
    Refused,
)
from gateway.banks.port.refunds import IncomingPayment
from gateway.banks.port.statements import Balance, Entry
from gateway.core.clocks import Deadline, Now
from gateway.core.windows import Window
from provider_adapters.asaas import charges, documents, mapping, payouts, requests
from provider_adapters.asaas.callbacks import AsaasProof
from provider_adapters.asaas.mapping import DONE
from provider_adapters.asaas.pix_charges import Paid, PixCharges
from provider_adapters.kit.adapter import BankAdapter, key_of, made_or_read
from provider_adapters.kit.outcomes import unsent
from provider_adapters.kit.paging import days, number_of, skipped, unrepeated, whole, within
from provider_adapters.kit.proofs import token_text
from provider_adapters.kit.requests import sending

_KEYS: Final = "/v3/pix/addressKeys"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AsaasAdapter(BankAdapter):
    """
    Asaas as one configured provider.

    Attributes:
        pix_charges: Which charges of a statement are Pix.
        callback_email: See ``AsaasSettings``.
    """

    now: Now
    pix_charges: PixCharges
    callback_email: str = ""

    def callback_proof(self, secrets: CallbackSecrets) -> AsaasProof:
        """Make the check of callbacks; raises ``ProofRefused`` without a token."""
        tokens = [token_text(each).encode() for each in secrets.shared_or_derived]
        return AsaasProof(tokens)

    async def probe(self) -> None:
        """Reach the bank; ``GET /v3/finance/balance`` without a key, which it refuses."""
        await self.client.read(requests.PROBE, mapping.reached)

    async def get_balance(self, account: ProviderAccount) -> Balance:
        """Read the balance, live; ``GET /v3/finance/balance``."""
        request = requests.keyed(account, "get_balance", "/v3/finance/balance")
        return await self.client.read(request, mapping.balance)

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        """
        Read a page of movements; ``GET /v3/financialTransactions``, by days of the bank.

        Which of the paid charges are Pix stands in the charges; they are listed by day.
        """
        by = self.client.read_by()
        span = days(window, mapping.ZONE)
        request = requests.movements(account, span, number_of(cursor), limit)
        found, more = await self.client.read(request, mapping.movements, by)

        async def read(span: tuple[date, date], skip: int) -> Paid:
            request = requests.pix_charges(account, span, skip)
            return await self.client.read(request, mapping.pix_charges, by)

        received = mapping.charge_days(found)
        pix = await self.pix_charges.among(account.account_id, received, read)
        page = skipped(mapping.entries(found, pix), cursor, more=more)
        page = unrepeated(page, cursor, lambda entry: entry.provider_id)
        return within(page, window, lambda entry: entry.created_at)

    async def list_keys(self, account: ProviderAccount) -> Sequence[PixKey]:
        """Read every key, cancelled ones too; ``GET /v3/pix/addressKeys``."""
        return await self._keys(account, "list_keys")

    async def get_key(self, account: ProviderAccount, key_id: str) -> PixKey:
        """Find a key among all: the bank answers an unknown id without an error code."""
        return key_of(await self._keys(account, "get_key"), account, key_id)

    async def get_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Read a charge: ``GET /v3/payments``, its QR code and its customer."""
        by = self.client.read_by()
        row = await self._charge_row(account, "get_charge", reference, by)
        return await self._charge(account, "get_charge", row, by)

    async def get_charge_payment(self, account: ProviderAccount, reference: str) -> ChargePayment:
        """Read a charge and the Pix that paid it; ``GET /v3/pix/transactions/{id}``."""
        by, operation = self.client.read_by(), "get_charge_payment"
        row = await self._charge_row(account, operation, reference, by)
        paid: documents.PixTransaction | None = None
        if row.pix_transaction:
            path = "/v3/pix/transactions/{id}"
            request = requests.keyed(account, operation, path, id=row.pix_transaction)
            paid = await self.client.read(request, charges.pix_transaction, by)
        payer = charges.payer_of(paid) if paid else None
        if payer is None:
            payer = await self._customer(account, operation, row, by)
        return mapping.composed(lambda: charges.charge_payment(row, paid, payer))

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        """
        Order a payout; ``POST /v3/transfers``.

        The provider key is sent as the reference. The bank repeats it, and does
        not look at it: a second order of the same key would be a second payout.

        Returns:
            Accepted or Settled as the bank answered. Rejected for a listed refusal, and for what
            it can never take. NotSent when no byte left us, or the bank did not look at the
            order: its credentials, or too many calls. Unknown for all else.
        """
        try:
            request = requests.create_transfer(account, order)
        except ProviderError as failure:
            return unsent(failure)
        return await self.client.pay(
            request, lambda answer: payouts.created(answer, order), send_by
        )

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, provider_id: str
    ) -> Outcome:
        """
        Look a payout up by the bank's id; ``GET /v3/transfers/{id}``.

        Raises:
            NotSupported: The id is not known: the bank finds nothing by our key.
        """
        if not self.capabilities.finds(provider_id):
            raise NotSupported(Reason.NOT_SUPPORTED)
        path = "/v3/transfers/{id}"
        request = requests.keyed(account, "find_payout", path, id=provider_id)
        return await self.client.read(request, lambda answer: payouts.found(answer, provider_key))

    async def create_key(self, account: ProviderAccount, order: KeyOrder) -> PixKey:
        """Register a random key, sent once; ``POST /v3/pix/addressKeys``."""
        if order.type is not PixKeyType.EVP:
            raise NotSupported(Reason.NOT_SUPPORTED)
        request = requests.keyed(account, "create_key", _KEYS)
        document = {"type": requests.KEY_WORDS[order.type]}
        return await self.client.change(sending(request, document), mapping.changed_key)

    async def cancel_key(self, account: ProviderAccount, key: PixKey) -> PixKey:
        """Cancel a key, sent once; ``DELETE /v3/pix/addressKeys/{id}``."""
        request = requests.keyed(account, "cancel_key", f"{_KEYS}/{{id}}", id=key.provider_id)
        return await self.client.change(sending(request, method="DELETE"), mapping.changed_key)

    async def create_charge(self, account: ProviderAccount, order: ChargeOrder) -> Charge:
        """
        Create a charge, sent once; ``POST /v3/payments``, after its customer.

        Raises:
            NotSupported: It is static, open, without a payer or with an expiry:
                the bank reads none of these back, or cannot make it.
            Refused: ``IN_USE``: there is a charge of this reference.
        """
        payer, value = order.payer, order.value
        if order.type is not ChargeType.DYNAMIC or order.reusable or order.expires_in is not None:
            raise NotSupported(Reason.NOT_SUPPORTED)
        if value is None or payer is None or not (payer.name and payer.tax_number):
            raise NotSupported(Reason.NOT_SUPPORTED)
        await self._refuse_known(account, order.reference)
        customer = await self._customer_id(account, payer)
        due = self.now().astimezone(mapping.ZONE).date()  # demanded; payable long after it
        request = requests.create_charge(account, order, value, customer, due)

        async def read() -> documents.Payment:
            by = self.client.read_by()
            return await self._charge_row(account, "create_charge", order.reference, by)

        row = await made_or_read(self.client.change(request, charges.made_charge), read)
        return await self._charge(account, "create_charge", row, self.client.read_by(), payer)

    async def cancel_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Cancel a charge that is not cancelled yet; ``DELETE /v3/payments/{id}``."""
        by, operation = self.client.read_by(), "cancel_charge"
        row = await self._charge_row(account, operation, reference, by)
        unknown = self.client.unknown_word(operation)
        status = charges.charge_status(row, unknown)
        if status is ChargeStatus.PAID:
            raise Refused(CHARGE_PAID)
        charge = await self._charge(account, operation, row, by)
        if status is ChargeStatus.ACTIVE:
            request = requests.keyed(account, operation, "/v3/payments/{id}", id=row.id)
            await self.client.change(sending(request, method="DELETE"), mapping.removed)
        return dataclasses.replace(charge, status=ChargeStatus.CANCELED)

    async def find_received(self, account: ProviderAccount, e2e_id: str) -> IncomingPayment:
        """Read one payment received; ``GET /v3/pix/transactions``."""
        request = requests.received(account, e2e_id)
        return await self.client.read(
            request, lambda answer: mapping.received_payment(answer, e2e_id)
        )

    async def list_received(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[IncomingPayment]:
        """Read a page of payments received; ``GET /v3/pix/transactions``."""
        query = {"type": "CREDIT", "status": DONE, **requests.page(number_of(cursor), limit)}
        request = requests.keyed(account, "list_received", "/v3/pix/transactions", query)
        return await self.client.read(
            request, lambda answer: mapping.received_payments(answer, window, cursor)
        )

    async def register_callback(
        self, account: ProviderAccount, order: CallbackOrder
    ) -> RegisteredCallback:
        """Have callbacks sent to an address, sent once; ``POST /v3/webhooks``."""
        request = requests.register_webhook(account, order, self.callback_email)
        return await self.client.change(request, mapping.webhook)

    async def list_callbacks(self, account: ProviderAccount) -> Sequence[RegisteredCallback]:
        """Read every address; ``GET /v3/webhooks``."""
        by = self.client.read_by()

        async def read(cursor: str | None) -> Page[RegisteredCallback]:
            page = requests.page(number_of(cursor))
            request = requests.keyed(account, "list_callbacks", "/v3/webhooks", page)
            return await self.client.read(
                request, lambda answer: mapping.webhooks(answer, cursor), by
            )

        return await whole(read)

    async def remove_callback(self, account: ProviderAccount, callback_id: str) -> None:
        """Remove an address, sent once; ``DELETE /v3/webhooks/{id}``."""
        path = "/v3/webhooks/{id}"
        request = requests.keyed(account, "remove_callback", path, id=callback_id)
        await self.client.change(sending(request, method="DELETE"), mapping.removed)

    async def _keys(self, account: ProviderAccount, operation: str) -> Sequence[PixKey]:
        """Read every key, for one of several operations."""
        by = self.client.read_by()

        async def read(cursor: str | None) -> Page[PixKey]:
            page = requests.page(number_of(cursor))
            request = requests.keyed(account, operation, _KEYS, page)
            return await self.client.read(request, lambda answer: mapping.keys(answer, cursor), by)

        return await whole(read)

    async def _charge_row(
        self, account: ProviderAccount, operation: str, reference: str, by: Deadline
    ) -> documents.Payment:
        """Find a charge by its reference, for one of several operations."""
        request = requests.charges(account, operation, reference)
        return await self.client.read(
            request, lambda answer: charges.charge_row(answer, reference), by
        )

    async def _charge(
        self,
        account: ProviderAccount,
        operation: str,
        row: documents.Payment,
        by: Deadline,
        payer: Payer | None = None,
    ) -> Charge:
        """
        Read the parts of a charge; an ended charge may have no QR code any more.

        ``payer`` is that of a charge that was made just now: without its QR code it is made too.
        """
        status = charges.charge_status(row, self.client.unknown_word(operation))
        code: documents.QrCode | None = None
        over = () if status is ChargeStatus.ACTIVE else (Refused, NotFound, BadReply)
        with suppress(*(over if payer is None else (ProviderError,))):
            path = "/v3/payments/{id}/pixQrCode"
            request = requests.keyed(account, operation, path, id=row.id)
            code = await self.client.read(request, charges.qr_code, by)
        shown = payer or await self._customer(account, operation, row, by)
        return mapping.composed(lambda: charges.charge(row, status, code, shown))

    async def _customer(
        self, account: ProviderAccount, operation: str, row: documents.Payment, by: Deadline
    ) -> Payer | None:
        if not row.customer:
            return None
        request = requests.keyed(account, operation, "/v3/customers/{id}", id=row.customer)
        return await self.client.read(request, charges.customer, by)

    async def _customer_id(self, account: ProviderAccount, payer: Payer) -> str:
        """Return the id of a tax number's customer; create one if missing."""
        request = requests.customers(account, payer.tax_number)
        known = await self.client.read(
            request, lambda answer: charges.known_customer(answer, payer.tax_number)
        )
        if known:
            return known
        request = requests.create_customer(account, payer)
        return await self.client.change(request, charges.customer_id)

    async def _refuse_known(self, account: ProviderAccount, reference: str) -> None:
        """Refuse a reference that is taken: the bank would make a second charge of it."""
        by = self.client.read_by()
        with suppress(NotFound):
            await self._charge_row(account, "create_charge", reference, by)
            raise Refused(IN_USE)

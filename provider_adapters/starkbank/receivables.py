"""
Charges of one account, and payments that came in: several reads of the bank each.

A charge is found by a tag: the one we gave it, or for a charge that others made the
partner's reference itself. All reads of one call share the time limit of one read.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, TypeVar

from gateway.banks.port.charges import Charge, ChargeOrder, ChargePayment, ChargeStatus, ChargeType
from gateway.banks.port.providers import (
    CHARGE_PAID,
    IN_USE,
    NotFound,
    NotSupported,
    Page,
    ProviderAccount,
    Reason,
    Refused,
)
from gateway.banks.port.refunds import IncomingPayment
from gateway.core.account import Environment
from gateway.core.clocks import Deadline, Now
from gateway.core.windows import Window
from provider_adapters.kit.adapter import BankAdapter, made_or_read
from provider_adapters.kit.answers import ProviderAnswer
from provider_adapters.kit.paging import merged, within
from provider_adapters.kit.payers import unpaid_of
from provider_adapters.kit.references import charge_key
from provider_adapters.kit.requests import ProviderRequest, sending
from provider_adapters.starkbank import charges, requests
from provider_adapters.starkbank.charges import Incoming
from provider_adapters.starkbank.documents import Brcode, Deposit, Invoice, InvoiceLog
from provider_adapters.starkbank.mapping import CANCELED, OUR_TAG, PAID

Made = TypeVar("Made", Invoice, Brcode)
Value = TypeVar("Value")

_LONGEST_TAG: Final = 100
"""Characters of a reference that somebody else may have tagged a charge with."""
_A_PAGE: Final = 20
"""Of each list at once: for every paid invoice in it the bank is asked once more."""
_E2E_MINUTE: Final = re.compile(r"[ED][0-9A-Z]{8}(\d{12})", re.ASCII)
_EARLY: Final = timedelta(minutes=2)
_LATE: Final = timedelta(minutes=65)
"""After the minute in an end-to-end id: a bank may hold a payment for an hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receivables(BankAdapter):
    """
    The charges of an account and their payments.

    Attributes:
        environment: Part of the input of a charge's key.
    """

    environment: Environment
    now: Now

    async def get_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Read a charge, an expired one too; ``GET /v2/invoice``, ``GET /v2/dynamic-brcode``."""
        by, operation = self.client.read_by(), "get_charge"
        found = await self._by_reference(account, operation, reference, by)
        if isinstance(found, Invoice):
            return self._of_invoice(operation, found, reference)
        paid = await self._deposit_of(account, operation, found, by)
        return charges.of_brcode(found, reference, paid=paid is not None)

    async def get_charge_payment(self, account: ProviderAccount, reference: str) -> ChargePayment:
        """Read the payment of a charge; ``GET /v2/invoice/{id}/payment``, ``GET /v2/deposit``."""
        by, operation = self.client.read_by(), "get_charge_payment"
        found = await self._by_reference(account, operation, reference, by)
        if isinstance(found, Invoice):
            charge = self._of_invoice(operation, found, reference)
            if charge.status is not ChargeStatus.PAID:
                return unpaid_of(charge)
            request = requests.invoice_payment(operation, found.id)
            payment = await self.read(account, request, charges.invoice_payment, by)
            query = {"types": "paid", "invoiceIds": found.id}
            request = requests.unsigned(operation, "/v2/invoice/log", query)
            at = await self.read(account, request, charges.paid_at, by)
            return charges.paid_invoice(charge, payment, at)
        paid = await self._deposit_of(account, operation, found, by)
        charge = charges.of_brcode(found, reference, paid=paid is not None)
        return unpaid_of(charge) if paid is None else charges.paid_brcode(charge, paid)

    async def create_charge(self, account: ProviderAccount, order: ChargeOrder) -> Charge:
        """
        Create a charge, sent once: an invoice for a payer with name and tax number, else a BR Code.

        The bank takes a tag twice, so that one of ours is looked for first.
        """
        if order.type is not ChargeType.DYNAMIC or order.reusable:
            raise NotSupported(Reason.NOT_SUPPORTED)
        key, payer = self._key(account, order.reference), order.payer
        tag = OUR_TAG + key
        if await self._tagged(account, "create_charge", tag, self.client.read_by()):
            raise Refused(IN_USE)
        if payer is not None and payer.name and payer.tax_number:
            request = requests.create_invoice(order, payer, key, self.now())
            making = self.change(account, request, charges.created_invoice)
            made = await made_or_read(making, lambda: self._just_made(account, tag, Invoice))
            return self._of_invoice("create_charge", made, order.reference)
        request = requests.create_brcode(order, key)
        coding = self.change(account, request, charges.created_brcode)
        code = await made_or_read(coding, lambda: self._just_made(account, tag, Brcode))
        return charges.of_brcode(code, order.reference, paid=False)

    async def cancel_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """
        Cancel an invoice; ``PATCH /v2/invoice/{id}``, safe to repeat.

        A dynamic BR Code ends by itself, and by nothing else.
        """
        by, operation = self.client.read_by(), "cancel_charge"
        found = await self._by_reference(account, operation, reference, by)
        if not isinstance(found, Invoice):
            raise NotSupported(Reason.NOT_SUPPORTED)
        if found.status == PAID:
            raise Refused(CHARGE_PAID)
        request = requests.unsigned(operation, "/v2/invoice/{id}", id=found.id)
        change = sending(request, {"status": CANCELED}, "PATCH")
        translated = partial(charges.cancelled_invoice, before=found)
        gone = await self.read(account, change, translated, by)
        return self._of_invoice(operation, gone, reference)

    async def find_received(self, account: ProviderAccount, e2e_id: str) -> IncomingPayment:
        """Read one payment received; ``GET /v2/deposit``, else among paid invoices."""
        by = self.client.read_by()
        found = await self._deposits(account, "find_received", e2e_id.lower(), by)
        if found:
            return charges.received(found[0], e2e_id)
        async for paid in self._paid_about(account, e2e_id, by):
            if paid.e2e_id == e2e_id:
                return paid
        raise NotFound(Reason.NOT_FOUND)

    async def list_received(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[IncomingPayment]:
        """Read a page of payments received; ``GET /v2/deposit`` and ``GET /v2/invoice/log``."""
        by = self.client.read_by()
        page = await self._incoming(account, window, cursor, min(limit, _A_PAGE), by)
        items: list[IncomingPayment] = []
        for came in within(page, window, _moment).items:
            if isinstance(came, Deposit):
                received = _of_deposit(came)
            else:
                received = await self._of_log(account, "list_received", came, by)
            items += [received] if received else []
        return Page(items=items, next_cursor=page.next_cursor)

    async def _incoming(
        self,
        account: ProviderAccount,
        window: Window,
        cursor: str | None,
        limit: int,
        by: Deadline,
    ) -> Page[Incoming]:
        """Merge deposits and paid invoices, newest first, beyond the window too."""

        async def deposits(at: str | None) -> Page[Incoming]:
            query = requests.page(window, at, limit)
            request = requests.unsigned("list_received", "/v2/deposit", query)
            return await self.read(account, request, partial(charges.deposits, cursor=at), by)

        async def logs(at: str | None) -> Page[Incoming]:
            return await self._paid_logs(
                account, "list_received", requests.page(window, at, limit), by
            )

        return await merged((deposits, logs), cursor, _moment, most=limit)

    async def _paid_about(
        self, account: ProviderAccount, e2e_id: str, by: Deadline
    ) -> AsyncIterator[IncomingPayment]:
        """Read the invoices paid around the minute contained in an end-to-end id."""
        minute = _minute(e2e_id)
        if minute is None:
            return
        first, last = minute - _EARLY, minute + _LATE
        window, cursor = Window(first.date(), last.date()), None
        while True:
            query = requests.page(window, cursor, requests.LARGEST_PAGE)
            page = await self._paid_logs(account, "find_received", query, by)
            for came in page.items:
                if isinstance(came, InvoiceLog) and first <= came.created <= last:
                    paid = await self._of_log(account, "find_received", came, by)
                    if paid is not None:
                        yield paid
            if (cursor := page.next_cursor) is None:
                return

    async def _paid_logs(
        self, account: ProviderAccount, operation: str, page: Mapping[str, str], by: Deadline
    ) -> Page[Incoming]:
        """Read a page of the log entries of paid invoices, newest first."""
        request = requests.unsigned(operation, "/v2/invoice/log", {"types": "paid", **page})
        translated = partial(charges.paid_logs, cursor=page.get("cursor"))
        return await self.read(account, request, translated, by)

    async def _of_log(
        self, account: ProviderAccount, operation: str, log: InvoiceLog, by: Deadline
    ) -> IncomingPayment | None:
        request = requests.invoice_payment(operation, log.invoice.id)

        def translated(answer: ProviderAnswer) -> IncomingPayment | None:
            return charges.received_for_invoice(log, charges.invoice_payment(answer))

        return await self.read(account, request, translated, by)

    async def _by_reference(
        self, account: ProviderAccount, operation: str, reference: str, by: Deadline
    ) -> Invoice | Brcode:
        """
        Find the charge of a reference: by our tag, else by the reference as a foreign tag.

        A tag of others is no key: one that several charges have names none.
        """
        ours, theirs = OUR_TAG + self._key(account, reference), reference.lower()
        for tag in (ours, theirs) if _may_be_tag(theirs) else (ours,):
            found = await self._tagged(account, operation, tag, by)
            if found and (tag == ours or not found[1:]):
                return found[0]
        raise NotFound(Reason.NOT_FOUND)

    async def _tagged(
        self, account: ProviderAccount, operation: str, tag: str, by: Deadline
    ) -> Sequence[Invoice | Brcode]:
        request = requests.tagged(operation, "invoice", tag)
        named = await self.read(account, request, lambda answer: charges.invoices(answer, tag), by)
        if named:
            return named
        request = requests.tagged(operation, "dynamic-brcode", tag)
        return await self.read(account, request, lambda answer: charges.brcodes(answer, tag), by)

    async def _deposit_of(
        self, account: ProviderAccount, operation: str, code: Brcode, by: Deadline
    ) -> Deposit | None:
        """Read the deposit that paid a dynamic BR Code; None without one."""
        found = await self._deposits(account, operation, charges.brcode_tag(code.uuid), by)
        return found[0] if found else None

    async def _just_made(self, account: ProviderAccount, tag: str, kind: type[Made]) -> Made:
        """Read the charge that was created with a tag; raises ``NotFound``."""
        found = await self._tagged(account, "create_charge", tag, self.client.read_by())
        for each in found:
            if isinstance(each, kind):
                return each
        raise NotFound(Reason.NOT_FOUND)

    async def _deposits(
        self, account: ProviderAccount, operation: str, tag: str, by: Deadline
    ) -> Sequence[Deposit]:
        request = requests.tagged(operation, "deposit", tag)
        return await self.read(account, request, partial(charges.deposits_tagged, tag=tag), by)

    def _of_invoice(self, operation: str, invoice: Invoice, reference: str) -> Charge:
        unknown = self.client.unknown_word(operation)
        return charges.of_invoice(invoice, reference, self.now(), unknown)

    def _key(self, account: ProviderAccount, reference: str) -> str:
        return charge_key(self.environment, account.account_id, reference)

    async def read(
        self,
        account: ProviderAccount,
        request: ProviderRequest,
        translated: Callable[[ProviderAnswer], Value],
        by: Deadline | None = None,
    ) -> Value:
        """Sign a read and send it."""
        return await self.client.read(self.signed(account, request), translated, by)

    async def change(
        self,
        account: ProviderAccount,
        request: ProviderRequest,
        translated: Callable[[ProviderAnswer], Value],
    ) -> Value:
        """Sign a change and send it, once."""
        return await self.client.change(self.signed(account, request), translated)

    def signed(self, account: ProviderAccount, request: ProviderRequest) -> ProviderRequest:
        """Sign a request; raises ``CredentialsRefused`` without a key that can sign."""
        return requests.signed(request, account, self.now())


def _moment(came: Incoming) -> datetime:
    return came.created.astimezone(UTC)


def _of_deposit(paid: Deposit) -> IncomingPayment | None:
    """Make a payment of a deposit; None for one that cannot be shown as Pix."""
    return charges.received(paid, charges.e2e_of(paid.tags)) if charges.is_pix(paid) else None


def _minute(e2e_id: str) -> datetime | None:
    """Return the minute contained in an end-to-end id; None for an invalid one."""
    minute = _E2E_MINUTE.match(e2e_id)
    try:
        return minute and datetime.strptime(minute[1], "%Y%m%d%H%M").replace(tzinfo=UTC)
    except ValueError:
        return None


def _may_be_tag(text: str) -> bool:
    """Return whether a text can be searched for as a tag: it must have no comma."""
    return len(text) <= _LONGEST_TAG and "," not in text and text.isprintable()

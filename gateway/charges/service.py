"""Creates, reads, lists and cancels charges; changes are audited before the bank is called."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from gateway.audit.store import StoredAudit
from gateway.banks.acts import BankAct, is_unknown, recorded
from gateway.banks.connections import bank_of, changing_bank_of, offered, refuse_letters
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.charges import Charge, ChargeOrder, ChargePayment
from gateway.banks.port.providers import Banks, ProviderError, Reason, Unavailable
from gateway.charges.model import ChargePage, ChargeRecord, ChargeSearch, ChargeSums
from gateway.charges.records import KeptCharges
from gateway.core import errors
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.errors import ServiceError
from gateway.core.exports import Exports
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.storage import LEASE, StoreUnavailable
from gateway.core.windows import PageStart

_BEING_MADE: Final = (
    "A charge of this reference is being made, or its outcome is unknown: read it in 30 s."
)
_MADE_WITHIN_S: Final = LEASE.total_seconds() - 3.0
"""Before the reference is free for other processes, whose clocks may be a moment ahead."""


@dataclass(frozen=True, slots=True)
class ChargeReads:
    """Reads charges from the bank, for partners and users (contract 2.4, 2.5)."""

    banks: Banks
    kept: KeptCharges

    async def read(self, account: Account, reference: str) -> Charge:
        """
        Return a charge as a QR code.

        Raises:
            NotFound: the bank has none of that reference.
            ServiceError: ``SVC.PIX.005`` (404) when it has expired.
        """
        bank, asked_at = bank_of(self.banks, account), self.kept.now()
        charge = await offered(bank, PortCall.GET_CHARGE).get_charge(bank.account, reference)
        self.kept.read(account, charge, asked_at)
        if charge.is_expired(self.kept.now()):
            raise ServiceError(errors.CHARGE_NOT_FOUND, "expired")
        return charge

    async def read_payment(self, account: Account, reference: str) -> ChargePayment:
        """Return a charge as a transaction, pending until paid; raises ``NotFound``."""
        bank, asked_at = bank_of(self.banks, account), self.kept.now()
        calls = offered(bank, PortCall.GET_CHARGE_PAYMENT)
        payment = await calls.get_charge_payment(bank.account, reference)
        self.kept.read(account, payment, asked_at)
        return payment


@dataclass(frozen=True, slots=True)
class Charges:
    """
    The charges of accounts, for users (contract 4.3).

    Every call of a bank raises ``NotSupported`` for a bank that does not offer it, and
    ``ServiceError`` ``SVC.ACC.005`` when no provider is configured (422) or
    it is read-only (403, changes alone).

    One charge of a reference is made at a time, across processes. Banks that take a
    reference twice are asked first whether they know it, so two at once must not ask before
    either has made its charge.

    Attributes:
        exports: What people take away as files and lists.
    """

    reads: ChargeReads
    audit: StoredAudit
    exports: Exports

    @requires(Area.QRCODE, Action.READ)
    async def search(self, who: Staff, wanted: ChargeSearch) -> ChargePage:
        """
        List the charges that were made through us, as last known, newest first.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.show``.
        """
        now, limit = who.acting.now(), wanted.page.limit
        found = await self.reads.kept.records.search(wanted, who.scope, now)
        shown = found[:limit]
        await self.exports.show(who, len(shown))
        more = len(found) > len(shown)
        last = PageStart(shown[-1].created_at, shown[-1].id) if more else None
        return ChargePage(shown, limit, last, now)

    @requires(Area.QRCODE, Action.READ)
    async def sums(self, who: Staff, wanted: ChargeSearch) -> ChargeSums:
        """Add up the charges of a search."""
        return await self.reads.kept.records.sums(wanted, who.scope, who.acting.now())

    @requires(Area.QRCODE, Action.READ)
    async def get(self, who: Staff, account: Account, reference: str) -> Charge:
        """
        Read a charge as a PIX QR code.

        Raises:
            NotFound, ServiceError: as ``ChargeReads.read``.
        """
        return await self.reads.read(account, reference)

    @requires(Area.QRCODE, Action.WRITE, active=True)
    async def create(self, who: Staff, account: Account, order: ChargeOrder) -> Charge:
        """
        Make a charge; answers its PIX QR code.

        It is on record before the bank is called. Not repeated by itself: after a failure read
        the charge by its reference.

        Raises:
            ServiceError: ``SVC.GTW.009`` when the reference is in use, or was ordered less
                than 30 s ago with an outcome that is not known yet; ``SVC.GTW.008`` when the
                bank refuses, such as for a key that is not the account's.
            ProviderError: it is not known whether it was made, but for
                ``Unreachable``.
            StoreUnavailable: nothing was asked of the bank.
        """
        banks, kept = self.reads.banks, self.reads.kept
        bank = changing_bank_of(banks, account)
        calls = offered(bank, PortCall.CREATE_CHARGE)
        payer = "" if order.payer is None else order.payer.tax_number
        refuse_letters(banks, account, {"key": order.key, "payer.tax_number": payer})
        asked = "open" if order.value is None else str(order.value)
        act = _act(who, account, "create", {"type": order.type.value, "value": asked})
        record = await kept.order(bank.name, account, order)
        if record is None:
            raise ServiceError(errors.ALREADY_IN_USE, "being_made", detail=_BEING_MADE)
        async with self._dropped_unless_made(record), recorded(self.audit, act):
            charge = await _in_time(calls.create_charge(bank.account, order))
        await kept.made(record, charge)
        return charge

    @requires(Area.QRCODE, Action.WRITE, fresh_factor=True, active=True)
    async def cancel(self, who: Staff, account: Account, reference: str) -> Charge:
        """
        Cancel a charge; answers its QR code with status Canceled.

        Safe to repeat.

        Raises:
            NotFound: the bank has none of that reference.
            ServiceError: ``SVC.GTW.008`` when it is paid.
            ProviderError: not known to be done.
            StoreUnavailable: nothing was asked of the bank.
        """
        bank = changing_bank_of(self.reads.banks, account)
        calls = offered(bank, PortCall.CANCEL_CHARGE)
        async with recorded(self.audit, _act(who, account, "cancel", {})):
            charge = await calls.cancel_charge(bank.account, reference)
        await self.reads.kept.changed(account, charge)
        return charge

    @asynccontextmanager
    async def _dropped_unless_made(self, record: ChargeRecord) -> AsyncIterator[None]:
        """Drop the record if the bank certainly created nothing."""
        try:
            yield
        except (ServiceError, StoreUnavailable):  # refused, or nothing was asked of the bank
            await self.reads.kept.not_made(record)
            raise
        except ProviderError as problem:
            if not is_unknown(problem):
                await self.reads.kept.not_made(record)
            raise


async def _in_time(making: Awaitable[Charge]) -> Charge:
    """Await the bank while the reference is held; raises ``Unavailable`` afterwards."""
    try:
        async with asyncio.timeout(_MADE_WITHIN_S):
            return await making
    except TimeoutError as problem:
        raise Unavailable(Reason.TIMEOUT) from problem


def _act(who: Staff, account: Account, what: str, details: dict[str, str]) -> BankAct:
    """Describe an act on a charge without its reference, which may hold personal data."""
    return BankAct(
        acting=who.acting,
        account=account,
        action=f"charge.{what}",
        subject=f"account:{account.id}",
        details=details,
    )

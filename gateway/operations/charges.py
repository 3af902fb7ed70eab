"""Charges and the payments that settle them."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain import errors
from gateway.domain.calls import Caller
from gateway.domain.charges import Charge, ChargePayment
from gateway.domain.clocks import Now
from gateway.domain.errors import ServiceError
from gateway.domain.providers import Banks
from gateway.operations.connections import bank_of


@dataclass(frozen=True, slots=True)
class Charges:
    """Reads charges from the bank (contract 2.4, 2.5)."""

    banks: Banks
    now: Now

    async def read(self, caller: Caller, reference: str) -> Charge:
        """
        Return a charge as a QR code.

        Raises:
            NotFound: the bank has none of that reference.
            ServiceError: ``SVC.PIX.005`` (404) when it has expired.
        """
        bank = bank_of(self.banks, caller.account)
        charge = await bank.adapter.get_charge(bank.account, reference)
        if charge.is_expired(self.now()):
            raise ServiceError(errors.CHARGE_NOT_FOUND, "expired")
        return charge

    async def read_payment(self, caller: Caller, reference: str) -> ChargePayment:
        """Return a charge as a transaction, pending until paid; raises ``NotFound``."""
        bank = bank_of(self.banks, caller.account)
        return await bank.adapter.get_charge_payment(bank.account, reference)

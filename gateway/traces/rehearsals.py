"""What rows of partners refuse before they ask a bank, without asking it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.banks.connections import bank_of, offered
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import Banks
from gateway.core.calls import Caller
from gateway.payouts.create import Payouts

_CALLS: Final[Mapping[str, Sequence[PortCall]]] = {
    "banking.balance": (PortCall.GET_BALANCE,),
    "banking.pix_keys": (PortCall.LIST_KEYS,),
    "banking.pix_key": (PortCall.GET_KEY,),
    "banking.qrcode": (PortCall.GET_CHARGE,),
    "banking.pix_transaction": (PortCall.GET_CHARGE_PAYMENT,),
    "banking.statement": (PortCall.LIST_STATEMENT, PortCall.GET_BALANCE),
}
"""What each row asks of the bank; a test compares it with what the row really answers."""


@dataclass(frozen=True, slots=True)
class Rehearsals:
    """Refuses what a row would refuse before it asks a bank; changes nothing."""

    banks: Banks
    payouts: Payouts

    async def __call__(self, row: str, caller: Caller, taken: Any) -> None:  # noqa: ANN401 - whatever the row takes
        """
        Refuse, or return.

        Raises:
            ServiceError: as the row's operation does.
            NotSupported: the bank does not offer what the row asks.
            StoreUnavailable: as stores do.
        """
        if row == "banking.payout_create":
            await self.payouts.rehearse(caller, taken)
        if row == "banking.payout_cancel":
            await self.payouts.cancel(caller, None)
        calls = _CALLS.get(row, ())
        if calls:
            bank = bank_of(self.banks, caller.account)
            for call in calls:
                offered(bank, call)

"""Which payments that came in, and which refunds?"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import UNSET, UnsetType

from gateway.banks.port.refunds import IncomingSearch, IncomingStatus, RefundSearch, RefundStatus
from gateway.core.calls import Input
from policies.validation.backoffice.searches import BankSearchBody, filtered


class IncomingBody(BankSearchBody, forbid_unknown_fields=True):
    """Payments by the day they came in; without ``status`` all."""

    status: Literal["paid", "partly_refunded", "refunded"] | UnsetType = UNSET


class RefundsBody(BankSearchBody, forbid_unknown_fields=True):
    """Refunds by the day they were ordered; without ``status`` all."""

    status: Literal["processing", "paid", "failed"] | UnsetType = UNSET


INCOMING: Final[Input[IncomingSearch]] = filtered(IncomingBody, IncomingStatus, IncomingSearch)


REFUNDS: Final[Input[RefundSearch]] = filtered(RefundsBody, RefundStatus, RefundSearch)

"""Search parameters of payments received and refunds."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import UNSET, UnsetType

from gateway.banks.port.refunds import IncomingSearch, IncomingStatus, RefundSearch, RefundStatus
from gateway.core.calls import Input
from gateway.core.fields import meaning
from policies.validation.backoffice.searches import BankSearchBody, filtered


class IncomingBody(BankSearchBody, forbid_unknown_fields=True):
    """Payments by the day they came in; without ``status`` all."""

    status: Annotated[
        Literal["paid", "partly_refunded", "refunded"] | UnsetType,
        meaning("The state that it is in."),
    ] = UNSET


class RefundsBody(BankSearchBody, forbid_unknown_fields=True):
    """Refunds by the day they were ordered; without ``status`` all."""

    status: Annotated[
        Literal["processing", "paid", "failed"] | UnsetType,
        meaning("The state that it is in.", "paid"),
    ] = UNSET


INCOMING: Final[Input[IncomingSearch]] = filtered(IncomingBody, IncomingStatus, IncomingSearch)


REFUNDS: Final[Input[RefundSearch]] = filtered(RefundsBody, RefundStatus, RefundSearch)

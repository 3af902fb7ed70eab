"""Search parameters of payments received and refunds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from msgspec import UNSET, UnsetType

from gateway.banks.port.refunds import IncomingStatus, RefundStatus
from gateway.core.calls import Input
from gateway.core.fields import meaning
from gateway.core.windows import Search
from policies.validation.backoffice.searches import BankSearchBody, filtered


@dataclass(frozen=True, slots=True)
class IncomingSearch:
    """
    Search parameters of payments, by the day they came in; None is every status.

    ``text`` is an amount received, given back or left, words of the payer's name, or a part of the
    charge's reference or of an id.
    """

    search: Search
    status: IncomingStatus | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class RefundSearch:
    """
    Search parameters of refunds, by the day they were ordered; None is every status.

    ``text`` is an amount, or a part of a reference, of the description or of an id.
    """

    search: Search
    status: RefundStatus | None = None
    text: str = ""


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

"""A day's closing as partners read it: the figures, without the people who signed them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from gateway.closings.model import Closing
from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.money import Sum
from gateway.core.schemas import Instant, instant
from gateway.http.rendering import Amount


class ClosingDocument(Struct, frozen=True):
    """
    A day of the account, as the operator signed it.

    ``opening + credits - debits - fees + returns = closing``: every movement of the day, Pix or
    not. A signed day may be signed anew with other figures until it is locked.
    """

    account_id: fields.Id
    day: Annotated[
        str,
        Meta(
            description="In the time of Brasília.",
            extra_json_schema={"format": "date"},
            examples=["2026-09-22"],
        ),
    ]
    opening: Annotated[Amount, meaning("The balance before the day's first movement.")]
    credits: Annotated[Amount, meaning("What came in, without returns.")]
    debits: Annotated[Amount, meaning("What went out, without fees and returns.")]
    fees: Annotated[Amount, meaning("What the bank took for itself.")]
    returns: Annotated[
        Amount,
        meaning("Payouts that came back, less payments that were given back; may be negative."),
    ]
    closing: Annotated[Amount, meaning("The balance after the day's last movement.")]
    status: Annotated[
        Literal["signed", "locked"],
        meaning(
            "`signed` by one person; `locked`, and final, once all needed signatures are there."
        ),
    ]
    signed_at: Instant
    locked_at: Instant


def closing(found: Closing, _who: object) -> ClosingDocument:
    """Show the closing of a day."""
    return ClosingDocument(
        account_id=found.account_id,
        day=found.day.isoformat(),
        opening=Sum(found.opening),
        credits=Sum(found.credits),
        debits=Sum(found.debits),
        fees=Sum(found.fees),
        returns=Sum(found.returns),
        closing=Sum(found.closing),
        status="signed" if found.locked_at is None else "locked",
        signed_at=instant(found.signed_at),
        locked_at=instant(found.locked_at),
    )

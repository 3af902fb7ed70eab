"""Balances and statements of accounts (contract 2.3, 2.7)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import msgspec

from gateway.banks.port.charges import Party
from gateway.core.money import Money, Sum


class Direction(StrEnum):
    """Direction of a movement, seen from the account."""

    CREDIT = "credit"
    DEBIT = "debit"


class MovementKind(StrEnum):
    """
    The kind of a movement.

    PIX_RETURN: Pix too, either way: a refund given, or a payout that came back.
    OTHER: not reported, or a word of the bank's that we do not list.
    """

    PIX = "pix"
    PIX_RETURN = "pix_return"
    TED = "ted"
    BOLETO = "boleto"
    FEE = "fee"
    OTHER = "other"


class Entry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """
    One movement.

    Attributes:
        provider_id: The provider's identifier; empty when it gives none.
        is_pix: Others, such as fees, are left out of the banking statement.
        value: Never negative; the direction is the sign.
        provider_key: The provider key of the payout it belongs to, where the
            provider repeats it; evidence for an unknown payout.
        kind: For people; rules use ``is_pix``.
    """

    provider_id: str
    e2e_id: str
    direction: Direction
    is_pix: bool
    value: Money
    description: str
    counterparty: Party
    created_at: datetime
    provider_key: str = ""
    kind: MovementKind = MovementKind.OTHER


class Balance(msgspec.Struct, frozen=True, kw_only=True):
    """
    The balance as the bank has just reported it: sums, which no amount's limit holds.

    Attributes:
        blocked: Held back, not available for payout; None where the bank does not report it.
        updated_at: As the provider reports it; None if unreported.
    """

    balance: Sum
    blocked: Sum | None
    updated_at: datetime | None


class BlockKind(StrEnum):
    """
    Origin of a block.

    MED: the central bank's special return mechanism, after a reported fraud. COURT: an
    order of a court. BANK: the bank itself, for orders under way too, and whenever no other kind is
    told. CONTRACT: agreed between the account's holder and a third party.
    """

    MED = "med"
    COURT = "court"
    BANK = "bank"
    CONTRACT = "contract"


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """
    Money that is held back; all blocks together are the balance's ``blocked``.

    Attributes:
        value: Above zero.
        since: None if unreported.
        reference: The orderer's, such as the number of a lawsuit; may be empty.
    """

    kind: BlockKind
    value: Money
    since: datetime | None
    reference: str

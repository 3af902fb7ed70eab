"""What of settled payouts came back: it stands beside a payout, which stays paid."""

from __future__ import annotations

from collections.abc import Iterable

from gateway.banks.port.providers import PixReturn
from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.core.strict import is_e2e_id

MOST = 100
"""Returns of one payout that are kept; a receiver sends money back in a few parts at most."""


def returns_in(entries: Iterable[Entry], provider_key: str) -> tuple[PixReturn, ...]:
    """
    Read the returns of a payout from movements of its account.

    A bank's entry is one if it repeats our key and names the return's own id.
    Without that id the same money could not be told from a second return.
    """
    return tuple(
        PixReturn(id=entry.e2e_id, value=entry.value, at=entry.created_at)
        for entry in entries
        if entry.provider_key == provider_key and is_return(entry)
    )


def is_return(entry: Entry) -> bool:
    """Say whether a movement is money of one of our payouts that came back."""
    came_in = entry.direction is Direction.CREDIT and entry.kind is MovementKind.PIX_RETURN
    return came_in and entry.provider_key != "" and is_return_id(entry.e2e_id)


def is_return_id(text: str) -> bool:
    """Say whether a text is a return's own id of the central bank's form."""
    return text.startswith("D") and is_e2e_id(text)

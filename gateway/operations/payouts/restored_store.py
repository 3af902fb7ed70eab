"""Looking before sending: what a store that was restored from a backup may have forgotten."""

from __future__ import annotations

from dataclasses import replace

from gateway.domain.bank.providers import (
    Bank,
    Evidence,
    NotFound,
    NotSent,
    Outcome,
    Phase,
    ProviderError,
    Settled,
    Unknown,
)
from gateway.domain.payouts.payouts import Payout


async def seen_before(payout: Payout, bank: Bank) -> Outcome | None:
    """
    Ask the bank whether it knows the payout already.

    Returns:
        None when it does not: it may be sent. What the bank says of it when it
        does. NotSent when the bank cannot be asked, since sending blindly is
        what must not happen now.
    """
    if not bank.adapter.capabilities.lookup_by_key:
        return _not_sent("cannot_look_first")
    try:
        seen = await bank.adapter.find_payout(bank.account, payout.provider_key, "")
    except NotFound:
        return None
    except ProviderError as problem:
        return _not_sent(problem.reason)
    except Exception:  # noqa: BLE001 - an adapter's mistake is no leave to send
        return _not_sent("adapter_raised")
    if isinstance(seen, Settled) and seen.value != payout.value:
        return Unknown(replace(seen.evidence, reason="amount_mismatch"))
    return seen


def _not_sent(reason: str) -> NotSent:
    """Say that this attempt ended before it could begin."""
    return NotSent(Evidence(phase=Phase.REFUSED_HERE, bytes_left=False, reason=reason))

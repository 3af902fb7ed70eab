"""
One key of ours in every form that banks require.

A payout and a refund come with a key of 32 lower-case hexadecimal characters (decisions 9): the
same for every attempt and after a restore, without personal data. A partner's own reference of
a charge is free text of up to 1,024 characters; where a bank takes less, the charge gets a
derived id, and both are looked for when it is read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from gateway.core.account import Environment

_TXID: Final = re.compile(r"[A-Za-z0-9]{26,35}", re.ASCII)
STATIC_TXID_LENGTH: Final = 25
"""Characters of a static BR Code's txid (manual of the BR Code)."""


def uuid_of(key: str) -> str:
    """Write a key of 32 hexadecimal characters as a UUID: the same 16 bytes."""
    return str(UUID(hex=key))


def charge_key(environment: Environment, account_id: str, reference: str) -> str:
    """Derive a charge's id from the partner's reference: 32 lower-case hexadecimal characters."""
    parts = ("charge-v1", environment.value, account_id, reference)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def txids(environment: Environment, account_id: str, reference: str) -> Sequence[str]:
    """
    Return the txids a charge may have, the one to create it under first.

    A reference that is a txid itself is taken as it is, and a charge from before that was so
    is still found: read by each in turn. A txid has 26 to 35 letters and digits (API Pix).
    """
    derived = charge_key(environment, account_id, reference)
    return (reference, derived) if _TXID.fullmatch(reference) else (derived,)


def static_txid(key: str) -> str:
    """Cut a key to the length of a static BR Code's txid."""
    return key[:STATIC_TXID_LENGTH]

"""The keys of the audit log, made from the sealing keys: they are nowhere in the store."""

from __future__ import annotations

from typing import Final

from gateway.security.keys import Keys
from gateway.store.kernel.chain import ChainKeys

_EVENTS: Final = "audit events"
_HEADS: Final = "audit heads"


def audit_keys(keys: Keys) -> ChainKeys:
    """Derive them; events sealed under a retired sealing key are proven as long as it is kept."""
    derived = keys.derivation
    return ChainKeys(events=derived.keys(_EVENTS), heads=derived.keys(_HEADS))

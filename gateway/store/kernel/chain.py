"""
Hashes and seals of the audit log.

Hash n is HMAC-SHA-256 over hash n-1 and event n as JSON with sorted keys; hash 0 is 32 zero bytes.
The head, number and hash of the last event, has a seal of its own under another key. A log without
an event has no seal: its head is ``BEGINNING``.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Final

from gateway.core.audit import AuditEvent, AuditHead
from gateway.core.storage import StoreUnavailable

NO_HASH: Final = bytes(32)
BEGINNING: Final = AuditHead(0, NO_HASH)
"""The head of a log without an event, as the schema makes it."""

_HEAD: Final = b"pixgate audit head\0"


class KeyAbsent(ValueError):
    """An event, or the head at it, is sealed under a key that is not among ours."""


@dataclass(frozen=True, slots=True)
class ChainKeys:
    """
    The keys of the audit log; neither is in the store.

    Attributes:
        events: Keys of the chain, by key id, the one in force first.
        heads: Keys of the seal of its end, in the same order; not the key of
            events, so that no event is ever taken for a head.
    """

    events: Mapping[str, bytes] = field(repr=False)
    heads: Mapping[str, bytes] = field(repr=False)

    @property
    def current(self) -> str:
        """Return the id of the key in force; StoreUnavailable where there is none."""
        for key_id in self.events:
            return key_id
        problem = "the store was opened without the keys of the audit log"
        raise StoreUnavailable(problem)

    def link(self, key_id: str, previous: bytes, number: int, event: AuditEvent) -> bytes:
        """
        Return the hash of event ``number``, which follows the one hashed ``previous``.

        Raises:
            KeyAbsent: ``key_id`` is not here.
        """
        fields = {
            "number": number,
            "at": event.at.astimezone(UTC).isoformat(timespec="microseconds"),
            "actor": event.actor,
            "action": event.action,
            "subject": event.subject,
            "details": dict(event.details),
            "trace_id": event.trace_id,
            "companies": sorted(event.companies or ()),
            "key_id": key_id,
        }
        content = previous + json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
        return hmac.digest(_key(self.events, key_id, number), content, "sha256")

    def seal(self, head: AuditHead) -> bytes:
        """
        Return the seal of a head under the key that it names.

        Raises:
            KeyAbsent: that key is not here.
        """
        content = b"\0".join((str(head.number).encode(), head.key_id.encode(), head.hash))
        return hmac.digest(_key(self.heads, head.key_id, head.number), _HEAD + content, "sha256")


NO_KEYS: Final = ChainKeys({}, {})
"""Of a store that is opened without keys: events are neither added nor verified."""


def _key(keys: Mapping[str, bytes], key_id: str, number: int) -> bytes:
    if key_id not in keys:
        problem = f"event {number} is sealed under the key {key_id}, which is not configured"
        raise KeyAbsent(problem)
    return keys[key_id]

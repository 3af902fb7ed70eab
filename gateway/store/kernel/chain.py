"""
Hashes and seals of the audit log.

Until there were keys, hash n was SHA-256 over hash n-1 and event n as JSON with sorted keys; hash 0
is 32 zero bytes. Such a chain can be made anew by whoever may write to the database. Since then it
is HMAC-SHA-256 over the same, with the event's companies and the id of the key in the JSON. The
first such event follows the last hash of before, and so seals what was there.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Final

from gateway.core.audit import AuditEvent, AuditHead

NO_HASH: Final = bytes(32)
NO_KEY: Final = ""

_HEAD: Final = b"pixgate audit head\0"


class KeyAbsent(Exception):
    """A seal was made under a key that is not among ours."""


@dataclass(frozen=True, slots=True)
class ChainKeys:
    """
    The keys of the audit log; neither is in the store.

    Attributes:
        events: Of the chain, by key id, the one in force first.
        heads: Of the seal of its end, likewise; another one than that of
            events, so that no event is ever taken for a head.
    """

    events: Mapping[str, bytes] = field(repr=False)
    heads: Mapping[str, bytes] = field(repr=False)

    @property
    def current(self) -> str:
        """Return the id of the current key; empty without one, and events stay unsealed."""
        return next(iter(self.events), NO_KEY)

    def chained(self, key_id: str, previous: bytes, number: int, event: AuditEvent) -> bytes:
        """
        Return the hash of event ``number``, which follows the one hashed ``previous``.

        Raises:
            KeyAbsent: it is to be sealed under a key that is not here.
        """
        if key_id == NO_KEY:
            return chained(previous, number, event)
        more = {"companies": sorted(event.companies or ()), "key_id": key_id}
        content = previous + _canonical({**_fields(number, event), **more})
        return hmac.digest(_key(self.events, key_id), content, "sha256")

    def seal(self, head: AuditHead) -> bytes:
        """
        Return the seal of a head under the key that it names; empty where it names none.

        Raises:
            KeyAbsent: that key is not here.
        """
        if head.key_id == NO_KEY:
            return b""
        content = b"\0".join((str(head.number).encode(), head.key_id.encode(), head.hash))
        return hmac.digest(_key(self.heads, head.key_id), _HEAD + content, "sha256")


UNSEALED: Final = ChainKeys({}, {})
"""No keys: events are chained as they were before there were any, while none was sealed."""


def chained(previous: bytes, number: int, event: AuditEvent) -> bytes:
    """Return the hash of an event without a key, for the older part of a log."""
    return hashlib.sha256(previous + _canonical(_fields(number, event))).digest()


def _fields(number: int, event: AuditEvent) -> dict[str, object]:
    """Return the hashed fields of an event."""
    return {
        "number": number,
        "at": event.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "actor": event.actor,
        "action": event.action,
        "subject": event.subject,
        "details": dict(event.details),
        "trace_id": event.trace_id,
    }


def _canonical(fields: Mapping[str, object]) -> bytes:
    return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()


def _key(keys: Mapping[str, bytes], key_id: str) -> bytes:
    try:
        return keys[key_id]
    except KeyError as problem:
        raise KeyAbsent(key_id) from problem

"""
Snapshots of statements: a window that was walked once, for the pages that follow.

A snapshot is of one account and window. Its head says which one it is and how many entries it
has; the entries follow in parts that each carry the same id, so that a page is never cut from
two snapshots. Nothing but statements for people and partners comes from here: whether a payout
moved money is asked of the bank.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from uuid import uuid4

import msgspec

from gateway.banks.port.providers import Bank
from gateway.banks.port.statements import Entry
from gateway.core.cache import Cache
from gateway.core.windows import Paging, Window

_PART = 100
"""Entries in a part, the most that a page shows: a page is read from two parts at most."""

# A thousand entries take about two milliseconds to write; then other requests have their turn.
_PARTS_A_TURN = 10


class _Head(msgspec.Struct, frozen=True, array_like=True):
    """Id of the snapshot, and its number of entries."""

    id: str
    total: int


class _Part(msgspec.Struct, frozen=True, array_like=True):
    """Entries of a snapshot, newest first."""

    id: str
    entries: list[Entry]


_encoder = msgspec.msgpack.Encoder()
_heads = msgspec.msgpack.Decoder(_Head)
_parts = msgspec.msgpack.Decoder(_Part)


@dataclass(frozen=True, slots=True)
class Cut:
    """A page cut from a window, and how many entries the window has."""

    entries: Sequence[Entry]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshots:
    """
    Stores snapshots in a cache.

    Attributes:
        keep_s: How long a snapshot serves; 0 keeps none.
        most_bytes: The largest snapshot that is kept.
    """

    cache: Cache
    keep_s: float
    most_bytes: int

    async def keep(self, key: str, entries: Sequence[Entry]) -> bool:
        """
        Replace the snapshot of ``key``; False when it is too large, and then there is none.

        ``entries`` are the whole window, newest first.
        """
        if not self.keep_s:
            return True
        parts = await self._written(entries)
        if parts is None:
            await self.cache.drop(key)
            return False
        return await self.cache.put(key, parts, self.keep_s)

    async def forget(self, key: str) -> None:
        """Drop the snapshot of ``key``."""
        if self.keep_s:
            await self.cache.drop(key)

    async def page(self, key: str, paging: Paging) -> Cut | None:
        """Cut a page from the snapshot of ``key``; None when there is none, or not all of it."""
        written = await self.cache.get(key)
        head = None if written is None else _heads.decode(written)
        if head is None:
            return None
        start, end = paging.offset, min(paging.offset + paging.limit, head.total)
        if start >= end:
            return Cut((), head.total)
        first, last = start // _PART, (end - 1) // _PART
        entries: list[Entry] = []
        for number in range(first, last + 1):
            written = await self.cache.get(key, 1 + number)
            part = None if written is None else _parts.decode(written)
            if part is None or part.id != head.id:
                return None
            entries += part.entries
        return Cut(entries[start - first * _PART : end - first * _PART], head.total)

    async def _written(self, entries: Sequence[Entry]) -> list[bytes] | None:
        """Write a snapshot's parts, its head first; None when they are too large."""
        new = uuid4().hex
        parts = [_encoder.encode(_Head(new, len(entries)))]
        size = len(parts[0])
        for some in _in_parts(entries):
            parts.append(_encoder.encode(_Part(new, some)))
            size += len(parts[-1])
            if size > self.most_bytes:
                return None
            if not len(parts) % _PARTS_A_TURN:
                await asyncio.sleep(0)
        return parts


def snapshot_key(bank: Bank, window: Window, *, pix_only: bool = True) -> str:
    """
    Return the key of a window of an account at its bank, of all movements or of Pix.

    The account's own id is in it, and where it leads to: another account never has the same
    key, nor has this one when it moves to another bank.
    """
    account = bank.account
    place = (account.account_id, bank.name, account.provider_account, window.init, window.ends)
    kind = "pix" if pix_only else "all"
    return f"statement/{kind}/" + sha256("\0".join(map(str, place)).encode()).hexdigest()


def _in_parts(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """Divide a window's entries."""
    for start in range(0, len(entries), _PART):
        yield list(entries[start : start + _PART])

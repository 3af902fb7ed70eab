"""PIX keys as documents, on every surface alike (contract 2.8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from gateway.core.schemas import Instant, KeyType, instant
from gateway.http.common import OfAccount, Total
from gateway.pix_keys.model import OwnedKey


class PixKeyDocument(TypedDict):
    """A PIX key."""

    id: str
    key: str
    type: Annotated[KeyType, Meta(examples=["email"])]
    status: Literal["active", "pending", "canceled"]
    created_at: Instant


class PixKeyList(TypedDict):
    """Every PIX key of the account; there is no paging."""

    data: list[PixKeyDocument]
    meta: Total


def pix_key(owned: OwnedKey, _caller: OfAccount) -> PixKeyDocument:
    """Show a PIX key (contract 2.8)."""
    key = owned.key
    return {
        "id": owned.id,
        "key": key.key,
        "type": key.type.value,
        "status": key.status.value,
        "created_at": instant(key.created_at),
    }


def pix_keys(owned: Sequence[OwnedKey], caller: OfAccount) -> PixKeyList:
    """Show every PIX key."""
    return {"data": [pix_key(each, caller) for each in owned], "meta": {"total": len(owned)}}

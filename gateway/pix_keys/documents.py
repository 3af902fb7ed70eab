"""PIX keys as documents, on every surface alike (contract 2.8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.schemas import Instant, KeyType, instant
from gateway.http.common import OfAccount, Total
from gateway.pix_keys.model import OwnedKey


class PixKeyDocument(TypedDict):
    """A PIX key."""

    id: fields.Id
    key: fields.PixKey
    type: Annotated[KeyType, Meta(description="Which type it is.", examples=["email"])]
    status: Annotated[Literal["active", "pending", "canceled"], meaning("The state that it is in.")]
    created_at: Instant


class PixKeyList(TypedDict):
    """Every PIX key of the account; there is no paging."""

    data: Annotated[list[PixKeyDocument], meaning("The rows of this page.")]
    meta: Total


def pix_key(owned: OwnedKey, _caller: OfAccount) -> PixKeyDocument:
    """Return a PIX key as a document (contract 2.8)."""
    key = owned.key
    return {
        "id": owned.id,
        "key": key.key,
        "type": key.type.value,
        "status": key.status.value,
        "created_at": instant(key.created_at),
    }


def pix_keys(owned: Sequence[OwnedKey], caller: OfAccount) -> PixKeyList:
    """Return every PIX key as a document."""
    return {"data": [pix_key(each, caller) for each in owned], "meta": {"total": len(owned)}}

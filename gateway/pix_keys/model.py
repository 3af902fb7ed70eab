"""A PIX key of an account, with its public id."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.banks.port.pix_keys import PixKey


@dataclass(frozen=True, slots=True)
class OwnedKey:
    """A key with its public id."""

    id: str
    key: PixKey

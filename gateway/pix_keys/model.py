"""A PIX key of an account, under the id that it is shown by."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.banks.port.pix_keys import PixKey


@dataclass(frozen=True, slots=True)
class OwnedKey:
    """A key with the id it is shown under."""

    id: str
    key: PixKey

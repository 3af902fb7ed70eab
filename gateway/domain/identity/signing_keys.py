"""Keys that sign access tokens, and the port to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from gateway.domain.kernel.audit import AuditEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """
    A key that signs access tokens.

    Attributes:
        id: The ``kid``.
        public: 32 bytes of Ed25519.
        sealed_private: 32 bytes in base64, encrypted with the id bound to them.
        signs_from: Published before, used from then on.
        retired_at: Published no longer; None while it is.
    """

    id: str
    public: bytes
    sealed_private: bytes = field(repr=False)
    created_at: datetime
    signs_from: datetime
    retired_at: datetime | None = None


class SigningKeys(Protocol):
    """Keys that sign access tokens."""

    async def add(self, key: SigningKey, event: AuditEvent) -> None:
        """Store a new one."""
        ...

    async def list(self) -> Sequence[SigningKey]:
        """Return all, by ``signs_from``, retired ones included."""
        ...

    async def retire(self, key_id: str, at: datetime, event: AuditEvent) -> bool:
        """Stop publishing one; False when there is none or it is retired already."""
        ...

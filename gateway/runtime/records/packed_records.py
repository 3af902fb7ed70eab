"""
Records packed into bytes, so that a process can keep very many.

An account takes some 350 bytes so, instead of some 800 and what hangs on it. A packed record
holds what the store's row holds: what is sealed there is sealed here, and of a secret there is
its digest alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from struct import Struct as Layout
from typing import Final, Generic, Protocol, TypeVar

import msgspec

from gateway.domain.accounts.accounts import Account, BankCoordinates
from gateway.domain.accounts.credentials import (
    UNLIMITED,
    Credential,
    CredentialLimits,
    Permission,
    SecretDigest,
)
from gateway.domain.kernel.money import Money

Record = TypeVar("Record")
_SHORT, _PLAIN = b"\0", b"\1"
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_ASKED: Final = Layout("<d")
_ROOM: Final = 256
"""Records dropped at once: a dictionary is slow to give up its oldest one by one."""


def shortened(text: str) -> bytes:
    """Write a lower-case UUID in 17 bytes, any other text in one more than it has."""
    if _UUID.fullmatch(text):
        return _SHORT + bytes.fromhex(text.replace("-", ""))
    return _PLAIN + text.encode("utf-8", "surrogatepass")


def lengthened(short: bytes) -> str:
    """Read what ``shortened`` wrote."""
    if short.startswith(_PLAIN):
        return short[1:].decode("utf-8", "surrogatepass")
    text = short.hex()
    return f"{text[2:10]}-{text[10:14]}-{text[14:18]}-{text[18:22]}-{text[22:]}"


class Packing(Protocol[Record]):
    """How records of one kind are packed; their keys are kept beside them."""

    def pack(self, record: Record) -> bytes:
        """Write a record."""
        ...

    def unpack(self, key: str, packed: bytes) -> Record:
        """Read a record back."""
        ...


class PackedRecords(Generic[Record]):
    """
    Packed records by key, each with the instant at which reading it began.

    The oldest go when there are too many.
    """

    def __init__(self, packing: Packing[Record], most: int) -> None:
        """Keep at most so many."""
        self._packing = packing
        self._most = most
        self._packed: dict[bytes, bytes] = {}

    def __len__(self) -> int:
        """Return how many are kept."""
        return len(self._packed)

    def put(self, key: str, record: Record, asked: float) -> None:
        """Keep a record as the newest."""
        short = shortened(key)
        self._packed.pop(short, None)
        if len(self._packed) >= self._most:
            for oldest in list(islice(self._packed, min(_ROOM, self._most))):
                del self._packed[oldest]
        self._packed[short] = _ASKED.pack(asked) + self._packing.pack(record)

    def get(self, key: str) -> tuple[Record, float] | None:
        """Return a record and when reading it began."""
        packed = self._packed.get(shortened(key))
        if packed is None:
            return None
        record = self._packing.unpack(key, packed[_ASKED.size :])
        return record, _ASKED.unpack_from(packed)[0]

    def drop(self, key: str) -> bool:
        """Forget a record; say whether it was kept."""
        return self._packed.pop(shortened(key), None) is not None

    def keys(self) -> Iterable[str]:
        """Return the keys of all that are kept."""
        return map(lengthened, list(self._packed))


class _PackedAccount(msgspec.Struct, array_like=True, kw_only=True, gc=False):
    """An account without its id."""

    company_id: bytes
    name: str
    tax_number: str
    active: bool
    verified: bool
    provider: str
    provider_account: str
    sealed_credentials: bytes
    created_at: datetime
    certificate_ends_at: datetime | None
    coordinates: BankCoordinates


class AccountPacking:
    """How accounts are packed; a ``Packing``."""

    def __init__(self) -> None:
        """Prepare both ways."""
        self._write = msgspec.msgpack.Encoder().encode
        self._read = msgspec.msgpack.Decoder(_PackedAccount).decode

    def pack(self, record: Account) -> bytes:
        """Write an account."""
        return self._write(
            _PackedAccount(
                company_id=shortened(record.company_id),
                name=record.name,
                tax_number=record.tax_number,
                active=record.active,
                verified=record.verified,
                provider=record.provider,
                provider_account=record.provider_account,
                sealed_credentials=record.sealed_credentials,
                created_at=record.created_at,
                certificate_ends_at=record.certificate_ends_at,
                coordinates=record.coordinates,
            )
        )

    def unpack(self, key: str, packed: bytes) -> Account:
        """Read an account back."""
        read = self._read(packed)
        return Account(
            id=key,
            company_id=lengthened(read.company_id),
            name=read.name,
            tax_number=read.tax_number,
            active=read.active,
            verified=read.verified,
            provider=read.provider,
            provider_account=read.provider_account,
            sealed_credentials=read.sealed_credentials,
            coordinates=read.coordinates,
            created_at=read.created_at,
            certificate_ends_at=read.certificate_ends_at,
        )


class _PackedSecret(msgspec.Struct, array_like=True, gc=False):
    """What is kept of a client secret."""

    key_id: str
    digest: bytes
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


class _PackedCredential(msgspec.Struct, array_like=True, kw_only=True, gc=False):
    """A credential without its id; limits in centavos."""

    company_id: bytes
    account_id: bytes | None
    name: str
    permissions: str
    secrets: tuple[_PackedSecret, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    per_payout: int | None
    per_day: int | None


class CredentialPacking:
    """How credentials are packed; a ``Packing``."""

    def __init__(self) -> None:
        """Prepare both ways."""
        self._write = msgspec.msgpack.Encoder().encode
        self._read = msgspec.msgpack.Decoder(_PackedCredential).decode

    def pack(self, record: Credential) -> bytes:
        """Write a credential."""
        account_id, limits = record.account_id, record.limits
        return self._write(
            _PackedCredential(
                company_id=shortened(record.company_id),
                account_id=None if account_id is None else shortened(account_id),
                name=record.name,
                permissions=" ".join(sorted(map(str, record.permissions))),
                secrets=tuple(map(_packed_secret, record.secrets)),
                created_at=record.created_at,
                expires_at=record.expires_at,
                revoked_at=record.revoked_at,
                per_payout=_centavos(limits.per_payout),
                per_day=_centavos(limits.per_day),
            )
        )

    def unpack(self, key: str, packed: bytes) -> Credential:
        """Read a credential back."""
        read = self._read(packed)
        return Credential(
            client_id=key,
            company_id=lengthened(read.company_id),
            account_id=None if read.account_id is None else lengthened(read.account_id),
            name=read.name,
            permissions=frozenset(map(Permission.parse, read.permissions.split())),
            secrets=tuple(map(_secret, read.secrets)),
            created_at=read.created_at,
            expires_at=read.expires_at,
            revoked_at=read.revoked_at,
            limits=_limits(read.per_payout, read.per_day),
        )


def _packed_secret(secret: SecretDigest) -> _PackedSecret:
    return _PackedSecret(
        secret.key_id, secret.digest, secret.created_at, secret.expires_at, secret.last_used_at
    )


def _secret(packed: _PackedSecret) -> SecretDigest:
    return SecretDigest(
        key_id=packed.key_id,
        digest=packed.digest,
        created_at=packed.created_at,
        expires_at=packed.expires_at,
        last_used_at=packed.last_used_at,
    )


def _centavos(limit: Money | None) -> int | None:
    return None if limit is None else limit.centavos


def _limits(per_payout: int | None, per_day: int | None) -> CredentialLimits:
    """Read limits back."""
    if per_payout is None and per_day is None:
        return UNLIMITED
    return CredentialLimits(
        per_payout=None if per_payout is None else Money(per_payout),
        per_day=None if per_day is None else Money(per_day),
    )

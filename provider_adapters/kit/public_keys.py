"""A bank's public keys for callback signatures: configured, or read from the bank."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

from gateway.banks.client.messages import ProviderAnswer, ProviderRequest
from gateway.banks.port.provider_callbacks import ProofRefused
from gateway.banks.port.providers import BadReply, ProviderError, Reason, Unavailable
from gateway.core.clocks import Monotonic

KEYS_LIVE_S: Final = 3600.0
"""How long fetched keys are used; Woovi's documentation asks for an hour."""

_RENEWAL_S: Final = 60.0
"""Between two fetches for unknown keys: forged signatures must not make us a nuisance."""

_FAILED_S: Final = 5.0
"""Between two fetches while the bank does not answer."""

_STALE_S: Final = 86400.0
"""While the bank does not answer, fetched keys are used for a day at most."""

_FETCH_S: Final = 10.0
_ANSWER_BYTES: Final = 64 * 1024
_MOST_KEYS: Final = 16
"""A bank shows two or three keys; each of them costs a verification per callback."""

_RSA_BITS: Final = range(1024, 8193)
"""Woovi signs with 1,024 bits; beyond 8,192 a verification takes milliseconds."""

_OK: Final = 200
_NOT_READ: Final = (AttributeError, KeyError, TypeError, ValueError)

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class PublicKey:
    """
    A bank's key: RSA (PKCS #1 v1.5) or ECDSA on secp256k1, both with SHA-256.

    Attributes:
        id: The bank's name of it, or the SHA-256 of its DER form in hexadecimal digits.
    """

    id: str
    key: rsa.RSAPublicKey | ec.EllipticCurvePublicKey

    @classmethod
    def read(cls, pem: str, key_id: str = "") -> PublicKey:
        """
        Read a key in PEM.

        Raises:
            ProofRefused: it is none, or one of another kind.
        """
        try:
            key = load_pem_public_key(pem.encode())
        except (ValueError, UnsupportedAlgorithm) as problem:
            message = "is no public key in PEM"
            raise ProofRefused(message) from problem
        if not _is_usable(key):
            message = "is no key of RSA with 1,024 to 8,192 bits, and none of ECDSA on secp256k1"
            raise ProofRefused(message)
        der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return cls(key_id or hashlib.sha256(der).hexdigest(), key)  # type: ignore[arg-type]  # checked above

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Return whether the signature is this key's; ECDSA in DER, with high or low S."""
        try:
            if isinstance(self.key, rsa.RSAPublicKey):
                self.key.verify(signature, message, padding.PKCS1v15(), SHA256())
            else:
                self.key.verify(signature, message, ec.ECDSA(SHA256()))
        except (InvalidSignature, ValueError):
            return False
        return True


class PublicKeys(Protocol):
    """A source of a bank's public keys."""

    async def known(self) -> Sequence[PublicKey]:
        """Return the keys; a ``ProviderError`` when they cannot be read."""
        ...

    async def renewed(self) -> Sequence[PublicKey]:
        """Fetch the keys again after an unknown key; soon afterwards return the same."""
        ...


class GivenKeys:
    """Public keys from the adapter's settings."""

    def __init__(self, pems: Sequence[str]) -> None:
        """
        Read them.

        Raises:
            ProofRefused: there is none, or one is no key.
        """
        if not pems:
            message = "needs a public key of the bank"
            raise ProofRefused(message)
        self._keys = tuple(PublicKey.read(pem) for pem in pems)

    async def known(self) -> Sequence[PublicKey]:
        """Return the configured keys."""
        return self._keys

    async def renewed(self) -> Sequence[PublicKey]:
        """Return the configured keys: they are never renewed."""
        return self._keys


class Reads(Protocol):
    """The client of the adapter, as far as keys are concerned: its limits hold for them too."""

    def read(
        self, request: ProviderRequest, translate: Callable[[ProviderAnswer], Value], /
    ) -> Awaitable[Value]:
        """Read something; raises a ``ProviderError``."""
        ...


class FetchedKeys:
    """
    Public keys that the bank shows, read through the provider's own client.

    Used for an hour, then read again. A signature of an unknown key has them read
    again at once, and at most once a minute. While the bank does not answer, the
    former keys hold for a day.

    Args:
        client: The adapter's.
        request: The request for the keys.
        read: Takes a good answer's body, and returns each key in PEM by its id; an
            id may be empty. A ``ValueError``, ``KeyError`` or ``TypeError``
            means that it cannot be read.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        client: Reads,
        request: ProviderRequest,
        read: Callable[[bytes], Sequence[tuple[str, str]]],
        clock: Monotonic,
    ) -> None:
        self._client, self._request, self._read, self._clock = client, request, read, clock
        self._alone = asyncio.Lock()
        self._keys: tuple[PublicKey, ...] = ()
        self._done: dict[str, float] = {}

    async def known(self) -> Sequence[PublicKey]:
        """Return the keys; raises a ``ProviderError`` when there are none and none can be read."""
        async with self._alone:
            if self._is_over("read", KEYS_LIVE_S):
                try:
                    await self._fetch()
                except ProviderError:
                    if self._is_over("read", _STALE_S):
                        raise
            return self._keys

    async def renewed(self) -> Sequence[PublicKey]:
        """Return the keys, read anew unless tried lately; a failure keeps the former keys."""
        async with self._alone:
            if self._is_over("renewed", _RENEWAL_S):
                self._done["renewed"] = self._clock()
                try:
                    await self._fetch()
                except ProviderError:
                    return self._keys
            return self._keys

    def _is_over(self, what: str, seconds: float) -> bool:
        """Return whether an action was last done at least ``seconds`` ago, or never."""
        return what not in self._done or self._clock() - self._done[what] >= seconds

    async def _fetch(self) -> None:
        """Read the keys once, within size and time."""
        if not self._is_over("failed", _FAILED_S):
            raise Unavailable(Reason.TIMEOUT)
        try:
            async with asyncio.timeout(_FETCH_S):
                self._keys = await self._client.read(self._request, self._translate)
        except TimeoutError as problem:
            self._done["failed"] = self._clock()
            raise Unavailable(Reason.TIMEOUT) from problem
        except ProviderError:
            self._done["failed"] = self._clock()
            raise
        self._done["read"] = self._clock()

    def _translate(self, answer: ProviderAnswer) -> tuple[PublicKey, ...]:
        """Read an answer; one without a usable key is none."""
        if answer.status != _OK:
            raise BadReply(Reason.UNEXPECTED_STATUS, http_status=answer.status)
        if len(answer.body) > _ANSWER_BYTES:
            raise BadReply(Reason.TOO_LARGE, http_status=answer.status)
        try:
            found = self._read(answer.body)[:_MOST_KEYS]
            keys = tuple(PublicKey.read(pem, key_id) for key_id, pem in found)
        except (*_NOT_READ, RecursionError, ProofRefused) as problem:
            raise BadReply(Reason.WRONG_SHAPE, http_status=answer.status) from problem
        if not keys:
            raise BadReply(Reason.WRONG_SHAPE, http_status=answer.status)
        return keys


def _is_usable(key: object) -> bool:
    if isinstance(key, rsa.RSAPublicKey):
        return key.key_size in _RSA_BITS
    return isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, ec.SECP256K1)

"""Authentication of partners by Basic credentials."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Protocol

import msgspec

from gateway.core import errors, strict
from gateway.core.calls import Call, Ready
from gateway.core.catalogue import ErrorCode
from gateway.core.clocks import Monotonic, Now
from gateway.core.errors import ServiceError
from gateway.core.permissions import Principal
from gateway.core.schemas import instant
from gateway.security.secrets import SecretDigest
from policies.authentication.signature import NotSigned, SignedPayout
from policies.store_silence import asking_the_store
from policies.traffic.throttle import FailureThrottle, too_many

_BASIC = "basic"
_WRONG = "invalid"
_EXPIRES = "X-Credential-Expires"
_SIGNED_METHOD = "POST"
"""Of partners' operations the payout alone has it."""


class KnownCredential(Protocol):
    """The fields used of a stored credential (``gateway/credentials``)."""

    @property
    def client_id(self) -> str:
        """Its public half."""
        ...

    @property
    def secrets(self) -> Sequence[SecretDigest]:
        """Its stored secrets."""
        ...

    @property
    def principal(self) -> Principal:
        """Its principal."""
        ...

    @property
    def revoked_at(self) -> datetime | None:
        """The instant of its revocation; None if it is not revoked."""
        ...

    @property
    def expires_at(self) -> datetime | None:
        """The instant of its end; None if it does not expire."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretCheck:
    """
    Comparison of secrets.

    Attributes:
        well_formed: Whether the secret's public checksum holds.
        digests: Digests a secret under every key in use.
        matching: Compares such digests with the stored ones, in constant time; with
            nothing stored it does the same work and finds none.
        used: Called with the client id, the stored digest of a valid secret, and the address
            that showed it.
    """

    well_formed: Callable[[str], bool]
    digests: Callable[[str], Mapping[str, bytes]]
    matching: Callable[[Mapping[str, bytes], Sequence[SecretDigest]], SecretDigest | None]
    used: Callable[[str, bytes, str], None]


class Shown(msgspec.Struct, frozen=True):
    """
    Content of a header: a client id, and the digests of its secret under every key in use.

    Attributes:
        is_kept: The header was right before.
    """

    client_id: str
    digests: Mapping[str, bytes]
    is_kept: bool = False


_HEADERS_KEPT = 10_000


class RightHeaders:
    """
    Parsed headers that were valid once, so that they are not parsed and digested again.

    Their validity is still checked each time, by the same comparison. Neither headers nor secrets
    are kept: the key is a keyed digest of the header. Buys a tenth of a balance's CPU.
    """

    def __init__(self, key: bytes) -> None:
        """Digest under ``key``, of at most 64 bytes."""
        # setting up a key costs more than the digest itself: done once, then copied
        self._keyed = blake2b(key=key, digest_size=32)
        self._kept: dict[bytes, Shown] = {}

    def find(self, headers: Sequence[str]) -> Shown | None:
        """Return the parsed header; None when it was not valid before."""
        return self._kept.get(self._digest(headers[0])) if len(headers) == 1 else None

    def keep(self, header: str, shown: Shown) -> None:
        """Cache a valid header; the oldest is evicted."""
        if len(self._kept) >= _HEADERS_KEPT:
            del self._kept[next(iter(self._kept))]
        kept = Shown(shown.client_id, shown.digests, is_kept=True)
        self._kept[self._digest(header)] = kept

    def _digest(self, header: str) -> bytes:
        keyed = self._keyed.copy()
        keyed.update(header.encode(errors="surrogatepass"))
        return keyed.digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicCredentials:
    """
    Reads the Authorization header and finds the principal behind it.

    Source: contract 5.1, 5.3.

    Attributes:
        find: Returns a credential, possibly from the cache.
        find_again: Returns a credential as the store had it after an instant of ``clock``; called
            before a well-formed secret is refused.
        clock: Seconds; the clock of cached records.
        took: Called with the seconds for which a valid credential was read from the store; not
            for a credential at hand.
    """

    find: Callable[[str], Awaitable[KnownCredential | None]]
    find_again: Callable[[str, float], Awaitable[KnownCredential | None]]
    check: SecretCheck
    known: RightHeaders
    throttle: FailureThrottle
    now: Now
    clock: Monotonic
    signature: SignedPayout
    took: Callable[[float], None]
    refuses = (
        errors.CREDENTIALS_MISSING,
        errors.CREDENTIALS_MALFORMED,
        errors.BASIC_REQUIRED,
        errors.CREDENTIALS_INVALID,
        errors.AUTH_UNAVAILABLE,
        errors.TOO_MANY_REQUESTS,
    )

    def __call__(self, call: Call) -> Awaitable[None] | None:
        """
        Fill in the principal, at once where the record is at hand.

        Raises:
            ServiceError: ``SVC.AUT.001``, ``.002``, ``.009`` or ``.010`` (401),
                ``SVC.SYS.002`` (503) when the store does not answer, and
                ``SVC.GTW.005`` (429) in place of a 401 for an address that was
                refused too often.
        """
        asked = call.asked
        shown = self.known.find(asked.authorization)
        if shown is None:
            client_id, secret = self._read(asked.authorization, asked.address)
            if not self.check.well_formed(secret):
                return self._refuse(_WRONG, asked.address, client_id)
            shown = Shown(client_id, self.check.digests(secret))
        found = self.find(shown.client_id)
        if not isinstance(found, Ready):
            return self._wait(call, shown, found)
        if self._admit(call, shown, found.value):
            return self._look_again(call, shown, self.clock())
        if call.principal is not None and call.principal.public_keys:
            return self._check_signature(call)
        return None

    def _read(self, headers: Sequence[str], address: str) -> tuple[str, str]:
        """Read client id and secret; raises as a call does."""
        try:
            return _pair(headers)
        except ServiceError as refusal:
            raise self._refusal(refusal.error, refusal.reason, address) from refusal

    async def _wait(
        self, call: Call, shown: Shown, finding: Awaitable[KnownCredential | None]
    ) -> None:
        started = self.clock()
        with asking_the_store():
            credential = await finding
        if self._admit(call, shown, credential):
            await self._look_again(call, shown, started)
            return
        self.took(self.clock() - started)
        await self._check_signature(call)

    async def _look_again(self, call: Call, shown: Shown, started: float) -> None:
        """
        Compare with the record as of ``started``, after the request came, or later.

        Unknown ids, wrong secrets and ended credentials all take this path.
        """
        with asking_the_store():
            credential = await self.find_again(shown.client_id, started)
        reason = self._admit(call, shown, credential)
        if reason:
            await self._refuse(reason, call.asked.address, shown.client_id)
        self.took(self.clock() - started)
        await self._check_signature(call)

    async def _check_signature(self, call: Call) -> None:
        """Refuse a POST that is not signed by the credential's key; counted as a wrong secret."""
        principal, asked = call.principal, call.asked
        if principal is None or not principal.public_keys or asked.method != _SIGNED_METHOD:
            return
        try:
            await self.signature(asked, principal.public_keys)
        except NotSigned as refusal:
            await self._refuse(refusal.reason, asked.address, principal.client_id)

    def _admit(self, call: Call, shown: Shown, credential: KnownCredential | None) -> str:
        """Compare, and fill the principal in; return the reason of a refusal, or nothing."""
        # an unknown id costs what a wrong secret costs
        stored = credential.secrets if credential else ()
        right = self.check.matching(shown.digests, stored)
        if credential is None or right is None:
            return _WRONG
        ended = self._ended(credential)
        if ended:
            return ended
        self.check.used(credential.client_id, right.digest, call.asked.address)
        if not shown.is_kept:
            self.known.keep(call.asked.authorization[0], shown)
        call.principal = credential.principal
        if credential.expires_at is not None or right.expires_at is not None:
            ends = [at for at in (credential.expires_at, right.expires_at) if at is not None]
            call.headers[_EXPIRES] = instant(min(ends))
        return ""

    def _ended(self, credential: KnownCredential) -> str:
        """Return how a credential ended; empty while it is valid."""
        if credential.revoked_at is not None:
            return "revoked"
        if credential.expires_at is not None and credential.expires_at <= self.now():
            return "expired"
        return ""

    async def _refuse(self, reason: str, address: str, client_id: str) -> None:
        """Count a refused credential, and raise the refusal."""
        await self.throttle.count(address, client_id)
        raise self._refusal(errors.CREDENTIALS_INVALID, reason, address, client_id)

    def _refusal(
        self, error: ErrorCode, reason: str, address: str, client_id: str = ""
    ) -> ServiceError:
        """Refuse, as too many requests when the address is over its limit."""
        wait = self.throttle.wait_when_refused(address, client_id)
        return too_many(wait, "throttled") if wait else ServiceError(error, reason)


def _pair(values: Sequence[str]) -> tuple[str, str]:
    """Read client id and secret; the scheme word decides before the syntax of the rest."""
    if not values:
        raise ServiceError(errors.CREDENTIALS_MISSING, "missing")
    if len(values) > 1:
        raise ServiceError(errors.CREDENTIALS_MALFORMED, "malformed")
    try:
        scheme, token = strict.scheme(values[0])
    except ValueError as problem:
        raise ServiceError(errors.CREDENTIALS_MALFORMED, "malformed") from problem
    if scheme != _BASIC:
        run_together = scheme.startswith(_BASIC) and not token
        error = errors.CREDENTIALS_MALFORMED if run_together else errors.BASIC_REQUIRED
        raise ServiceError(error, "malformed" if run_together else "wrong_scheme")
    try:
        return strict.basic_pair(token)
    except ValueError as problem:
        raise ServiceError(errors.CREDENTIALS_MALFORMED, "malformed") from problem

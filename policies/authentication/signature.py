"""Signatures of payouts by credentials that have public keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.core.calls import RawRequest
from gateway.core.clocks import Now
from gateway.core.public_keys import PublicKey
from gateway.core.reasons import Unsigned
from gateway.security.message_signatures import (
    SignatureInput,
    is_digest_of,
    is_signed,
    read_input,
    read_signature,
    signature_base,
)

_OLDEST_S: Final = 300
_AHEAD_S: Final = 5
"""By how much a partner's clock may be ahead of ours."""
_DEMANDED: Final = frozenset({"@method", "@path", "content-digest"})
_HEADERS: Final = ("Signature-Input", "Signature", "Content-Digest")


class NotSigned(Exception):
    """A payout is not signed as its credential demands."""

    def __init__(self, reason: Unsigned) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class SignedPayout:
    """
    Demands of a payout that one of the credential's keys signed it, and lately.

    A nonce is demanded and not remembered: a copy of a signed payout is the same payout, which
    its reference answers (ADR 0064).
    """

    now: Now

    async def __call__(self, asked: RawRequest, keys: Sequence[PublicKey]) -> None:
        """
        Check a payout's signature, then read its body and check its digest.

        Without a valid signature the body is never read.

        Raises:
            NotSigned: the signature or the digest is missing or wrong.
            ServiceError: the body does not arrive as it should.
        """
        given, signature, digest = _read(asked)
        if not _DEMANDED.issubset(given.covered):
            raise NotSigned(Unsigned.COVERAGE)
        self._check_time(given)
        key = next((each for each in keys if each.key_id == given.key_id), None)
        if key is None:
            raise NotSigned(Unsigned.KEY)
        if not is_signed(key.raw, signature, _base(asked, given)):
            raise NotSigned(Unsigned.SIGNATURE)
        asked.body = await asked.read_body()
        if not is_digest_of(digest, asked.body):
            raise NotSigned(Unsigned.DIGEST)

    def _check_time(self, given: SignatureInput) -> None:
        now = self.now().timestamp()
        is_over = given.expires is not None and given.expires < now
        if is_over or not -_AHEAD_S <= now - given.created <= _OLDEST_S:
            raise NotSigned(Unsigned.TIME)


def _read(asked: RawRequest) -> tuple[SignatureInput, bytes, str]:
    """Return the signed text, the signature, and the field with the digest."""
    inputs, signatures, digests = (asked.headers.getall(name, ()) for name in _HEADERS)
    if not inputs and not signatures:
        raise NotSigned(Unsigned.MISSING)
    if not len(inputs) == len(signatures) == len(digests) == 1:
        raise NotSigned(Unsigned.FORM)
    try:
        given = read_input(inputs[0])
        return given, read_signature(signatures[0], given.label), digests[0]
    except ValueError as problem:
        raise NotSigned(Unsigned.FORM) from problem


def _base(asked: RawRequest, given: SignatureInput) -> bytes:
    """Return the signature base; a covered component has a value of one plain line."""
    values = [(name, _value(asked, name)) for name in given.covered]
    if not all(value and value.isascii() and value.isprintable() for _, value in values):
        raise NotSigned(Unsigned.COVERAGE)
    return signature_base(values, given.parameters)


def _value(asked: RawRequest, name: str) -> str:
    """Return the value of a component (RFC 9421, 2.1 and 2.2); empty for one that is not known."""
    match name:
        case "@method":
            return asked.method
        case "@path":
            return asked.target
        case "@authority":
            return (asked.headers.get("Host") or "").lower()
        case _:
            return ", ".join(each.strip(" \t") for each in asked.headers.getall(name, ()))

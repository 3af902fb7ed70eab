"""
HTTP message signatures (RFC 9421) of one form: one signature by Ed25519.

Structured fields (RFC 8941) are read in the canonical form that RFC 9421 signs, so that the
parameters stand in the signature base as they were sent. Everything else is malformed.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable
from hashlib import sha256, sha512
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from msgspec import Struct

ALGORITHM: Final = "ed25519"
_LABEL: Final = r"[a-z*][a-z0-9_.*-]*"
_STRING: Final = r'"[ !#-\[\]-~]{1,256}"'
"""Visible characters but quotes and backslashes, of which no value here needs any."""
_INTEGER: Final = r"0|[1-9][0-9]{0,14}"
_PARAMETER: Final = re.compile(rf";({_LABEL})=({_STRING}|{_INTEGER})", re.ASCII)
_COMPONENT: Final = r'"@?[a-z0-9!#$%&\'*+.^_`|~-]+"'
_INPUT: Final = re.compile(
    rf"({_LABEL})=(\(({_COMPONENT}(?: {_COMPONENT})*)\)((?:;{_LABEL}=(?:{_STRING}|{_INTEGER}))+))",
    re.ASCII,
)
_SIGNATURE: Final = re.compile(rf"({_LABEL})=:([A-Za-z0-9+/]{{86}}==):", re.ASCII)
_DIGEST: Final = re.compile(r"(sha-256|sha-512)=:([A-Za-z0-9+/]{43,86}={1,2}):", re.ASCII)
_DIGESTS: Final = {"sha-256": sha256, "sha-512": sha512}
_NONCE_CHARACTERS: Final = range(16, 129)
_NUMBERS: Final = frozenset({"created", "expires"})
_TEXTS: Final = frozenset({"nonce", "keyid", "alg"})
_REQUIRED: Final = frozenset({"created", "nonce", "keyid", "alg"})


class SignatureInput(Struct, frozen=True, kw_only=True):
    """
    The components that a signature covers, and its key and times.

    Attributes:
        covered: Names of the covered components, in their order.
        created, expires: Seconds since 1970; None for a signature that does not expire.
        parameters: The inner list with its parameters, as it was sent and signed.
    """

    label: str
    covered: tuple[str, ...]
    created: int
    expires: int | None
    key_id: str
    parameters: str


def read_input(field: str) -> SignatureInput:
    """
    Read a ``Signature-Input`` of one signature by Ed25519.

    Raises:
        ValueError: it is none, a component or a parameter stands twice, a parameter is missing
            or unknown, or the nonce has not 16 to 128 characters.
    """
    found = _INPUT.fullmatch(field)
    if found is None:
        raise _malformed()
    covered = tuple(each.strip('"') for each in found[3].split(" "))
    pairs = _PARAMETER.findall(found[4])
    given = dict(pairs)
    texts = {name: value[1:-1] for name, value in pairs if name in _TEXTS and value[0] == '"'}
    numbers = {name: int(value) for name, value in pairs if name in _NUMBERS and value[0] != '"'}
    if (
        len(given) != len(pairs)
        or len(set(covered)) != len(covered)
        or given.keys() != texts.keys() | numbers.keys()
        or not given.keys() >= _REQUIRED
        or texts["alg"] != ALGORITHM
        or len(texts["nonce"]) not in _NONCE_CHARACTERS
    ):
        raise _malformed()
    return SignatureInput(
        label=found[1],
        covered=covered,
        created=numbers["created"],
        expires=numbers.get("expires"),
        key_id=texts["keyid"],
        parameters=found[2],
    )


def read_signature(field: str, label: str) -> bytes:
    """
    Read the 64 bytes of a ``Signature`` with this label.

    Raises:
        ValueError: it is none, or one of another label.
    """
    found = _SIGNATURE.fullmatch(field)
    if found is None or found[1] != label:
        raise _malformed()
    return b64decode(found[2])


def signature_base(components: Iterable[tuple[str, str]], parameters: str) -> bytes:
    """Return the signature base (RFC 9421, 2.5): covered components and values, in order."""
    lines = [f'"{name}": {value}' for name, value in components]
    return "\n".join([*lines, f'"@signature-params": {parameters}']).encode()


def is_signed(public_key: bytes, signature: bytes, base: bytes) -> bool:
    """Return whether the owner of an Ed25519 key made a signature."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, base)
    except InvalidSignature:
        return False
    return True


def is_digest_of(field: str, body: bytes) -> bool:
    """Return whether a ``Content-Digest`` (RFC 9530) of SHA-256, SHA-512 or both fits a body."""
    members = [_DIGEST.fullmatch(each.strip(" \t")) for each in field.split(",")]
    return all(
        each is not None and each[2].encode() == b64encode(_DIGESTS[each[1]](body).digest())
        for each in members
    )


def _malformed() -> ValueError:
    problem = "not a signature of the one form that is read"
    return ValueError(problem)

"""The keys of the bank's curve: its own, which signs callbacks, and those of its customers."""

from __future__ import annotations

from typing import Final

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from provider_adapters.testing.bank.kernel import state
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.state import Kept

_KIND: Final = "signing key"
_CURRENT: Final = "current"
_ORDER: Final = int("FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141", 16)
"""Of the curve secp256k1: private keys lie below it."""


def new_key(books: Books) -> str:
    """Draw a private key of the bank's curve, in PEM, from the books' own chance."""
    secret = int(books.random_hex(32), 16) % (_ORDER - 1) + 1
    made = ec.derive_private_key(secret, ec.SECP256K1())
    form = (Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    return made.private_bytes(*form).decode()


def public_of(private_pem: str) -> str:
    """Return the public key of a private one, in PEM."""
    public = private(private_pem).public_key()
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def public_key(books: Books) -> str:
    """Return the key that callbacks are checked with."""
    return public_of(signing_key(books))


def rotate(books: Books) -> None:
    """Sign with another key from now on."""
    state.put(books, Kept(kind=_KIND, name=_CURRENT, value=new_key(books)))


def signing_key(books: Books) -> str:
    """Return the bank's private key, in PEM; the first time it is drawn."""
    kept = state.find(books, _KIND, _CURRENT)
    if kept is None:
        rotate(books)
        return signing_key(books)
    return kept.value


def private(pem: str) -> ec.EllipticCurvePrivateKey:
    """Read a private key; raises ``TypeError`` for one of another kind."""
    key = load_pem_private_key(pem.encode(), password=None)
    if not (isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.name == "secp256k1"):
        message = "the key is not one of the curve secp256k1"
        raise TypeError(message)
    return key

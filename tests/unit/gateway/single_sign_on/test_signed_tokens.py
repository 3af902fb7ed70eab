"""Signatures of providers: by a private key of theirs alone, whatever the header says."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gateway.single_sign_on.signed_tokens import (
    Expected,
    TokenRefused,
    key_id_of,
    read_id_token,
    read_logout_token,
)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
AT = int(NOW.timestamp())
CLAIMS = {
    "iss": "https://sso.example.com",
    "aud": "pixgate",
    "sub": "4711",
    "nonce": "n",
    "iat": AT,
    "exp": AT + 300,
}
EXPECTED = Expected("https://sso.example.com", "pixgate")
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())


def published(key: Any, kid: str = "1", **more: str) -> dict[str, Any]:
    is_rsa = isinstance(key, rsa.RSAPrivateKey)
    kind = jwt.algorithms.RSAAlgorithm if is_rsa else jwt.algorithms.ECAlgorithm
    return json.loads(kind.to_jwk(key.public_key())) | {"kid": kid, **more}


def read(token: str, *keys: dict[str, Any]) -> Any:
    return read_id_token(token, keys, EXPECTED, "n", NOW)


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [(RSA, "RS256"), (RSA, "PS384"), (EC, "ES256")],
    ids=["RS256", "PS384", "ES256"],
)
def test_a_token_is_read_by_the_key_that_signed_it(key: Any, algorithm: str):
    token = jwt.encode(CLAIMS, key, algorithm, headers={"kid": "1"})

    found = read(token, published(RSA if key is EC else EC), published(key))

    assert found["sub"] == "4711"
    assert key_id_of(token) == "1"


def signed_by_secret(secret: bytes) -> str:
    """Write a token signed by HMAC, as the library itself would not."""
    head = {"alg": "HS256", "typ": "JWT", "kid": "1"}
    parts = [
        base64.urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=") for each in (head, CLAIMS)
    ]
    mac = hmac.digest(secret, b".".join(parts), hashlib.sha256)
    return b".".join((*parts, base64.urlsafe_b64encode(mac).rstrip(b"="))).decode()


def test_a_token_without_a_signature_or_by_a_secret_is_refused():
    """The public key is known to everybody: it must be no secret of a signature."""
    public = RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    unsigned = jwt.encode(CLAIMS, None, "none", headers={"kid": "1"})
    as_secret = {"kty": "oct", "kid": "1", "k": base64.urlsafe_b64encode(public).decode()}

    for token in (unsigned, signed_by_secret(public), signed_by_secret(b"segredo do cliente")):
        for keys in ([published(RSA)], [as_secret], []):
            with pytest.raises(TokenRefused):
                read(token, *keys)


@pytest.mark.parametrize("more", [{"use": "enc"}, {"alg": "RS512"}])
def test_a_key_is_used_as_its_provider_publishes_it(more: dict[str, str]):
    token = jwt.encode(CLAIMS, RSA, "RS256", headers={"kid": "1"})

    with pytest.raises(TokenRefused):
        read(token, published(RSA, **more))


def test_a_token_of_another_key_or_changed_is_refused():
    token = jwt.encode(CLAIMS, EC, "ES256", headers={"kid": "1"})
    head, content, signature = token.split(".")
    other = ec.generate_private_key(ec.SECP256R1())

    for sent, key in ((token, other), (f"{head}.{content[:-2]}AA.{signature}", EC)):
        with pytest.raises(TokenRefused):
            read(sent, published(key))


@pytest.mark.parametrize(
    "token",
    ["", "a.b.c", "x" * 70_000, jwt.encode(CLAIMS, EC, "ES256", headers={"crit": ["b64"]})],
    ids=["empty", "words", "long", "critical"],
)
def test_a_malformed_token_is_refused(token: str):
    with pytest.raises(TokenRefused):
        key_id_of(token)
    with pytest.raises(TokenRefused):
        read(token, published(EC))


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": 1 << 39},
        {"nbf": 1 << 38},
        {"nonce": "\ud800"},
        {"sub": "\ud800"},
        {"sid": "a\0"},
        {"sid": "s" * 256},
        {"sid": 1},
    ],
    ids=str,
)
def test_a_claim_that_no_store_or_calendar_holds_is_refused(claims: dict[str, object]):
    token = jwt.encode(CLAIMS | claims, EC, "ES256", headers={"kid": "1"})

    with pytest.raises(TokenRefused):
        read(token, published(EC))


@pytest.mark.parametrize("kind", [["JWT"], {"JWT": 1}, 1], ids=str)
def test_a_logout_token_of_a_kind_that_is_no_word_is_refused(kind: object):
    """Anybody may post one: the header is read before the signature."""
    token = jwt.encode(CLAIMS, EC, "ES256", headers={"kid": "1", "typ": kind})

    with pytest.raises(TokenRefused):
        read_logout_token(token, [published(EC)], EXPECTED, NOW)


def test_a_few_keys_are_tried_for_a_token():
    """A provider that publishes hundreds of slow keys would stop the loop for seconds."""
    token = jwt.encode(CLAIMS, RSA, "RS256")
    other = published(rsa.generate_private_key(public_exponent=65537, key_size=2048))

    assert read(token, *[other] * 7, published(RSA))["sub"] == "4711"
    assert read(token, *[published(RSA, use="enc")] * 9, published(RSA))["sub"] == "4711"
    with pytest.raises(TokenRefused):
        read(token, *[other] * 8, published(RSA))


def test_a_key_that_is_very_long_or_private_is_not_used():
    """Python and OpenSSL would compute with them for a long time."""
    by_ec, by_rsa = jwt.encode(CLAIMS, EC, "ES256"), jwt.encode(CLAIMS, RSA, "RS256")
    private = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(EC))
    key = published(RSA)

    for token, unusable in (
        (by_ec, private),
        (by_rsa, key | {"n": "A" * 344 + key["n"]}),
        (by_rsa, key | {"d": "AQ"}),
    ):
        with pytest.raises(TokenRefused):
            read(token, unusable)


@pytest.mark.parametrize("iat", [AT + 61, AT - 601, "1", True, 1 << 41, -1])
def test_a_token_is_of_this_moment(iat: object):
    token = jwt.encode(CLAIMS | {"iat": iat}, EC, "ES256", headers={"kid": "1"})

    with pytest.raises(TokenRefused):
        read(token, published(EC))
    near = jwt.encode(CLAIMS | {"iat": AT + 59, "exp": AT - 59}, EC, "ES256")
    assert read(near, published(EC))["sub"] == "4711"

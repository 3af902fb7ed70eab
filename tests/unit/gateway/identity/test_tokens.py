"""Opaque tokens."""

import hashlib
import hmac

from gateway.identity.tokens import OpaqueTokens

KEY = b"k" * 32


def test_a_token_has_256_random_bits_in_base64url():
    assert OpaqueTokens(KEY, lambda size: b"\xff" * size).make() == "_" * 42 + "8"


def test_the_digest_of_a_token_depends_on_the_key():
    """Write access to the store is not enough to create a token."""
    assert OpaqueTokens(KEY).digest("token") == hmac.digest(KEY, b"token", "sha256")
    assert OpaqueTokens(b"o" * 32).digest("token") != OpaqueTokens(KEY).digest("token")


def test_a_link_is_stored_as_its_sha_256():
    assert OpaqueTokens(KEY).mail_digest("token") == hashlib.sha256(b"token").digest()


def test_any_text_has_a_token_digest():
    assert len(OpaqueTokens(KEY).digest("\ud800 é")) == 32

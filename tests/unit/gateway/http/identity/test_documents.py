"""The shapes of identity's own answers."""

from typing import Any

import msgspec

from gateway.http.identity.documents import LoginDocument, SignedInDocument, TokensDocument


def described(shape: type) -> dict[str, Any]:
    """Return the schema of a shape."""
    found: dict[str, Any] = msgspec.json.schema(shape)["$defs"][shape.__name__]
    return found


def test_a_login_is_a_sign_in_or_a_challenge():
    """One document, in which all but one field may be missing."""
    login, signed_in = described(LoginDocument), described(SignedInDocument)

    assert login["required"] == ["mfa_required"]
    assert set(login["properties"]) == {"mfa_token", *signed_in["properties"]}
    assert set(signed_in["required"]) == set(signed_in["properties"])


def test_a_refresh_has_the_tokens_of_a_sign_in():
    tokens, signed_in = described(TokensDocument), described(SignedInDocument)

    assert set(tokens["required"]) == set(signed_in["required"]) - {"user", "mfa_required"}

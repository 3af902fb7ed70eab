"""The documents of identity."""

from __future__ import annotations

import typing
from typing import Any

import msgspec
import pytest

from gateway.identity import panel_surface as panel
from gateway.identity import representation as represent
from gateway.identity.representation import LoginDocument, SignedInDocument, TokensDocument

SHAPES = [
    each
    for module in (represent, panel)
    for each in vars(module).values()
    if typing.is_typeddict(each) and each.__module__ == module.__name__
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_a_shape_can_be_described(shape: type):
    """Every field has a schema."""
    described = msgspec.json.schema(shape)["$defs"][shape.__name__]

    assert set(described["properties"]) == set(shape.__annotations__)
    assert described["description"]


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

"""Public vectors of signed tokens against the verifier, as data (their source stands in them)."""

import json
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ServiceError
from gateway.core.user_errors import TOKEN_INVALID
from gateway.identity.signing_keys import Keyring
from gateway.identity.tokens import AccessTokens
from tests.world.identity import AUDIENCE
from tests.world.signing_keys import SEALER, Register, key
from tests.world.standing import Clock

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "jws.json").read_text("utf-8"))


@pytest.fixture
def tokens() -> AccessTokens:
    """A verifier with one key of its own."""
    clock = Clock()
    keyring = Keyring(Register(key()).list, SEALER, clock.now, clock.monotonic)
    return AccessTokens(keyring, AUDIENCE, clock.now)


async def test_no_token_of_the_public_vectors_is_taken(tokens):
    """Wycheproof's: none is EdDSA of the one form, so that each must be refused, valid or not."""
    refusals = {each["id"]: await refusal(tokens, each["jws"]) for each in VECTORS["tokens"]}

    assert len(refusals) == len(VECTORS["tokens"]) > 0
    assert {each: found for each, found in refusals.items() if found is not TOKEN_INVALID} == {}


async def refusal(tokens: AccessTokens, text: str) -> ErrorCode | None:
    """Return what a token is refused with, None when it is taken."""
    try:
        await tokens.verify(text)
    except ServiceError as refused:
        return refused.error
    return None


def test_the_example_of_rfc_8037_is_right_for_the_library():
    """Appendix A.4; not a token of ours, since it has neither type nor claims."""
    public = Ed25519PrivateKey.from_private_bytes(
        bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    ).public_key()
    token = (
        "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
    )

    assert jwt.api_jws.PyJWS().decode(token, public, algorithms=["EdDSA"]) == (
        b"Example of Ed25519 signing"
    )

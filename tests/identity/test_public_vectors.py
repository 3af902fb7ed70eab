"""Public vectors of signed tokens against the verifier, as data (which names their source)."""

import json
from pathlib import Path

import pytest

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


async def test_no_token_of_the_public_vectors_is_accepted(tokens):
    """Wycheproof's: none has exactly our header, so each must be refused, valid or not."""
    refusals = {each["id"]: await refusal(tokens, each["jws"]) for each in VECTORS["tokens"]}

    assert len(refusals) == len(VECTORS["tokens"]) > 0
    assert {each: found for each, found in refusals.items() if found is not TOKEN_INVALID} == {}


async def refusal(tokens: AccessTokens, text: str) -> ErrorCode | None:
    """Return the refusal of a token, None when it is accepted."""
    try:
        await tokens.verify(text)
    except ServiceError as refused:
        return refused.error
    return None

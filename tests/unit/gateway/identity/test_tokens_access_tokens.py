"""Access tokens, and what is tried with them."""

import base64
import hmac
import json
from dataclasses import replace
from datetime import timedelta

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gateway.core.errors import ServiceError
from gateway.core.sessions import AccessClaims, SigningKey
from gateway.core.user_errors import TOKEN_INVALID
from gateway.identity.signing_keys import Keyring
from gateway.identity.tokens import AccessTokens, Audience
from tests.world.signing_keys import SEALER, Register, key
from tests.world.standing import NOON, Clock

US = Audience("https://pix.example", "pixgate")
CLAIMS = AccessClaims(
    user_id="u-1", session_id="s-1", token_id="t-1", ends_at=NOON + timedelta(minutes=10)
)
SECONDS = int(NOON.timestamp())
HEAD = {"alg": "EdDSA", "typ": "at+jwt"}
BODY = {
    "iss": US.issuer,
    "aud": US.audience,
    "sub": "u-1",
    "sid": "s-1",
    "jti": "t-1",
    "iat": SECONDS,
    "nbf": SECONDS,
    "exp": SECONDS + 600,
}


@pytest.fixture
def made() -> SigningKey:
    return key()


@pytest.fixture
def register(made) -> Register:
    return Register(made)


@pytest.fixture
def tokens(register, clock) -> AccessTokens:
    return AccessTokens(Keyring(register.list, SEALER, clock.now, clock.monotonic), US, clock.now)


def encoded(content: object) -> str:
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def private(made: SigningKey) -> Ed25519PrivateKey:
    opened = SEALER.open(made.sealed_private, f"signing_key:{made.id}")
    return Ed25519PrivateKey.from_private_bytes(base64.b64decode(opened))


def signed(made: SigningKey, head: object, body: object) -> str:
    """Sign anything with the right key, so that a refusal is about the content."""
    content = f"{encoded(head)}.{encoded(body)}"
    return f"{content}.{encoded(private(made).sign(content.encode()))}"


async def refused(tokens: AccessTokens, token: str) -> str:
    with pytest.raises(ServiceError) as problem:
        await tokens.verify(token)
    assert problem.value.error is TOKEN_INVALID
    assert not problem.value.headers
    assert not problem.value.detail
    return problem.value.reason


async def test_an_issued_token_is_verified(tokens):
    assert await tokens.verify(await tokens.issue(CLAIMS)) == CLAIMS


async def test_a_token_has_all_claims_and_a_header_of_three_fields(tokens, made):
    token = await tokens.issue(CLAIMS)

    assert jwt.get_unverified_header(token) == {**HEAD, "kid": made.id}
    assert jwt.decode(token, options={"verify_signature": False}) == BODY
    assert len(token) < 512


async def test_the_test_helper_makes_valid_tokens(tokens, made):
    """Otherwise the refusals below would prove nothing."""
    assert await tokens.verify(signed(made, {**HEAD, "kid": made.id}, BODY)) == CLAIMS


async def test_every_claim_is_required(tokens, made):
    for claim in sorted(BODY):
        body = {name: value for name, value in BODY.items() if name != claim}

        assert await refused(tokens, signed(made, {**HEAD, "kid": made.id}, body))


async def test_a_claim_with_another_value_or_type_is_refused(tokens, made):
    """PyJWT alone would accept one audience among several."""
    cases = [
        {"iss": "https://evil.example"},
        {"iss": "https://pix.example/"},
        {"iss": "https://pix.exampl"},
        {"iss": ["https://pix.example"]},
        {"iss": None},
        {"aud": "other"},
        {"aud": ["pixgate"]},
        {"aud": ["pixgate", "other"]},
        {"aud": ""},
        {"sub": 1},
        {"sub": ""},
        {"sub": None},
        {"sid": {"$ne": ""}},
        {"sid": "s' OR 1=1--"},
        {"jti": 7},
        {"jti": "x" * 65},
        {"exp": str(SECONDS + 600)},
        {"exp": SECONDS + 600.5},
        {"exp": True},
        {"exp": None},
        {"exp": -1},
        {"exp": 10**30},
        {"exp": float("inf")},
        {"iat": "now"},
        {"nbf": [SECONDS]},
    ]

    for changed in cases:
        token = signed(made, {**HEAD, "kid": made.id}, {**BODY, **changed})

        assert await refused(tokens, token)


async def test_a_payload_that_is_no_object_is_refused(tokens, made):
    wrong = [
        content
        for content in [b"[]", b"null", b'"text"', b"{", b"", b"\xff", b"[" * 2000]
        if not (await refused(tokens, signed(made, {**HEAD, "kid": made.id}, content)))
    ]

    assert wrong == []


async def test_a_token_with_another_header_is_refused(tokens, made):
    cases = [
        {"alg": "none"},
        {"alg": "None"},
        {"alg": "HS256"},
        {"alg": "RS256"},
        {"alg": "ES256"},
        {"alg": "Ed25519"},
        {"alg": "eddsa"},
        {"alg": ["EdDSA"]},
        {"typ": "JWT"},
        {"typ": "at+JWT"},
        {"typ": "application/at+jwt"},
        {"typ": "logout+jwt"},
        {"typ": None},
        {"kid": "unknown"},
        {"kid": ""},
        {"kid": "../../etc/passwd"},
        {"kid": "' UNION SELECT 'x"},
        {"kid": "x" * 33},
        {"kid": 1},
        {"kid": None},
        {
            "jwk": {
                "kty": "OKP",
                "crv": "Ed25519",
                "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
            }
        },
        {"jku": "https://evil.example/jwks.json"},
        {"x5u": "https://evil.example/x.pem"},
        {"x5c": ["MII="]},
        {"crit": ["exp"], "exp": 0},
        {"crit": []},
        {"b64": False},
        {"zip": "DEF"},
        {"cty": "JWT"},
    ]

    for changed in cases:
        assert await refused(tokens, signed(made, {**HEAD, "kid": made.id, **changed}, BODY)) in {
            "head",
            "alg_or_typ",
            "kid",
        }


async def test_a_header_without_a_required_field_is_refused(tokens, made):
    for absent in ["alg", "typ", "kid"]:
        head = {name: value for name, value in {**HEAD, "kid": made.id}.items() if name != absent}

        assert await refused(tokens, signed(made, head, BODY)) == "head"


async def test_a_repeated_header_field_is_refused(tokens, made):
    """Two parsers could read two different tokens."""
    head = f'{{"alg":"none","alg":"EdDSA","typ":"at+jwt","kid":"{made.id}"}}'.encode()

    assert await refused(tokens, signed(made, head, BODY)) == "head"


async def test_a_header_that_is_no_object_is_refused(tokens, made):
    wrong = [
        content
        for content in [b"[]", b"{", b"null", b"1", b'[["alg","EdDSA"]]', b"\xff"]
        if await refused(tokens, signed(made, content, BODY)) != "head"
    ]

    assert wrong == []


async def test_a_key_in_the_header_is_ignored(tokens, made):
    """Signed with the caller's own key, which the header contains."""
    own = key()
    head = {
        **HEAD,
        "kid": made.id,
        "jwk": {"kty": "OKP", "crv": "Ed25519", "x": encoded(own.public)},
    }

    assert await refused(tokens, signed(own, head, BODY)) == "head"
    assert (
        await refused(tokens, signed(own, {**HEAD, "kid": made.id}, BODY))
        == "InvalidSignatureError"
    )


@pytest.mark.parametrize("padded", [False, True])
async def test_a_token_signed_with_hs256_and_the_public_key_is_refused(tokens, made, padded: bool):
    """The well-known confusion; the second one has a signature of the right length."""
    content = f"{encoded({'alg': 'HS256', 'typ': 'at+jwt', 'kid': made.id})}.{encoded(BODY)}"
    signature = hmac.digest(made.public, content.encode(), "sha256") * (2 if padded else 1)

    assert await refused(tokens, f"{content}.{encoded(signature)}") == (
        "alg_or_typ" if padded else "form"
    )


async def test_a_token_changed_at_any_place_is_refused(tokens):
    token = await tokens.issue(CLAIMS)
    for place in range(0, len(token), 7):
        other = "A" if token[place] != "A" else "B"
        await refused(tokens, token[:place] + other + token[place + 1 :])


async def test_a_non_canonical_signature_is_refused(tokens):
    """A signature's last character has four unused bits; another text is another token."""
    token = await tokens.issue(CLAIMS)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    last = letters.index(token[-1])
    assert last % 16 == 0

    assert await refused(tokens, token[:-1] + letters[last + 1]) == "form"
    assert await tokens.verify(token)


async def test_a_malleable_ed25519_signature_is_refused(tokens):
    """A careless verifier would accept it (RFC 8032, part 5.1.7)."""
    head, body, signature = (await tokens.issue(CLAIMS)).split(".")
    raw = base64.urlsafe_b64decode(signature + "==")
    order = 2**252 + 27742317777372353535851937790883648493
    forged = raw[:32] + (int.from_bytes(raw[32:], "little") + order).to_bytes(32, "little")

    assert await refused(tokens, f"{head}.{body}.{encoded(forged)}") == "InvalidSignatureError"


async def test_a_malformed_token_is_not_decoded(tokens):
    cases = [
        lambda _: "",
        lambda _: "x",
        lambda _: "..",
        lambda token: token + ".",
        lambda token: "." + token,
        lambda token: token + "=",
        lambda token: token + "\n",
        lambda token: " " + token,
        lambda token: token.rpartition(".")[0] + ".",
        lambda token: token.replace(".", "", 1),
        lambda token: token.replace("e", "é", 1),
        lambda token: token.replace("e", "+", 1),
        lambda token: token.replace(".", "." + "A" * 4096 + ".", 1),
        lambda token: token + "A" * 4096,
    ]

    wrong = [
        change
        for change in cases
        if await refused(tokens, change(await tokens.issue(CLAIMS))) != "form"
    ]

    assert wrong == []


async def test_a_token_above_four_kilobytes_is_refused(tokens, made):
    token = signed(made, {**HEAD, "kid": made.id}, {**BODY, "more": "x" * 3000})

    assert len(token) > 4096
    assert await refused(tokens, token) == "form"


@pytest.mark.parametrize("late", [0, 629])
async def test_a_token_is_accepted_for_thirty_seconds_after_its_end(tokens, clock, late: int):
    token = await tokens.issue(CLAIMS)
    clock.passes(late)

    assert await tokens.verify(token) == CLAIMS


async def test_an_expired_token_is_refused(tokens, clock):
    token = await tokens.issue(CLAIMS)
    clock.passes(630)

    assert await refused(tokens, token) == "expired"


async def test_a_token_from_the_future_is_refused(tokens, made):
    for claim in ["iat", "nbf"]:
        for ahead, right in [(30, True), (31, False)]:
            token = signed(made, {**HEAD, "kid": made.id}, {**BODY, claim: SECONDS + ahead})

            if right:
                assert await tokens.verify(token)
            else:
                assert await refused(tokens, token) == "not_yet"


async def test_a_verified_token_is_not_verified_again(tokens, monkeypatch):
    token = await tokens.issue(CLAIMS)
    await tokens.verify(token)
    monkeypatch.setattr(tokens, "_proven", None)

    assert await tokens.verify(token) == CLAIMS


async def test_a_cached_verification_ends_with_the_token(tokens, clock):
    token = await tokens.issue(CLAIMS)
    await tokens.verify(token)
    clock.passes(630)

    assert await refused(tokens, token) == "expired"


async def test_a_cached_verification_ends_with_its_key(tokens, register, made, clock):
    token = await tokens.issue(CLAIMS)
    await tokens.verify(token)
    register.keys = [replace(made, retired_at=clock.now()), key()]
    clock.passes(60)

    assert await refused(tokens, token) == "kid"


async def test_ending_a_session_drops_its_cached_tokens(tokens):
    token = await tokens.issue(CLAIMS)
    other = await tokens.issue(replace(CLAIMS, session_id="s-2"))
    await tokens.verify(token)
    await tokens.verify(other)

    tokens.forget("s-1")

    assert [each.claims.session_id for each in tokens._cache.values()] == ["s-2"]


async def test_the_least_recently_used_token_is_evicted(register, clock):
    keyring = Keyring(register.list, SEALER, clock.now, clock.monotonic)
    tokens = AccessTokens(keyring, US, clock.now, most=2)
    first, second, third = [
        await tokens.issue(replace(CLAIMS, token_id=f"t-{number}")) for number in range(3)
    ]

    for token in (first, second, first, third):
        await tokens.verify(token)

    assert {each.claims.token_id for each in tokens._cache.values()} == {"t-0", "t-2"}


async def test_a_refused_token_is_not_cached(tokens, made):
    await refused(tokens, signed(key(), {**HEAD, "kid": made.id}, BODY))

    assert not tokens._cache


@pytest.mark.parametrize("issue_at", [Clock(), Clock(at=NOON + timedelta(microseconds=999_999))])
async def test_token_times_are_whole_seconds(register, issue_at: Clock):
    keyring = Keyring(register.list, SEALER, issue_at.now, issue_at.monotonic)
    tokens = AccessTokens(keyring, US, issue_at.now)

    body = jwt.decode(await tokens.issue(CLAIMS), options={"verify_signature": False})

    assert (body["iat"], body["exp"]) == (SECONDS, SECONDS + 600)

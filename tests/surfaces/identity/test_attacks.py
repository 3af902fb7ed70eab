"""What strangers send in the place of an access token."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.surfaces.identity.attacks import seen
from tests.world.gateway.identity_api import ApiClient


def part(document: object) -> str:
    """Write a part of a token."""
    return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")


def parts(token: str) -> tuple[Any, Any, str]:
    """Read a token."""
    head, content, signature = token.split(".")
    read = [json.loads(base64.urlsafe_b64decode(each + "==")) for each in (head, content)]
    return read[0], read[1], signature


def bare(token: str) -> str:
    head, content, _ = parts(token)
    return f"{part({**head, 'alg': 'none'})}.{part(content)}."


def signed_by_hand(token: str, **changed: object) -> str:
    """Sign the claims by a key of one's own."""
    head, content, _ = parts(token)
    claims = {name: each for name, each in {**content, **changed}.items() if each is not None}
    return jwt.encode(claims, Ed25519PrivateKey.generate(), "EdDSA", headers=head)


def symmetric(token: str) -> str:
    head, content, _ = parts(token)
    return jwt.encode(content, "k" * 64, "HS256", headers={"kid": head["kid"], "typ": "at+jwt"})


def other_head(token: str, **changed: object) -> str:
    head, content, signature = parts(token)
    return f"{part({**head, **changed})}.{part(content)}.{signature}"


def other_claims(token: str, **changed: object) -> str:
    head, content, signature = parts(token)
    return f"{part(head)}.{part({**content, **changed})}.{signature}"


TOKENS: dict[str, Callable[[str], str]] = {
    "alg none": bare,
    "HS256": symmetric,
    "another key": signed_by_hand,
    "no exp": lambda token: signed_by_hand(token, exp=None),
    "another sub": lambda token: other_claims(token, sub="root"),
    "another exp": lambda token: other_claims(token, exp=2**33),
    "kid as a path": lambda token: other_head(token, kid="../../etc/passwd"),
    "kid as SQL": lambda token: other_head(token, kid="' OR 1=1 --"),
    "jwk": lambda token: other_head(token, jwk={"kty": "OKP"}),
    "jku": lambda token: other_head(token, jku="https://evil.example"),
    "x5u": lambda token: other_head(token, x5u="https://evil.example"),
    "crit": lambda token: other_head(token, crit=["b64"]),
    "typ": lambda token: other_head(token, typ="JWT"),
    "cut": lambda token: token[:-1],
    "longer": lambda token: token + "A",
    "of megabytes": lambda token: token.replace(".", "." + "A" * 5000, 1),
    "no token": lambda _token: "hello",
    "two words": lambda token: f"{token} {token}",
    "spaces": lambda _token: "   ",
}


async def test_every_bad_token_is_refused_alike(api_client: ApiClient, maria):
    """One body, whatever is wrong; the token they were made from is good."""
    good = (await api_client.sign_in())["access_token"]
    path = "/iam/v1/auth/sessions"
    first = await api_client.ask("GET", path)

    for attack, made in TOKENS.items():
        answer = await api_client.ask("GET", path, token=made(good))
        assert seen(answer) == seen(first), attack

    assert first.verdict == (401, "TOKEN_INVALID")
    assert (await api_client.ask("GET", path, token=good)).status == 200


async def test_other_tokens_of_ours_are_no_access_tokens(api_client: ApiClient, maria):
    """A refresh token, a challenge, a link, each in each other's place."""
    await api_client.identity_world.enrol()
    challenge = (await api_client.login()).document["mfa_token"]
    refresh = (await api_client.sign_in())["refresh_token"]

    for token in (challenge, refresh):
        answer = await api_client.ask("GET", "/iam/v1/auth/sessions", token=token)
        assert answer.verdict == (401, "TOKEN_INVALID")
    swapped = await api_client.ask("POST", "/iam/v1/auth/refresh", {"refresh_token": challenge})
    assert swapped.verdict == (401, "REFRESH_INVALID")


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ([("Authorization", "Basic YTpi")], "INVALID_CREDENTIALS"),
        ([("Authorization", "basic")], "INVALID_CREDENTIALS"),
        ([("Authorization", "Digest a=b")], "TOKEN_INVALID"),
        ([("Authorization", "")], "TOKEN_INVALID"),
        ([("Authorization", "Bearer")], "TOKEN_INVALID"),
        ([("Authorization", "Bearer"), ("Authorization", "Bearer")], "TOKEN_INVALID"),
        ([("Cookie", "__Host-pixgate=a.b")], "TOKEN_INVALID"),
        ([("X-Forwarded-User", "maria@example.com")], "TOKEN_INVALID"),
        ([("X_Forwarded_User", "maria@example.com")], "TOKEN_INVALID"),
    ],
    ids=str,
)
async def test_signing_out_takes_a_bearer_token(
    api_client: ApiClient, headers: list[tuple[str, str]], code: str
):
    """Contract 4.2: Basic gives INVALID_CREDENTIALS."""
    answer = await api_client.ask("DELETE", "/iam/v1/auth/logout", headers=headers)

    assert answer.verdict == (401, code)


async def test_the_scheme_word_has_any_case(api_client: ApiClient, maria):
    token = (await api_client.sign_in())["access_token"]

    for word in ("bearer", "BEARER"):
        headers = {"Authorization": f"{word} {token}"}
        assert (await api_client.ask("GET", "/iam/v1/auth/sessions", headers=headers)).status == 200


async def test_a_token_in_the_address_is_none(api_client: ApiClient, maria):
    token = (await api_client.sign_in())["access_token"]

    answer = await api_client.ask("GET", f"/iam/v1/auth/sessions?access_token={token}")

    assert answer.verdict == (401, "TOKEN_INVALID")


async def test_five_guesses_end_a_challenge(api_client: ApiClient, maria):
    """And the sixth may be right."""
    await api_client.identity_world.enrol()
    token = (await api_client.login()).document["mfa_token"]

    async def gives(code: str) -> tuple[int, str]:
        body = {"mfa_token": token, "code": code}
        return (await api_client.ask("POST", "/iam/v1/auth/mfa", body)).verdict

    wrong = [await gives(api_client.identity_world.wrong_code()) for _ in range(5)]

    assert wrong == [(401, "MFA_INVALID")] * 5
    assert await gives(api_client.identity_world.code()) == (401, "MFA_EXPIRED")


async def test_a_code_is_good_once(api_client: ApiClient, maria):
    await api_client.identity_world.enrol()
    await api_client.sign_in()
    token = (await api_client.login()).document["mfa_token"]

    body = {"mfa_token": token, "code": api_client.identity_world.code()}
    answer = await api_client.ask("POST", "/iam/v1/auth/mfa", body)

    assert answer.verdict == (401, "MFA_INVALID")


async def test_too_many_passwords_are_told_to_wait(api_client: ApiClient, maria):
    """Also for people who do not exist, from the same try on."""

    async def tries(email: str) -> list[tuple[int, str]]:
        return [(await api_client.login(email, f"wrong wrong {n}")).verdict for n in range(7)]

    known = await tries("maria@example.com")

    assert known[-1] == (429, "TOO_MANY_ATTEMPTS")
    assert known == await tries("nobody@example.com")
    assert (await api_client.login()).verdict == (429, "TOO_MANY_ATTEMPTS")
    api_client.clock.passes(31)
    assert (await api_client.login()).status == 200

"""Access tokens, given by a real server in the same process."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from base64 import b64decode
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from urllib.parse import parse_qs

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from gateway.banks.port.providers import (
    CredentialsRefused,
    ProviderError,
    RateLimited,
    Reason,
    Unreachable,
)
from gateway.core.account import Environment
from gateway.net.common.runtime import Runtime
from gateway.process.cache import MemoryCache
from provider_adapters.kit.client import ProviderClient, client_of
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.settings import ClientLimits
from provider_adapters.kit.tokens import AccessTokens, ClientCredentials, TokenForm
from tests.world.banks.witness import Witness

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
SECRET = "CANARY-secret"
MARIA = ClientCredentials(account_id="maria", client_id="id-1", secret=SECRET)
JOSE = ClientCredentials(account_id="jose", client_id="id-1", secret=SECRET)
FORM = TokenForm(path="/oauth/token")


@dataclass
class Issuer:
    """
    Gives token-1, token-2, ..., each for ``life_s``; remembers what it was asked.

    Attributes:
        refusals: How many requests are refused before, with ``refused`` as the status.
        damage: Stands behind each token.
    """

    life_s: object = 600
    status: int = 200
    refusals: int = 0
    refused: int = 401
    damage: str = ""
    asked: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    async def give(self, request: web.Request) -> web.Response:
        self.asked.append((dict(request.headers), await request.read()))
        if self.status == HTTPStatus.TOO_MANY_REQUESTS:
            return web.Response(status=self.status, headers={"Retry-After": "60"})
        if len(self.asked) <= self.refusals:
            return web.json_response({"error": "invalid_client"}, status=self.refused)
        text = f"CANARY-token-{len(self.asked)}{self.damage}"
        token = {"access_token": text, "expires_in": self.life_s}
        return web.json_response(token, status=self.status)


@dataclass
class Stage:
    """An issuer that answers, its client, and a clock that stands still."""

    issuer: Issuer
    client: ProviderClient
    context: AdapterContext
    now: datetime = NOON

    def tokens(self, form: TokenForm = FORM) -> AccessTokens:
        return AccessTokens(self.client, form, self.context)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    def clock() -> float:
        return stage.now.timestamp()

    issuer, app = Issuer(), web.Application()
    app.router.add_post("/oauth/token", issuer.give)
    async with TestServer(app, host="127.0.0.1") as server:
        context = AdapterContext(
            name="bank",
            environment=Environment.SANDBOX,
            observer=Witness(),
            runtime=Runtime(now=lambda: stage.now),
            cache=MemoryCache(1_000_000),
        )
        client = client_of(context, f"http://127.0.0.1:{server.port}", (), ClientLimits())
        await client.start()
        stage = Stage(issuer, client, context)
        yield stage
        await client.close()


async def test_fifty_concurrent_calls_fetch_one_token(stage: Stage):
    tokens = stage.tokens()

    found = await asyncio.gather(*(tokens.of(MARIA) for _ in range(50)))

    assert set(found) == {"CANARY-token-1"}
    assert len(stage.issuer.asked) == 1


async def test_accounts_never_share_a_token(stage: Stage):
    """Not even with the same client id and secret."""
    tokens = stage.tokens()

    assert await tokens.of(MARIA) != await tokens.of(JOSE)


async def test_a_rotated_secret_fetches_a_new_token(stage: Stage):
    tokens = stage.tokens()
    rotated = ClientCredentials(account_id="maria", client_id="id-1", secret="new")

    assert await tokens.of(MARIA) != await tokens.of(rotated)


@pytest.mark.parametrize(("after_s", "fetched"), [(479, 1), (481, 2)])
async def test_a_token_is_renewed_at_four_fifths_of_its_life(
    stage: Stage, after_s: int, fetched: int
):
    tokens = stage.tokens()
    await tokens.of(MARIA)

    stage.now += timedelta(seconds=after_s)
    token = await tokens.of(MARIA)

    assert token == f"CANARY-token-{fetched}"


async def test_a_token_is_used_until_it_expires_when_no_new_one_can_be_fetched(stage: Stage):
    tokens = stage.tokens()
    await tokens.of(MARIA)
    stage.issuer.status = 500

    stage.now += timedelta(seconds=590)
    late = await tokens.of(MARIA)
    stage.now += timedelta(seconds=20)

    assert late == "CANARY-token-1"
    with pytest.raises(ProviderError):
        await tokens.of(MARIA)


async def test_a_refused_read_is_repeated_once_with_a_new_token(stage: Stage):
    tokens, used = stage.tokens(), list[str]()

    async def read(token: str) -> str:
        used.append(token)
        if len(used) == 1:
            raise CredentialsRefused(Reason.CREDENTIALS_REFUSED)
        return "balance"

    assert await tokens.reading(MARIA, read) == "balance"
    assert used == ["CANARY-token-1", "CANARY-token-2"]


async def test_a_read_refused_twice_fails(stage: Stage):
    tokens, used = stage.tokens(), list[str]()

    async def read(token: str) -> str:
        used.append(token)
        raise CredentialsRefused(Reason.CREDENTIALS_REFUSED)

    with pytest.raises(CredentialsRefused):
        await tokens.reading(MARIA, read)
    assert len(used) == 2


async def test_concurrent_refusals_of_one_token_fetch_one_new_token(stage: Stage):
    tokens = stage.tokens()
    await tokens.of(MARIA)

    async def read(token: str) -> str:
        if token == "CANARY-token-1":
            raise CredentialsRefused(Reason.CREDENTIALS_REFUSED)
        return token

    found = await asyncio.gather(*(tokens.reading(MARIA, read) for _ in range(20)))

    assert set(found) == {"CANARY-token-2"}
    assert len(stage.issuer.asked) == 2


async def test_a_rate_limit_for_one_account_does_not_affect_another(stage: Stage):
    tokens = stage.tokens()
    stage.issuer.status = HTTPStatus.TOO_MANY_REQUESTS
    with pytest.raises(RateLimited):
        await tokens.of(MARIA)
    stage.issuer.status = HTTPStatus.OK

    assert await tokens.of(JOSE) == "CANARY-token-2"
    with pytest.raises(RateLimited):
        await tokens.of(MARIA)


async def test_processes_with_one_cache_fetch_one_token(stage: Stage):
    here, there = stage.tokens(), stage.tokens()

    assert await here.of(MARIA) == await there.of(MARIA)
    assert len(stage.issuer.asked) == 1


@pytest.mark.parametrize("text", [b"", b"{}", b"null", b'{"token": 1}', b"\xff"])
async def test_an_invalid_token_in_the_cache_is_fetched_again(stage: Stage, text: bytes):
    assert stage.context.cache is not None
    await stage.tokens().of(MARIA)
    for key in list(stage.context.cache._sizes):  # type: ignore[attr-defined] - where it is kept
        await stage.context.cache.put(key, [text], 60)

    assert await stage.tokens().of(MARIA) == "CANARY-token-2"


async def test_a_token_request_may_be_a_form_with_basic_credentials(stage: Stage):
    form = TokenForm(path="/oauth/token", more={"scope": "pix.read pix.send"})

    await stage.tokens(form).of(MARIA)

    headers, body = stage.issuer.asked[0]
    assert b64decode(headers["Authorization"].removeprefix("Basic ")) == f"id-1:{SECRET}".encode()
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"
    asked = {"grant_type": ["client_credentials"], "scope": ["pix.read pix.send"]}
    assert parse_qs(body.decode()) == asked


async def test_a_token_request_may_be_json_with_the_credentials_in_the_body(stage: Stage):
    await stage.tokens(TokenForm(path="/oauth/token", body="json", proof="body")).of(MARIA)

    headers, body = stage.issuer.asked[0]
    assert "Authorization" not in headers
    assert headers["Content-Type"] == "application/json"
    assert json.loads(body) == {
        "grant_type": "client_credentials",
        "client_id": "id-1",
        "client_secret": SECRET,
    }


@pytest.mark.parametrize("life", [0, -1, "0", "soon", True, [], {}, None, 10**400])
async def test_a_token_with_an_invalid_lifetime_is_used_for_a_short_time(
    stage: Stage, life: object
):
    stage.issuer.life_s = life
    tokens = stage.tokens()

    fetched = []
    for after_s in (0, 40, 60):
        stage.now = NOON + timedelta(seconds=after_s)
        fetched.append(await tokens.of(MARIA))

    assert fetched == ["CANARY-token-1", "CANARY-token-1", "CANARY-token-2"]


async def test_a_token_is_kept_for_a_year_at_most(stage: Stage):
    stage.issuer.life_s = 10**12
    tokens, fetched = stage.tokens(), []

    for days in (0, 200, 300):
        stage.now = NOON + timedelta(days=days)
        fetched.append(await tokens.of(MARIA))

    assert fetched == ["CANARY-token-1", "CANARY-token-1", "CANARY-token-2"]


async def test_a_damaged_token_is_not_kept(stage: Stage):
    """It would be invalid in a header."""
    stage.issuer.damage = "\ud83d"
    tokens = stage.tokens()
    with pytest.raises(ProviderError):
        await tokens.of(MARIA)
    stage.issuer.damage = ""

    assert await tokens.of(MARIA) == "CANARY-token-2"


@pytest.mark.parametrize("status", [401, 400])
async def test_a_token_request_refused_once_is_repeated(stage: Stage, status: int):
    """Some banks randomly refuse one request in ten; RFC 6749, 5.2 has both statuses."""
    stage.issuer.refusals, stage.issuer.refused = 1, status

    assert await stage.tokens().of(MARIA) == "CANARY-token-2"


@pytest.mark.parametrize("status", [401, 400])
async def test_a_token_request_refused_twice_fails(stage: Stage, status: int):
    stage.issuer.refusals, stage.issuer.refused = 3, status

    with pytest.raises(CredentialsRefused):
        await stage.tokens().of(MARIA)

    assert len(stage.issuer.asked) == 2


async def test_a_token_lifetime_is_read_in_any_format_and_defaults_to_a_short_one(stage: Stage):
    """RFC 6749, 5.1 only recommends ``expires_in``; some banks answer 201."""
    stage.issuer.status = 201
    kept = []
    for life in (600, "600", 600.0, 600.5, None):
        stage.issuer.life_s, stage.now = life, NOON
        tokens, shop = stage.tokens(), dataclasses.replace(MARIA, secret=f"secret-{life!r}")
        first = await tokens.of(shop)
        stage.now = NOON + timedelta(seconds=100)
        kept.append(await tokens.of(shop) == first)

    assert kept == [True, True, True, True, False]


async def test_a_failed_token_fetch_means_the_bank_was_not_reached(stage: Stage):
    """An adapter turns it into ``not_sent``."""
    await stage.client.close()
    gone = client_of(stage.context, "http://127.0.0.1:1", (), ClientLimits())
    await gone.start()
    tokens = AccessTokens(gone, FORM, stage.context)

    with pytest.raises(Unreachable):
        await tokens.of(MARIA)
    await gone.close()


async def test_secrets_and_tokens_are_not_printed_or_logged(
    stage: Stage, caplog: pytest.LogCaptureFixture
):
    tokens = stage.tokens()
    await tokens.of(MARIA)

    shown = [*map(repr, (MARIA, tokens, stage.client.transcript.shown())), caplog.text]

    assert not any("CANARY" in each for each in shown)

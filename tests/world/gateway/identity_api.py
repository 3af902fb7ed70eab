"""Identity and the panel on real sockets, over a clock that stands still."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import msgspec
from yarl import URL

from gateway.app.services import Services
from gateway.app.store import Store
from gateway.app.surfaces import user_surfaces
from gateway.config.settings import RateLimits, Settings
from gateway.core import errors, user_errors
from gateway.core.limits import CallRate
from gateway.core.reasons import REASONS
from gateway.http.documents import openapi_pages
from gateway.http.openapi.examples import DAY
from gateway.http.route import Surface
from gateway.http.server import Serving, application
from gateway.http.table import Table
from gateway.identity.panel_surface import Panel
from gateway.identity.passwords import Cost
from gateway.net.server.listener import Address, Listener
from tests.world.gateway.answers import JSON, Answer
from tests.world.gateway.listener_client import admission
from tests.world.identity import EMAIL, LITTLE, PASSWORD, IdentityWorld, identity_world_on
from tests.world.kernel import Witness
from tests.world.standing import Clock

ORIGIN = "https://pix.example"
COOKIE = "__Host-pixgate"
DEVICE = "__Host-pixgate-device"
FREE = CallRate(rate=1_000_000, burst=1_000_000)
REFUSED = 400
WAITING = frozenset({429, 502, 503})
SAYINGS = frozenset(
    (error.status, error.code) for error in (*errors.CATALOGUE, *user_errors.CATALOGUE)
)
HERE = {"Origin": ORIGIN}


@dataclass(slots=True, kw_only=True)
class ApiClient:
    """
    The surfaces of identity and the panel, served, and a client of them.

    Attributes:
        counted: What was counted, a word and its label each.
    """

    identity_world: IdentityWorld
    panel: Panel
    surfaces: tuple[Surface, ...]
    port: int
    session: aiohttp.ClientSession
    witness: Witness
    counted: list[tuple[str, str]]

    @property
    def clock(self) -> Clock:
        return self.identity_world.clock

    async def ask(
        self,
        method: str,
        path: str,
        document: object = None,
        *,
        token: str = "",
        headers: Mapping[str, str] | list[tuple[str, str]] | None = None,
        data: bytes | None = None,
    ) -> Answer:
        """Ask, and check what must hold of every answer; ``token`` goes as Bearer."""
        sent = list(headers.items()) if isinstance(headers, Mapping) else list(headers or [])
        if token:
            sent.append(("Authorization", f"Bearer {token}"))
        if document is not None:
            data = msgspec.json.encode(document)
            sent.append(("Content-Type", "application/json"))
        url = URL(f"http://127.0.0.1:{self.port}{path}", encoded=True)
        async with self.session.request(
            method,
            url,
            headers=sent,
            data=data,
            allow_redirects=False,
            skip_auto_headers=["Content-Type"],
        ) as said:
            answer = Answer(status=said.status, headers=said.headers, body=await said.read())
        check(answer, method)
        return answer

    async def send_reset_links(self) -> None:
        await self.identity_world.services.reset_requests.answer()

    async def login(self, email: str = EMAIL, password: str = PASSWORD) -> Answer:
        body = {"email": email, "password": password}
        return await self.ask("POST", "/iam/v1/auth/login", body)

    async def sign_in(self, email: str = EMAIL) -> dict[str, Any]:
        """Sign in, with a code where one is asked for; return the session."""
        said = (await self.login(email)).document
        if said["mfa_required"]:
            body = {"mfa_token": said["mfa_token"], "code": self.identity_world.code(email)}
            said = (await self.ask("POST", "/iam/v1/auth/mfa", body)).document
        assert said["mfa_required"] is False, said
        return dict(said)

    async def open_browser(self) -> BrowserClient:
        browser = BrowserClient(self)
        await browser.load_session()
        return browser

    async def signed_in_browser(self, email: str = EMAIL) -> BrowserClient:
        browser = await self.open_browser()
        await browser.sign_in(email)
        return browser


@dataclass(slots=True)
class BrowserClient:
    """
    A browser on a page of the panel.

    Attributes:
        cookie: Its value; empty before the first answer.
        device: The value of the device cookie; empty before the first sign-in.
        csrf: The token that the page knows.
    """

    api_client: ApiClient
    cookie: str = ""
    device: str = ""
    csrf: str = ""
    agent: dict[str, str] = field(default_factory=dict)

    async def load_session(self) -> dict[str, Any]:
        """Ask for its session, and remember the token."""
        answer = await self._take(
            await self.api_client.ask("GET", "/iam/v1/auth/session", headers=self._headers())
        )
        assert answer.status == 200, answer.body
        self.csrf = answer.document["csrf_token"]
        return dict(answer.document)

    async def post(
        self, path: str, document: object = None, *, method: str = "POST", **headers: str
    ) -> Answer:
        sent = {**HERE, "X-CSRF-Token": self.csrf, **headers}
        answer = await self._take(
            await self.api_client.ask(method, path, document, headers=self._headers(sent))
        )
        if answer.status == 200 and "csrf_token" in answer.document:
            self.csrf = answer.document["csrf_token"]
        return answer

    async def get(self, path: str, **headers: str) -> Answer:
        sent = {"X-Requested-With": "panel", "Sec-Fetch-Site": "same-origin", **headers}
        return await self._take(await self.api_client.ask("GET", path, headers=self._headers(sent)))

    async def sign_in(self, email: str = EMAIL) -> dict[str, Any]:
        """Sign in, with a code where one is asked for; return the session."""
        said = await self.post("/panel/auth/login", {"email": email, "password": PASSWORD})
        if said.document["mfa_required"]:
            said = await self.post(
                "/panel/auth/mfa", {"code": self.api_client.identity_world.code(email)}
            )
        assert said.document["authenticated"], said.body
        return dict(said.document)

    def _headers(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {COOKIE: self.cookie, DEVICE: self.device}
        pairs = ["theme=dark", *(f"{name}={value}" for name, value in kept.items() if value)]
        cookie = {"Cookie": "; ".join(pairs)} if len(pairs) > 1 else {}
        return {**cookie, **(more or {})}

    async def _take(self, answer: Answer) -> Answer:
        """Keep the cookie that an answer gives, as a browser does."""
        given = dict(line.split("=", 1) for line in answer.headers.getall("Set-Cookie", []))
        assert len(given) == len(answer.headers.getall("Set-Cookie", []))
        assert set(given) <= {COOKIE, DEVICE}, given
        for line in given.values():
            assert line.partition(";")[2].startswith(" Path=/; Secure; HttpOnly; SameSite=Strict")
            assert "Domain" not in line
        if COOKIE in given:
            self.cookie = given[COOKIE].partition(";")[0]
        if DEVICE in given:
            assert given[DEVICE].endswith("; Max-Age=7776000")
            self.device = given[DEVICE].partition(";")[0]
        return answer


def check(answer: Answer, method: str) -> None:
    """Demand what must hold of every answer of identity and the panel."""
    headers = answer.headers
    assert len(headers.getall("X-Trace-ID", [])) == 1
    assert headers["Server"] == "pixgate"
    assert len(headers.getall("Cache-Control")) == 1
    assert ("WWW-Authenticate" in headers) is (answer.status == 401)
    if answer.status == 401:
        assert headers["WWW-Authenticate"] == 'Bearer realm="iam"'
    if answer.status in WAITING:
        assert int(headers["Retry-After"]) >= 1
    if answer.status == 204:
        assert answer.body == b""
        return
    assert headers["Content-Type"] == JSON
    if answer.status >= REFUSED and method != "HEAD":
        assert list(answer.document) == ["code", "message", "trace_id", "field", "reason"]
        assert answer.document["reason"] in {"", *REASONS}
        assert answer.status != 401 or answer.document["reason"] == ""
        assert (answer.status, answer.code) in SAYINGS


@asynccontextmanager
async def api_client_on(
    store: Store, clock: Clock, *, cost: Cost = LITTLE, **rates: CallRate
) -> AsyncIterator[ApiClient]:
    """Serve identity and the panel over a store; ``rates`` are the quotas that are scarce."""
    clock.step_s = 0.001  # buckets fill up while a test calls, as they do in the world
    identity_world = identity_world_on(store, clock, _settings(rates), cost=cost)
    await identity_world.services.signing_keys.ensure()
    services = Services(identity_world.kernel, identity=identity_world.services)
    surfaces, witness = tuple(user_surfaces(services)), Witness()
    serving = _serving(surfaces, witness)
    listener = Listener(application(serving), at=Address())
    await listener.start()
    try:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
            yield ApiClient(
                identity_world=identity_world,
                panel=services.panel,
                surfaces=surfaces,
                port=listener.port,
                session=session,
                witness=witness,
                counted=identity_world.counted,
            )
    finally:
        await listener.close(1)
        await services.panel.sessions.close()
        identity_world.hasher.close()


def _settings(rates: dict[str, CallRate]) -> Settings:
    """Make settings in which only what a test asks for is scarce."""
    free = dict.fromkeys(("anonymous", "sign_in", "second_factor", "recovery", "person"), FREE)
    limits = RateLimits(**{**free, **rates})
    plain = msgspec.structs.replace(Settings(), ratelimits=limits)
    identity = msgspec.structs.replace(plain.identity, origin=ORIGIN)
    return msgspec.structs.replace(plain, identity=identity)


def _serving(surfaces: tuple[Surface, ...], witness: Witness) -> Serving:
    return Serving(
        table=Table(surfaces),
        pages=openapi_pages(surfaces, lambda: DAY),
        admission=admission(witness.count),
        observer=witness,
        body_deadline_s=2,
        uuid_traces=False,
    )


async def at_once(*asked: Any) -> list[Answer]:
    return list(await asyncio.gather(*asked))

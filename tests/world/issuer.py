"""A small identity provider on a real socket, which may err in every way that a test wants."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import jwt
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives.asymmetric import ec
from yarl import URL

from gateway.core.clocks import Now
from gateway.core.rights import Role
from gateway.single_sign_on.model import NewIdentityProvider, RoleValue

CLIENT: Final = "pixgate"
SECRET: Final = "segredo do cliente"
DOMAIN: Final = "loja.example.com"
ANA: Final = f"ana@{DOMAIN}"
EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"
PERSON: Final[Mapping[str, Any]] = {
    "sub": "4711",
    "email": ANA,
    "email_verified": True,
    "name": "Ana Souza",
    "groups": ["pix-operators"],
    "sid": "sid-1",
}


@dataclass(slots=True)
class Issuer:
    """
    What the provider says, and what it was asked.

    Attributes:
        person: Claims of whoever signs in.
        changed: Claims of the next tokens, over all others; None leaves one out.
        is_down: It answers 503 to everything but the page of the sign-in.
        hangs: It answers nothing until this is set; None for at once.
        meanwhile: Called before a code is exchanged.
        asked: Paths, in their order.
        names_itself: Answers carry ``iss``.
        publishes: Keys in place of those that it signs with; None for its own.
        document: Fields of the discovery document, over its own.
    """

    now: Now
    origin: str = ""
    person: dict[str, Any] = field(default_factory=lambda: dict(PERSON))
    changed: dict[str, Any] = field(default_factory=dict)
    is_down: bool = False
    hangs: asyncio.Event | None = None
    meanwhile: Callable[[], Awaitable[object]] | None = None
    names_itself: bool = True
    document: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    keys: dict[str, ec.EllipticCurvePrivateKey] = field(default_factory=dict)
    codes: dict[str, Mapping[str, str]] = field(default_factory=dict)
    publishes: list[dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        self.rotate()

    def rotate(self) -> None:
        """Sign with a new key from now on, and publish it alone."""
        self.keys = {uuid.uuid4().hex[:8]: ec.generate_private_key(ec.SECP256R1())}

    def published(self) -> list[dict[str, Any]]:
        return [
            json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key()))
            | {"kid": kid, "use": "sig", "alg": "ES256"}
            for kid, key in self.keys.items()
        ]

    def sign(self, claims: Mapping[str, Any], **head: str) -> str:
        ((kid, key),) = self.keys.items()
        return jwt.encode(dict(claims), key, "ES256", headers={"kid": kid, **head})

    def id_token(self, nonce: str, **changed: Any) -> str:
        return self.sign(self.claims({"nonce": nonce, **self.person, **self.changed, **changed}))

    def logout_token(self, **changed: Any) -> str:
        content = {
            "jti": uuid.uuid4().hex,
            "events": {EVENT: {}},
            "sid": self.person["sid"],
            "sub": self.person["sub"],
        }
        return self.sign(self.claims(content | changed), typ="logout+jwt")

    def claims(self, own: Mapping[str, Any]) -> dict[str, Any]:
        at = int(self.now().timestamp())
        content = {
            "iss": self.origin,
            "aud": CLIENT,
            "iat": at,
            "exp": int((self.now() + timedelta(minutes=5)).timestamp()),
        }
        return {name: each for name, each in (content | dict(own)).items() if each is not None}

    def answer(self, url: str) -> dict[str, str]:
        """Sign somebody in at an address that a browser was sent to; return what it brings back."""
        asked = {name: value for name, (value,) in parse_qs(urlsplit(url).query).items()}
        code = uuid.uuid4().hex
        self.codes[code] = asked
        named = {"iss": self.origin} if self.names_itself else {}
        return {"code": code, "state": asked["state"], **named}

    def application(self) -> web.Application:
        made = web.Application(middlewares=[self._outage])
        made.router.add_get("/.well-known/openid-configuration", self._discovery)
        made.router.add_get("/authorize", self._authorize)
        made.router.add_post("/token", self._token)
        made.router.add_get("/keys", self._keys)
        return made

    @web.middleware
    async def _outage(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.asked.append(request.path)
        if self.hangs is not None:
            await self.hangs.wait()
        if self.is_down:
            return web.Response(status=503)
        answer: web.StreamResponse = await handler(request)
        return answer

    async def _discovery(self, _request: web.Request) -> web.Response:
        document = {
            "issuer": self.origin,
            "authorization_endpoint": f"{self.origin}/authorize",
            "token_endpoint": f"{self.origin}/token",
            "jwks_uri": f"{self.origin}/keys",
            "authorization_response_iss_parameter_supported": self.names_itself,
        }
        return web.json_response(document | self.document)

    async def _authorize(self, request: web.Request) -> web.Response:
        back = self.answer(str(request.url))
        to = f"{request.query['redirect_uri']}?{urlencode(back)}"
        return web.Response(status=302, headers={"Location": to})

    async def _keys(self, _request: web.Request) -> web.Response:
        return web.json_response({"keys": self.publishes or self.published()})

    async def _token(self, request: web.Request) -> web.Response:
        form = await request.post()
        if self.meanwhile is not None:
            await self.meanwhile()
        asked = self.codes.pop(str(form["code"]), None)
        pair = base64.b64decode(request.headers["Authorization"].removeprefix("Basic ")).decode()
        client, _, secret = pair.partition(":")
        if asked is None or (unquote_plus(client), unquote_plus(secret)) != (CLIENT, SECRET):
            return web.json_response({"error": "invalid_grant"}, status=400)
        proof = hashlib.sha256(str(form["code_verifier"]).encode()).digest()
        challenge = base64.urlsafe_b64encode(proof).decode().rstrip("=")
        assert asked["code_challenge_method"] == "S256"
        if (challenge, form["redirect_uri"]) != (asked["code_challenge"], asked["redirect_uri"]):
            return web.json_response({"error": "invalid_grant"}, status=400)
        at = int(self.now().timestamp())
        anew = {"auth_time": self.changed.get("auth_time", at)} if "max_age" in asked else {}
        token = self.id_token(asked["nonce"], **anew)
        return web.json_response({"token_type": "Bearer", "id_token": token})


@asynccontextmanager
async def issuing(now: Now) -> AsyncIterator[Issuer]:
    """Run a provider at an address of this machine."""
    issuer = Issuer(now)
    server = TestServer(issuer.application(), host="127.0.0.1")
    async with server:
        issuer.origin = str(server.make_url("/")).rstrip("/")
        yield issuer


def wanted_of(issuer: Issuer, /, **changed: Any) -> NewIdentityProvider:
    """Return what the provider of a company is to be."""
    fields: dict[str, Any] = {
        "short_name": "loja",
        "domains": (DOMAIN,),
        "issuer": issuer.origin,
        "client_id": CLIENT,
        "client_secret": SECRET,
        "claim": "groups",
        "mapping": (
            RoleValue("pix-operators", Role.OPERATOR),
            RoleValue("pix-viewers", Role.VIEWER),
        ),
    }
    return NewIdentityProvider(**(fields | changed))


def query_of(answer: Mapping[str, str]) -> str:
    return str(URL.build(query=dict(answer)))

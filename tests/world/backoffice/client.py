"""The back office as its people call it: signed in by password and code, with a token each."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import msgspec
import pyotp
from jsonschema import Draft202012Validator
from yarl import URL

from gateway.core import errors, user_errors
from gateway.core.browsers import ClientInfo
from gateway.core.reasons import REASONS
from gateway.core.rights import Role
from gateway.identity.model import InvitationBody
from gateway.identity.reauthentication import Proof
from gateway.identity.sessions import SignedIn
from gateway.identity.sign_in import SecondFactorRequired
from tests.world.backoffice import matrix
from tests.world.gateway.answers import JSON, WAITING, Answer
from tests.world.gateway.sayings import means
from tests.world.gateway.world import World
from tests.world.people import CLI

NOBODY = ""
REFUSED = 400
PASSWORD = "uma frase bem comprida"
HERE = ClientInfo(address="127.0.0.1", user_agent="tests")
KNOWN = (*errors.CATALOGUE, *user_errors.CATALOGUE)


@dataclass(slots=True)
class BackofficeClient:
    """
    The back office over a socket.

    Attributes:
        tokens: Access tokens of those who signed in, by who they are.
    """

    world: World
    tokens: dict[str, str] = field(default_factory=dict)
    one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    def at(self, path: str = "", account: str = "main") -> str:
        return f"/backoffice/v1/accounts/{self.world.demo['accounts'][account]['id']}{path}"

    async def token(self, who: str) -> str:
        """Sign a demo user in, once; their code works once in half a minute."""
        async with self.one_at_a_time:
            if who not in self.tokens:
                self.tokens[who] = await self._sign_in(self.world.demo["users"][who])
        return self.tokens[who]

    async def plain(self, who: str, *roles: Role) -> None:
        """Create a user without a second factor, and sign them in."""
        identity = self.world.gateway.services.identity
        order = InvitationBody(email=who, name="Plain", roles=list(roles))
        await identity.users.create(CLI, order, PASSWORD)
        signed_in = await identity.sign_in.login(who, PASSWORD, HERE)
        assert isinstance(signed_in, SignedIn)
        self.tokens[who] = signed_in.tokens.access_token

    async def limited(self, company: str, *roles: Role) -> str:
        """Create a user limited to one company of the demo; return them."""
        return await self._made(frozenset({self.world.demo["companies"][company]["id"]}), *roles)

    async def _made(self, sees: frozenset[str], *roles: Role) -> str:
        """Create a user with a fresh second factor."""
        identity = self.world.gateway.services.identity
        who = f"{uuid.uuid4().hex}@example.com"
        order = InvitationBody(email=who, name="Limited", roles=list(roles), companies=list(sees))
        await identity.users.create(CLI, order, PASSWORD)
        signed_in = await identity.sign_in.login(who, PASSWORD, HERE)
        assert isinstance(signed_in, SignedIn)
        begun = await identity.second_factors.begin(signed_in.person, Proof(PASSWORD), HERE)
        codes = await identity.second_factors.confirm(
            signed_in.person, pyotp.TOTP(begun.secret).at(self.world.gateway.kernel.now())
        )
        asked = await identity.sign_in.login(who, PASSWORD, HERE)
        assert isinstance(asked, SecondFactorRequired)
        again = await identity.sign_in.submit_code(asked.mfa_token, codes[0], HERE)
        self.tokens[who] = again.tokens.access_token
        return who

    async def ask(
        self,
        method: str,
        path: str,
        document: object = None,
        *,
        by: str = "operator",
        headers: Mapping[str, str] | None = None,
        data: bytes | None = None,
        kind: str = JSON,
    ) -> Answer:
        """Send a request as a user, and check what must hold for every answer."""
        sent = dict(headers or {})
        if by != NOBODY:
            sent["Authorization"] = f"Bearer {await self.token(by)}"
        if document is not None:
            data = msgspec.json.encode(document)
            sent["Content-Type"] = "application/json"
        return await self._send(method, path, sent, data, kind)

    async def read(self, path: str, account: str = "main", **how: str) -> Answer:
        return await self.ask("GET", self.at(path, account), **how)  # type: ignore[arg-type]

    async def post(self, path: str, document: object, **how: str) -> Answer:
        return await self.ask("POST", self.at(path), document, **how)  # type: ignore[arg-type]

    async def _send(
        self, method: str, path: str, headers: Mapping[str, str], data: bytes | None, kind: str
    ) -> Answer:
        url = URL(f"http://127.0.0.1:{self.world.port}{path}", encoded=True)
        async with self.world.session.request(
            method, url, headers=headers, data=data, skip_auto_headers=["Content-Type"]
        ) as said:
            answer = Answer(status=said.status, headers=said.headers, body=await said.read())
        check(answer, kind if answer.status < REFUSED else JSON)
        conforms(answer, method, path.partition("?")[0])
        return answer

    async def _sign_in(self, person: Mapping[str, str]) -> str:
        given = {"email": person["email"], "password": person["password"]}
        said = await self.ask("POST", "/iam/v1/auth/login", given, by=NOBODY)
        if said.document["mfa_required"]:
            code = pyotp.TOTP(person["totp_secret"]).at(self.world.gateway.kernel.now())
            answer = {"mfa_token": said.document["mfa_token"], "code": code}
            said = await self.ask("POST", "/iam/v1/auth/mfa", answer, by=NOBODY)
        assert said.status == 200, said.body
        return str(said.document["access_token"])


def conforms(answer: Answer, method: str, path: str) -> None:
    found = matrix.TABLE.find(path)
    place = found.places.get(method) if found else None
    if place is None:
        return
    described = matrix.DOCUMENT["paths"][place.template][place.route.method.lower()]["responses"]
    assert str(answer.status) in described, (place.route.name, answer.status)
    promised = described[str(answer.status)]
    assert answer.code in promised["description"]
    validator = _validator(place.template, place.route.method.lower(), str(answer.status))
    if validator and method != "HEAD":
        validator.validate(answer.document)


@cache
def _validator(template: str, method: str, status: str) -> Draft202012Validator | None:
    """Make the check of a promised body once: following its references takes 20 ms."""
    promised = matrix.DOCUMENT["paths"][template][method]["responses"][status]
    shown = promised.get("content", {}).get("application/json", {})
    if "schema" not in shown:
        return None
    return Draft202012Validator({**shown["schema"], "components": matrix.DOCUMENT["components"]})


def check(answer: Answer, kind: str) -> None:
    """Demand what every answer promises; an operator's refusal may say more behind its message."""
    headers = answer.headers
    assert len(headers.getall("X-Trace-ID")) == 1
    assert headers.getall("Cache-Control") == ["no-store"]
    assert headers.getall("Content-Type") == [kind]
    assert "Set-Cookie" not in headers
    assert ("WWW-Authenticate" in headers) is (answer.status == 401)
    if answer.status == 401:
        assert headers["WWW-Authenticate"] == 'Bearer realm="iam"'
    if answer.status in WAITING:
        assert int(headers["Retry-After"]) >= 1
    if answer.status >= REFUSED:
        told = answer.document
        assert list(told) == ["code", "message", "trace_id", "field", "reason"]
        known = [each for each in KNOWN if (each.status, each.code) == answer.verdict]
        said = told["message"]
        assert any(said.startswith(each.message) or means(said, each) for each in known), told
        assert told["reason"] in {"", *REASONS}
        assert answer.status != 401 or (told["field"], told["reason"]) == ("", "")

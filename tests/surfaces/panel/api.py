"""What several tests of api share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import msgspec
import pyotp
import pytest
import pytest_asyncio
from yarl import URL

from tests.surfaces.panel.roles import PASSWORD, with_every_role
from tests.world.gateway.answers import Answer
from tests.world.gateway.identity_api import COOKIE
from tests.world.gateway.world import World


@dataclass(slots=True)
class Page:
    """A page of the panel in somebody's browser."""

    world: World
    cookie: str = ""
    csrf: str = ""
    secret: str = ""
    step: int = 0

    async def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Ask as a script of the page does; headers given here win, empty ones are left out."""
        ours = {
            "Cookie": f"{COOKIE}={self.cookie}" if self.cookie else "",
            "Sec-Fetch-Site": "same-origin",
            "X-Requested-With": "panel",
            "X-CSRF-Token": self.csrf if method != "GET" else "",
        }
        sent = {name: each for name, each in {**ours, **headers}.items() if each}
        data = None if body is None else msgspec.json.encode(body)
        if body is not None:
            sent["Content-Type"] = "application/json"
        url = URL(f"http://127.0.0.1:{self.world.port}{path}", encoded=True)
        async with self.world.session.request(method, url, headers=sent, data=data) as said:
            answer = Answer(status=said.status, headers=said.headers, body=await said.read())
        for line in answer.headers.getall("Set-Cookie", []):
            name, _, rest = line.partition("=")
            if name == COOKIE:  # the other one says that the browser is known
                self.cookie = rest.partition(";")[0]
        return answer

    def code(self) -> str:
        """Read the app: each step once; the second one is the next step's, which is taken too."""
        app = pyotp.TOTP(self.secret)
        self.step = max(self.step + 1, app.timecode(self.world.gateway.kernel.now()))
        return app.generate_otp(self.step)

    async def sign_in(self, email: str) -> None:
        """Take the way of the panel."""
        self.csrf = (await self.ask("GET", "/iam/v1/auth/session")).document["csrf_token"]
        body: dict[str, object] = {"email": email, "password": PASSWORD}
        said = (await self.ask("POST", "/panel/auth/login", body)).document
        if said["mfa_required"]:
            self.csrf = said["csrf_token"]
            said = (await self.ask("POST", "/panel/auth/mfa", {"code": self.code()})).document
        assert said["authenticated"], said
        self.csrf = said["csrf_token"]

    async def enrol(self, email: str) -> None:
        """Enrol an app, which ends the session, and sign in anew."""
        begun = await self.ask("POST", "/panel/auth/totp", {"password": PASSWORD})
        self.secret = begun.document["secret"]
        confirmed = await self.ask("POST", "/panel/auth/totp/confirm", {"code": self.code()})
        assert confirmed.status == 200, confirmed.body
        self.cookie = ""
        await self.sign_in(email)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A gateway with its bank, and one person of each role."""
    async with with_every_role(tmp_path_factory.mktemp("panel")) as made:
        yield made

"""People on the whole gateway, as it is assembled for ``serve``; and what it says of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pyotp
import pytest

from gateway.config.identity import Identity, Session
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.rights import Role
from gateway.identity.model import InvitationBody
from tests.world.gateway.identity_api import ORIGIN
from tests.world.gateway.world import World, opened, sandbox
from tests.world.people import CLI

EMAIL, PASSWORD = "canario@example.com", "canary password of maria"


@dataclass(slots=True)
class Caller:
    """
    Somebody who calls the whole gateway.

    Attributes:
        secrets: All that they sent and were shown that nobody else may know.
    """

    world: World
    secrets: list[str] = field(default_factory=lambda: [EMAIL, PASSWORD])

    async def ask(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        """Ask; remember every secret that is sent or answered."""
        url = f"http://127.0.0.1:{self.world.port}{path}"
        data = None if body is None else msgspec.json.encode(body)
        kind = {} if body is None else {"Content-Type": "application/json"}
        async with self.world.session.request(
            method, url, data=data, headers={**headers, **kind}
        ) as said:
            self.secrets += [
                each.split("=", 1)[1].split(";")[0]
                for each in said.headers.getall("Set-Cookie", [])
            ]
            document = await said.json() if said.content_type == "application/json" else {}
        for value in (*_texts(document), *_texts(body), *headers.values()):
            self.secrets.append(value)
        return said.status, document, said.headers

    async def sign_in(self) -> dict[str, Any]:
        body = {"email": EMAIL, "password": PASSWORD}
        _, said, _ = await self.ask("POST", "/iam/v1/auth/login", body)
        return dict(said)


SECRET = frozenset(
    {
        *("access_token", "refresh_token", "mfa_token", "csrf_token", "secret", "otpauth_uri"),
        *("code", "password", "token", "recovery_codes", "email", "new_password"),
    }
)


def _texts(document: object) -> list[str]:
    if not isinstance(document, dict) or "trace_id" in document:
        return []
    found = [each for name, each in document.items() if name in SECRET]
    return [text for each in found for text in (each if isinstance(each, list) else [each])]


@pytest.fixture
async def caller(tmp_path: Path) -> AsyncIterator[Caller]:
    settings = msgspec.structs.replace(sandbox(tmp_path), identity=Identity(origin=ORIGIN))
    async with opened(settings) as world:
        order = InvitationBody(email=EMAIL, name="Maria", roles=[Role.ADMIN])
        await world.gateway.services.identity.users.create(CLI, order, PASSWORD)
        yield Caller(world)


async def everything(caller: Caller) -> None:
    """Sign in each way, rightly and wrongly, with a factor and without."""
    token = (await caller.sign_in())["access_token"]
    bearer = {"Authorization": f"Bearer {token}"}
    await caller.ask("POST", "/iam/v1/auth/login", {"email": EMAIL, "password": "canary wrong one"})
    await caller.ask("POST", "/iam/v1/auth/login", {"email": "canary@nobody", "password": "canary"})
    _, begun, _ = await caller.ask("POST", "/iam/v1/auth/totp", {"password": PASSWORD}, **bearer)
    app = pyotp.TOTP(begun["secret"])
    await caller.ask(
        "POST",
        "/iam/v1/auth/totp/confirm",
        {"code": app.at(caller.world.gateway.kernel.now())},
        **bearer,
    )
    await caller.ask("POST", "/iam/v1/auth/password/forgot", {"email": EMAIL})
    asked = await caller.sign_in()
    await caller.ask(
        "POST", "/iam/v1/auth/mfa", {"mfa_token": asked["mfa_token"], "code": "canary-code"}
    )
    await caller.ask("POST", "/iam/v1/auth/refresh", {"refresh_token": "canary-refresh"})
    await caller.ask("DELETE", "/iam/v1/auth/logout", Authorization="Bearer canary.token.here")
    await caller.ask("GET", "/iam/v1/auth/sessions?access_token=canary-in-query")
    _, page, headers = await caller.ask("GET", "/iam/v1/auth/session")
    name, _, rest = headers["Set-Cookie"].partition("=")
    await caller.ask(
        "POST",
        "/panel/auth/login",
        {"email": EMAIL, "password": PASSWORD},
        Cookie=f"{name}={rest.partition(';')[0]}",
        Origin=ORIGIN,
        **{"X-CSRF-Token": page["csrf_token"]},
    )


async def test_no_secret_is_logged(capfd: pytest.CaptureFixture[str], caller: Caller):
    """Passwords, tokens, codes, cookies, links and addresses are searched for in the output."""
    await everything(caller)
    gateway = caller.world.gateway
    await gateway.services.identity.reset_requests.answer()
    links = [
        each.text
        for each in await gateway.services.identity.context.stores.mailbox.latest(10, EVERY_COMPANY)
    ]
    gateway.telemetry.lines.stop()

    printed = "".join(capfd.readouterr())

    secrets = {*caller.secrets, *(each.partition("?token=")[2].split("\n")[0] for each in links)}
    secrets -= {"", ORIGIN}
    assert len(secrets) > 25
    assert "authn_login_success" in printed
    assert "canary" not in printed.lower().replace("canario", "canary")
    assert [each for each in secrets if len(each) > 6 and each in printed] == []


async def test_recovery_codes_require_the_password_and_a_new_code(caller: Caller):
    """A recovery code or the sign-in's code is not enough, and neither is the password alone."""
    bearer = {"Authorization": f"Bearer {(await caller.sign_in())['access_token']}"}
    _, begun, _ = await caller.ask("POST", "/iam/v1/auth/totp", {"password": PASSWORD}, **bearer)
    app, now = pyotp.TOTP(begun["secret"]), caller.world.gateway.kernel.now()
    _, enrolled, _ = await caller.ask(
        "POST", "/iam/v1/auth/totp/confirm", {"code": app.at(now)}, **bearer
    )
    codes, asked = enrolled["recovery_codes"], await caller.sign_in()
    given = {"mfa_token": asked["mfa_token"], "code": codes[0]}
    _, fresh, _ = await caller.ask("POST", "/iam/v1/auth/mfa", given)
    bearer = {"Authorization": f"Bearer {fresh['access_token']}"}

    said = [
        await caller.ask("POST", "/iam/v1/auth/recovery-codes", body, **bearer)
        for body in (
            None,
            {"password": PASSWORD},
            {"password": "guess", "code": app.at(now, counter_offset=1)},
            {"password": PASSWORD, "code": codes[1]},
            {"password": PASSWORD, "code": app.at(now)},
            {"password": PASSWORD, "code": app.at(now, counter_offset=1)},
        )
    ]

    assert [status for status, _, _ in said] == [400, 401, 401, 401, 401, 200]
    assert [document.get("code") for _, document, _ in said[2:5]] == [
        *("INVALID_CREDENTIALS", "MFA_INVALID", "MFA_INVALID")
    ]
    assert "recovery code is not enough" in said[3][1]["message"]
    assert len(said[5][1]["recovery_codes"]) == 10


async def test_identity_events_are_in_the_metrics(caller: Caller):
    """Every series of identity, from the operations listener."""
    await everything(caller)
    await caller.ask("POST", "/panel/auth/login", {})

    url = f"http://127.0.0.1:{caller.world.gateway.operations.port}/metrics"
    async with caller.world.session.get(url) as said:
        text = await said.text()

    for line in (
        'pixgate_login_attempts_total{result="ok"} 1',
        'pixgate_login_attempts_total{result="bad_credentials"} 2',
        'pixgate_login_attempts_total{result="mfa_required"} 2',
        'pixgate_mfa_attempts_total{factor="recovery",result="wrong"} 1',
        'pixgate_token_refresh_total{result="invalid_grant"} 1',
        'pixgate_password_recovery_total{result="ok",stage="forgot"} 1',
        'pixgate_csrf_rejected_total{reason="origin"} 1',
        'pixgate_auth_attempts_total{result="invalid",scheme="bearer"} 1',
    ):
        assert line in text, line


async def test_the_insecure_development_cookie_has_its_own_name(tmp_path: Path):
    settings = msgspec.structs.replace(sandbox(tmp_path), session=Session(insecure_dev=True))
    async with opened(settings) as world:
        _, _, headers = await Caller(world).ask("GET", "/iam/v1/auth/session")

    assert headers["Set-Cookie"].startswith("pixgate-dev=")
    assert "Secure" not in headers["Set-Cookie"]


async def test_a_bearer_token_is_refused_on_the_banking_surface(caller: Caller):
    """Contract 5.1; Basic is likewise refused by identity."""
    token = (await caller.sign_in())["access_token"]

    status, said, _ = await caller.ask(
        "GET", caller.world.at("/balance"), Authorization=f"Bearer {token}"
    )

    assert (status, said["code"]) == (401, "SVC.AUT.009")

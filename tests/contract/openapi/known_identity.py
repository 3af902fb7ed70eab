"""What no schema can tell of the calls by which people come in."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any

import pyotp

from gateway.core.browsers import ClientInfo
from gateway.core.rights import Role
from gateway.identity.reauthentication import Proof
from gateway.identity.sessions import SignedIn
from gateway.identity.sign_in import SecondFactorRequired
from tests.contract.openapi.known import Body, Knowing, Known
from tests.world.authenticator import Authenticator
from tests.world.backoffice.client import HERE, PASSWORD, BackofficeClient
from tests.world.passkeys import register, sign_in
from tests.world.waiting import until

OTHER_PASSWORD = "outra frase bem comprida"


def having(**values: Any) -> Callable[[Body], Body]:
    return lambda body: {**body, **values}


def proving(**values: Any) -> Callable[[Body], Body]:
    """Give a proof without the passkey that a schema made up."""
    return lambda body: {name: each for name, each in body.items() if name != "passkey"} | values


async def _plain(backoffice_client: BackofficeClient) -> str:
    """Create a user without a second factor; return them."""
    who = f"{uuid.uuid4().hex}@example.com"
    await backoffice_client.plain(who, Role.VIEWER)
    return who


async def _signed_in(backoffice_client: BackofficeClient) -> SignedIn:
    found = await backoffice_client.world.gateway.services.identity.sign_in.login(
        await _plain(backoffice_client), PASSWORD, HERE
    )
    assert isinstance(found, SignedIn)
    return found


async def _with_codes(backoffice_client: BackofficeClient) -> tuple[str, list[str], str]:
    """Create a user with a second factor; return unused recovery codes, and the app's next code."""
    people, who = (
        backoffice_client.world.gateway.services.identity,
        await _plain(backoffice_client),
    )
    signed_in = await people.sign_in.login(who, PASSWORD, HERE)
    assert isinstance(signed_in, SignedIn)
    begun = await people.second_factors.begin(signed_in.person, Proof(PASSWORD), HERE)
    app, now = pyotp.TOTP(begun.secret), backoffice_client.world.gateway.kernel.now()
    code = app.at(now)
    codes = list(await people.second_factors.confirm(signed_in.person, code))
    asked = await people.sign_in.login(who, PASSWORD, HERE)
    assert isinstance(asked, SecondFactorRequired)
    again = await people.sign_in.submit_code(asked.mfa_token, codes.pop(), HERE)
    backoffice_client.tokens[who] = again.tokens.access_token
    return who, codes, app.at(now, counter_offset=1)


async def mailed(backoffice_client: BackofficeClient, who: str) -> str:
    """Return the token of the link in a user's newest mail, once there is one."""
    found: list[str] = []

    async def came() -> bool:
        said = await backoffice_client.ask("GET", "/backoffice/v1/mailbox", by="security")
        found.extend(
            mail["text"]
            for mail in said.document["data"]
            if mail["to"] == who and "token=" in mail["text"]
        )
        return bool(found)

    await until(came)
    return found[0].split("token=")[1].split()[0]


def elsewhere() -> ClientInfo:
    return ClientInfo(address=f"2001:db8::{uuid.uuid4().hex[:4]}", user_agent="tests")


async def _member(backoffice_client: BackofficeClient) -> Known:
    return Known(by=await _plain(backoffice_client))


async def _login(backoffice_client: BackofficeClient) -> Known:
    return Known(body=having(email=await _plain(backoffice_client), password=PASSWORD))


async def _mfa(backoffice_client: BackofficeClient) -> Known:
    who, codes, _ = await _with_codes(backoffice_client)
    asked = await backoffice_client.world.gateway.services.identity.sign_in.login(
        who, PASSWORD, HERE
    )
    assert isinstance(asked, SecondFactorRequired)
    return Known(body=having(mfa_token=asked.mfa_token, code=codes[0]))


async def _refresh(backoffice_client: BackofficeClient) -> Known:
    tokens = (await _signed_in(backoffice_client)).tokens
    return Known(body=having(refresh_token=tokens.refresh_token))


async def _forgot(_desk: BackofficeClient) -> Known:
    return Known(body=having(email="nobody@example.com"))


async def _reset(backoffice_client: BackofficeClient) -> Known:
    who = await _plain(backoffice_client)
    await backoffice_client.world.gateway.services.identity.passwords.forgot(who, elsewhere())
    return Known(body=having(token=await mailed(backoffice_client, who), password=OTHER_PASSWORD))


async def _accept(backoffice_client: BackofficeClient) -> Known:
    who = f"{uuid.uuid4().hex}@example.com"
    order = {"email": who, "name": "Nova", "roles": ["viewer"]}
    await backoffice_client.ask("POST", "/backoffice/v1/users", order, by="admin")
    return Known(body=having(token=await mailed(backoffice_client, who), password=OTHER_PASSWORD))


async def _code(backoffice_client: BackofficeClient) -> Known:
    who, codes, _ = await _with_codes(backoffice_client)
    return Known(by=who, body=having(code=codes[0]))


async def _owner(backoffice_client: BackofficeClient) -> Known:
    who, _, code = await _with_codes(backoffice_client)
    return Known(by=who, body=proving(password=PASSWORD, code=code))


async def _session(backoffice_client: BackofficeClient) -> Known:
    who = await _plain(backoffice_client)
    await backoffice_client.world.gateway.services.identity.sign_in.login(who, PASSWORD, HERE)
    said = await backoffice_client.ask("GET", "/iam/v1/auth/sessions", by=who)
    other = next(each for each in said.document["data"] if not each["current"])
    return Known(by=who, path={"session_id": other["id"]})


async def _change(backoffice_client: BackofficeClient) -> Known:
    words = proving(current_password=PASSWORD, new_password=OTHER_PASSWORD)
    return Known(by=await _plain(backoffice_client), body=words)


async def _totp(backoffice_client: BackofficeClient) -> Known:
    return Known(by=await _plain(backoffice_client), body=proving(password=PASSWORD))


async def _confirm(backoffice_client: BackofficeClient) -> Known:
    who, password = await _plain(backoffice_client), {"password": PASSWORD}
    begun = await backoffice_client.ask("POST", "/iam/v1/auth/totp", password, by=who)
    code = pyotp.TOTP(begun.document["secret"]).at(backoffice_client.world.gateway.kernel.now())
    return Known(by=who, body=having(code=code))


async def _with_passkey(
    backoffice_client: BackofficeClient,
) -> tuple[str, Authenticator]:
    """Create a user with a passkey alone, who is signed in by it."""
    people, who = (
        backoffice_client.world.gateway.services.identity,
        await _plain(backoffice_client),
    )
    signed_in = await people.sign_in.login(who, PASSWORD, HERE)
    assert isinstance(signed_in, SignedIn)
    authenticator = Authenticator(origin=people.context.relying_party.origin)
    await register(people, signed_in.person, authenticator, Proof(password=PASSWORD))
    again = await sign_in(people, authenticator, HERE)
    backoffice_client.tokens[who] = again.tokens.access_token
    return who, authenticator


async def _asked(
    backoffice_client: BackofficeClient, who: str, path: str = "passkeys/options"
) -> Mapping[str, Any]:
    """Ask for the options of a passkey, as a browser does."""
    said = await backoffice_client.ask("POST", f"/iam/v1/auth/{path}", by=who)
    return said.document


async def _passkeys(backoffice_client: BackofficeClient) -> Known:
    who, _ = await _with_passkey(backoffice_client)
    return Known(by=who)


async def _passkey(backoffice_client: BackofficeClient) -> Known:
    who, authenticator = await _with_passkey(backoffice_client)
    options = await _asked(backoffice_client, who)
    return Known(by=who, body=having(passkey=authenticator.get(options)))


async def _login_passkey(backoffice_client: BackofficeClient) -> Known:
    _, authenticator = await _with_passkey(backoffice_client)
    sign_ins = backoffice_client.world.gateway.services.identity.sign_in
    options = await sign_ins.passkey_options("")
    return Known(body=having(passkey=authenticator.get(options)))


async def _login_options(_desk: BackofficeClient) -> Known:
    return Known(body=having(mfa_token=""))


async def _register(backoffice_client: BackofficeClient) -> Known:
    who = await _plain(backoffice_client)
    options = await _asked(backoffice_client, who, "passkeys/registration-options")
    authenticator = Authenticator(
        origin=backoffice_client.world.gateway.services.identity.context.relying_party.origin
    )
    new = {"name": "Telefone", "registration": authenticator.create(options)}
    return Known(by=who, body=lambda _: {**new, "password": PASSWORD})


async def _remove_passkey(backoffice_client: BackofficeClient) -> Known:
    who, authenticator = await _with_passkey(backoffice_client)
    listed = await backoffice_client.ask("GET", "/iam/v1/auth/passkeys", by=who)
    options = await _asked(backoffice_client, who)
    proof = {"passkey": authenticator.get(options)}
    return Known(
        by=who, path={"passkey_id": listed.document["data"][0]["id"]}, body=lambda _: proof
    )


KNOWN: Mapping[str, Knowing] = {
    "identity.invitation_accept": _accept,
    "identity.login": _login,
    "identity.logout": _member,
    "identity.mfa": _mfa,
    "identity.login_passkey": _login_passkey,
    "identity.login_passkey_options": _login_options,
    "identity.passkey_options": _passkeys,
    "identity.passkey_register": _register,
    "identity.passkey_registration_options": _member,
    "identity.passkey_remove": _remove_passkey,
    "identity.passkeys": _passkeys,
    "identity.password_change": _change,
    "identity.password_forgot": _forgot,
    "identity.password_reset": _reset,
    "identity.recovery_codes": _owner,
    "identity.refresh": _refresh,
    "identity.session_end": _session,
    "identity.sessions": _member,
    "identity.sessions_end": _member,
    "identity.step_up": _code,
    "identity.step_up_passkey": _passkey,
    "identity.totp_begin": _totp,
    "identity.totp_confirm": _confirm,
    "identity.totp_remove": _owner,
}

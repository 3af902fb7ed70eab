"""Passkeys of users, registered and used below HTTP."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.core.browsers import ClientInfo
from gateway.core.sessions import SignedInUser
from gateway.identity.passkeys import NewPasskey
from gateway.identity.reauthentication import Proof
from gateway.identity.services import IdentityServices
from gateway.identity.sessions import SignedIn
from gateway.identity.webauthn import Assertion
from tests.world.authenticator import Authenticator
from tests.world.identity import HOME, PASSWORD


async def register(
    services: IdentityServices,
    caller: SignedInUser,
    authenticator: Authenticator,
    proof: Proof | None = None,
    name: str = "Telefone",
) -> Sequence[str]:
    """Register a passkey by the password alone, unless another ``proof`` is given."""
    options = await services.passkeys.registration_options(caller)
    given = proof or Proof(password=PASSWORD)
    wanted = NewPasskey(
        name=name,
        registration=authenticator.registration(options),
        password=given.password,
        code=given.code,
        passkey=given.passkey,
    )
    return await services.passkeys.register(caller, wanted, HOME)


async def used(
    services: IdentityServices, caller: SignedInUser, authenticator: Authenticator
) -> Assertion:
    """Use a passkey in a session, as a proof."""
    return authenticator.assertion(await services.passkeys.options(caller))


async def sign_in(
    services: IdentityServices, authenticator: Authenticator, client: ClientInfo = HOME
) -> SignedIn:
    """Sign in by a passkey alone."""
    options = await services.sign_in.passkey_options("", client.bound_to)
    return await services.sign_in.by_passkey(authenticator.assertion(options), client)

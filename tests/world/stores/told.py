"""
Every statement that changes cached records, each made by the operation that makes it.

A test of the tree compares the names with the statements of the store: a new statement must be
added here, which shows that its audit event names the changed record.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from gateway.core.caller_rules import CallerRule
from gateway.core.change_feed import Kept
from gateway.core.money import Money
from gateway.credentials.model import Credential, LimitsBody, PublicKeyBody
from gateway.credentials.public_keys import PublicKeys
from tests.world.identity import identity_world_on
from tests.world.registers import Registers
from tests.world.standing import Clock
from tests.world.stops import lift, stop_payouts
from tests.world.stores.samples import COMPANY

Record = tuple[Kept, str]
Writer = Callable[[], Awaitable[Record]]
"""Change a record, and return which."""


async def _adding_an_account(office: Registers) -> Writer:
    async def write() -> Record:
        return Kept.ACCOUNT, (await office.account(COMPANY)).id

    return write


async def _replacing_an_account(office: Registers) -> Writer:
    made = await office.account(COMPANY)

    async def write() -> Record:
        return Kept.ACCOUNT, (await office.change(made.id, name="X")).id

    return write


async def _adding_a_credential(office: Registers) -> Writer:
    async def write() -> Record:
        issued = await office.issue(COMPANY)
        return Kept.CREDENTIAL, issued.credential.client_id

    return write


async def _rotating_a_credential(office: Registers) -> Writer:
    made = (await office.issue(COMPANY)).credential.client_id

    async def write() -> Record:
        return Kept.CREDENTIAL, (await office.rotate(made)).credential.client_id

    return write


async def _revoking_a_credential(office: Registers) -> Writer:
    made = (await office.issue(COMPANY)).credential.client_id

    async def write() -> Record:
        return Kept.CREDENTIAL, (await office.revoke(made)).client_id

    return write


async def _limiting_a_credential(office: Registers) -> Writer:
    made = (await office.issue(COMPANY)).credential.client_id

    async def write() -> Record:
        limits = LimitsBody(limit_per_day=Money(1000))
        limited = await office.credentials.set_limits(office.staff, made, limits)
        assert isinstance(limited, Credential)
        return Kept.CREDENTIAL, limited.client_id

    return write


async def _deciding_where_a_credential_is_used(office: Registers) -> Writer:
    made = (await office.issue(COMPANY)).credential.client_id

    async def write() -> Record:
        rule = CallerRule(networks=("192.0.2.0/24",))
        decided = await office.credentials.set_callers(office.staff, made, rule)
        assert isinstance(decided, Credential)
        return Kept.CREDENTIAL, decided.client_id

    return write


async def _registering_a_public_key(office: Registers) -> Writer:
    made = (await office.issue(COMPANY)).credential.client_id
    keys = PublicKeys(office.credentials)

    async def write() -> Record:
        key = PublicKeyBody("MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=")
        registered = await keys.add(office.staff, made, key)
        assert isinstance(registered, Credential)
        return Kept.CREDENTIAL, registered.client_id

    return write


async def _adding_a_stop(office: Registers) -> Writer:
    async def write() -> Record:
        await stop_payouts(office)
        return Kept.STOP, ""

    return write


async def _lifting_a_stop(office: Registers) -> Writer:
    made = await stop_payouts(office)

    async def write() -> Record:
        await lift(office, made.id)
        return Kept.STOP, ""

    return write


async def _adding_a_signing_key(office: Registers) -> Writer:
    identity_world = identity_world_on(office.store, Clock())

    async def write() -> Record:
        made = await identity_world.services.signing_keys.rotate("cli", at_once=True)
        identity_world.hasher.close()
        return Kept.SIGNING_KEY, made.id

    return write


async def _retiring_a_signing_key(office: Registers) -> Writer:
    identity_world = identity_world_on(office.store, Clock())
    made = [
        await identity_world.services.signing_keys.rotate("cli", at_once=True) for _ in range(2)
    ]

    async def write() -> Record:
        await identity_world.services.signing_keys.retire("cli", made[0].id, at_once=True)
        identity_world.hasher.close()
        return Kept.SIGNING_KEY, made[0].id

    return write


WRITERS: Mapping[str, Callable[[Registers], Awaitable[Writer]]] = {
    "StoredAccounts.add": _adding_an_account,
    "StoredAccounts.replace": _replacing_an_account,
    "StoredCredentials.add": _adding_a_credential,
    "StoredCredentials.rotate": _rotating_a_credential,
    "StoredCredentials.revoke": _revoking_a_credential,
    "StoredCredentials.set_limits": _limiting_a_credential,
    "StoredCredentials.set_callers": _deciding_where_a_credential_is_used,
    "StoredCredentials.set_public_keys": _registering_a_public_key,
    "Stops.create": _adding_a_stop,
    "Stops.lift": _lifting_a_stop,
    "StoredSigningKeys.add": _adding_a_signing_key,
    "StoredSigningKeys.retire": _retiring_a_signing_key,
}

"""A company whose people sign in at a provider of their own."""

from collections.abc import AsyncIterator

import pytest

from gateway.app.store import Store
from gateway.config.identity import Identity
from gateway.config.settings import Events, Settings
from tests.unit.gateway.single_sign_on.world import SignOnWorld, world_of
from tests.world.identity import identity_world_on
from tests.world.issuer import issuing
from tests.world.standing import Clock

SETTINGS = Settings(
    identity=Identity(origin="https://pix.example"), events=Events(allow_local=True)
)


@pytest.fixture
async def sign_on_world(store: Store) -> AsyncIterator[SignOnWorld]:
    clock = Clock()
    identity = identity_world_on(store, clock, SETTINGS)
    await identity.services.signing_keys.ensure()
    async with issuing(clock.now) as issuer:
        made = world_of(identity, issuer)
        await made.set()
        yield made
        await made.sign_on.issuers.close()
    identity.hasher.close()

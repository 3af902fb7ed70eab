"""Every operation of identity."""

from dataclasses import fields
from functools import partial

from gateway.companies.service import known_company
from gateway.identity.services import IdentityServices, build_identity_services


async def test_every_operation_works_on_the_same_parts(identity_world):
    services = build_identity_services(
        identity_world.context,
        partial(known_company, identity_world.store.database),
    )

    assert isinstance(services, IdentityServices)
    assert {
        getattr(services, each.name).context
        for each in fields(services)
        if each.name != "signing_keys"
    } == {identity_world.context}

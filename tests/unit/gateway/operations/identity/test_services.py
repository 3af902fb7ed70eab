"""Every operation of identity."""

from dataclasses import fields

from gateway.operations.identity.services import IdentityServices, build_identity_services


async def test_every_operation_works_on_the_same_parts(door):
    services = build_identity_services(
        door.context, door.store.companies, door.services.signing_keys.new_key
    )

    assert isinstance(services, IdentityServices)
    assert {getattr(services, each.name).context for each in fields(services)} == {door.context}

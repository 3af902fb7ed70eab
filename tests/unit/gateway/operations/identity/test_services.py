"""Every operation of identity."""

from dataclasses import fields

from gateway.operations.identity.services import IdentityDesk, identity_desk


async def test_every_operation_works_on_the_same_parts(door):
    desk = identity_desk(door.parts, door.store.companies, door.desk.keys.new_key)

    assert isinstance(desk, IdentityDesk)
    assert {getattr(desk, each.name).parts for each in fields(desk)} == {door.parts}

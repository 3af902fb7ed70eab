"""Every operation of identity."""


async def test_every_operation_works_on_the_same_parts(identity_world):
    operations = {**vars(identity_world.services)}
    for other in ("context", "keyring", "signing_keys"):
        del operations[other]

    assert {each.context for each in operations.values()} == {identity_world.context}

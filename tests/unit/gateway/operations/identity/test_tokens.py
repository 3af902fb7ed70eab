"""Sessions begun and tokens issued."""

from datetime import timedelta

from gateway.operations.identity.tokens import TokenIssuer
from tests.unit.door import HOME


async def test_an_access_token_never_outlives_its_session(door, maria):
    came = await door.comes_in()
    door.clock.passes(28_800 - 60)

    tokens = await door.desk.refreshing.refresh(came.tokens.refresh_token)

    assert tokens.expires_at == came.tokens.refresh_expires_at
    assert tokens.refresh_expires_at == came.tokens.refresh_expires_at


async def test_a_session_is_never_older_than_its_person_whatever_another_clock_said(door, maria):
    """Otherwise who changed the password on a node that is ahead could not sign in here."""
    door.clock.passes(-2)

    came = await TokenIssuer(door.parts).begin(maria, HOME, None)

    assert await door.who(came)
    session, _ = await door.store.identity.sessions.find(came.tokens.session_id)
    assert session.created_at == maria.updated_at
    assert session.ends_at == door.clock.now() + timedelta(hours=8)


async def test_no_token_is_kept(door, maria):
    came = await door.comes_in()

    async with door.store.database.reading() as connection:
        dump = "\n".join([line async for line in _lines(await connection.get_raw_connection())])

    assert came.tokens.session_id in dump
    assert came.tokens.refresh_token not in dump
    assert came.tokens.access_token not in dump


async def _lines(connection):
    async for line in connection.driver_connection.iterdump():
        yield line

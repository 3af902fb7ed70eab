"""Uses of secrets are written down once a minute, without asking the store in between."""

from datetime import timedelta

import pytest
from sqlalchemy import event as on

from gateway.app.store import Store
from gateway.core.storage import StoreUnavailable
from tests.world.stores.samples import CLIENT, NOW, credential, event, secret


@pytest.fixture
async def issued(store: Store) -> Store:
    await store.credentials.add(credential(), event())
    return store


@pytest.fixture
def updates(issued: Store) -> list[str]:
    """Every UPDATE from now on."""
    seen: list[str] = []

    def note(_connection, _cursor, statement, *_rest) -> None:
        if statement.startswith("UPDATE"):
            seen.append(statement)

    on.listen(issued.database.writer.sync_engine, "before_cursor_execute", note)
    return seen


async def test_uses_within_a_minute_are_one_write(issued: Store, updates: list[str]) -> None:
    for second in range(44):
        await issued.credentials.touch(CLIENT, secret().digest, NOW + timedelta(seconds=second))

    assert len(updates) == 1


async def test_a_use_in_the_next_minute_is_written(issued: Store, updates: list[str]) -> None:
    later = NOW + timedelta(seconds=45)
    await issued.credentials.touch(CLIENT, secret().digest, NOW)
    await issued.credentials.touch(CLIENT, secret().digest, later)

    found = await issued.credentials.find(CLIENT)

    assert len(updates) == 2
    assert found is not None
    assert found.secrets[0].last_used_at == later.replace(second=0, microsecond=0)


async def test_a_use_of_another_secret_is_written(issued: Store, updates: list[str]) -> None:
    await issued.credentials.touch(CLIENT, secret().digest, NOW)
    await issued.credentials.touch(CLIENT, b"o" * 32, NOW)

    assert len(updates) == 2


async def test_a_use_that_could_not_be_written_is_tried_again(issued: Store) -> None:
    async with issued.database.writing() as connection:
        await connection.exec_driver_sql("ALTER TABLE credential_secrets RENAME TO away")
    with pytest.raises(StoreUnavailable):
        await issued.credentials.touch(CLIENT, secret().digest, NOW)
    async with issued.database.writing() as connection:
        await connection.exec_driver_sql("ALTER TABLE away RENAME TO credential_secrets")

    await issued.credentials.touch(CLIENT, secret().digest, NOW)

    found = await issued.credentials.find(CLIENT)
    assert found is not None
    assert found.secrets[0].last_used_at is not None

"""What commands about people work on."""

from gateway.cli.console import Terminal
from gateway.cli.people_desk import opened_people
from tests.shell import CONFIG


async def test_the_desk_is_open_for_the_length_of_the_block(tmp_path, monkeypatch):
    monkeypatch.setenv("PIXGATE_VAR", str(tmp_path))

    async with opened_people(Terminal(config=CONFIG, as_json=False)) as people:
        assert await people.services.users.list() == []

    assert people.hasher._pool._shutdown

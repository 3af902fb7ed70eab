"""Somebody else's sign-ins."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.domain.errors import ServiceError
from gateway.operations.identity.others import OthersSessions
from tests import registers
from tests.unit.door import door_of
from tests.unit.standing import Clock


async def test_a_sign_in_that_is_ended_opens_nothing(tmp_path: Path):
    """At once, whatever was remembered of its tokens, and under the name of who ended it."""
    async with registers.opened(tmp_path) as office:
        door = door_of(office.store, Clock())
        await door.desk.keys.ensure()
        maria = await door.person()
        one, other = await door.comes_in(), await door.comes_in()
        others = OthersSessions(door.parts)
        await door.who(one)
        session = next(
            each for each in await others.list(maria.id) if each.id == one.person.session_id
        )

        ended = await others.end("user:ana@example.com", session)

        assert ended
        assert not await others.end("user:ana@example.com", session)
        with pytest.raises(ServiceError):
            await door.who(one)
        assert (await door.who(other)).user_id == maria.id
        ends = [each for each in await office.acts() if each.action == "session.ended"]
        assert [each.actor for each in ends] == ["user:ana@example.com"]
        door.hasher.close()

"""When secrets were last used."""

import asyncio
from datetime import datetime

import pytest

from gateway.app.kept_records import LastUses
from gateway.core.storage import StoreUnavailable
from tests.world.leaping import leaping
from tests.world.standing import NOON

HERE, ELSEWHERE = "192.0.2.1", "198.51.100.1"
AWAY = StoreUnavailable("away")


class Register:
    """Records reported uses, unless it is unavailable."""

    def __init__(self) -> None:
        self.touched: list[tuple[str, bytes, datetime]] = []
        self.addresses: dict[tuple[str, str], bool] = {}
        self.away = False

    async def touch(self, client_id: str, digest: bytes, at: datetime) -> None:
        if self.away:
            raise AWAY
        self.touched.append((client_id, digest, at))

    async def touch_address(
        self, client_id: str, address: str, at: datetime, *, is_refused: bool
    ) -> None:
        assert at == NOON
        self.addresses[client_id, address] = is_refused


def uses(register: Register) -> LastUses:
    return LastUses(register, lambda: NOON)  # type: ignore[arg-type]


async def test_last_uses_are_written_once_at_the_end():
    register = Register()
    noted = uses(register)
    noted.task.start()

    for _ in range(3):
        noted.note("cli_a", b"digest", HERE)
    await noted.task.stop()

    assert register.touched == [("cli_a", b"digest", NOON)]


async def test_addresses_are_written_with_whether_they_were_refused():
    register = Register()
    noted = uses(register)

    for address in (HERE, ELSEWHERE):
        noted.note("cli_a", b"digest", address)
    noted.refused("cli_a", ELSEWHERE)
    await noted.write()

    assert register.addresses == {("cli_a", HERE): False, ("cli_a", ELSEWHERE): True}


async def test_a_credential_used_from_many_addresses_takes_bounded_memory():
    register = Register()
    noted = uses(register)

    for number in range(2_000):
        noted.note("cli_a", b"digest", f"10.0.{number >> 8}.{number & 255}")
        noted.refused("cli_a", f"10.0.{number >> 8}.{number & 255}")
    await noted.write()

    assert len(register.addresses) == 1_000


@leaping
async def test_last_uses_are_written_periodically():
    """Writing with the request would cost a write for every read."""
    register = Register()
    noted = uses(register)
    noted.task.start()

    noted.note("cli_a", b"digest", HERE)
    before = list(register.touched)
    await asyncio.sleep(5.1)
    during = list(register.touched)
    await noted.task.stop()

    assert (before, len(during), len(register.touched)) == ([], 1, 1)


@leaping
async def test_last_uses_lost_to_an_unavailable_store_are_dropped(caplog: pytest.LogCaptureFixture):
    """A lost use does no harm; the next one is written."""
    register = Register()
    register.away = True
    noted = uses(register)
    noted.task.start()
    noted.note("cli_a", b"digest", HERE)
    await asyncio.sleep(5.1)

    register.away = False
    noted.note("cli_b", b"digest", HERE)
    await noted.task.stop()

    assert [each[0] for each in register.touched] == ["cli_b"]
    assert "last use not stored" in caplog.text


async def test_a_task_never_started_can_be_stopped():
    register = Register()

    await uses(register).task.stop()

    assert register.touched == []

"""Name look-ups: caching, the order of servers, and what is used without an answer."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator, Sequence

import pytest

from gateway.net.common import names
from gateway.net.common.names import HostNames, in_turns, system_look_up
from tests.world.waiting import settle, until

GOOD = ("192.0.2.1",)
NO_NAME = socket.gaierror(-3, "try again")


class Server:
    """A name server as a test wants it; it hangs while ``hangs`` is set."""

    def __init__(self, *says: Sequence[str] | Exception) -> None:
        self.says = list(says)
        self.asked = 0
        self.hanging = threading.Event()
        self.hanging.set()

    def __call__(self, host: str) -> Sequence[str]:
        self.asked += 1
        says = self.says.pop(0) if len(self.says) > 1 else self.says[0]
        self.hanging.wait()
        if isinstance(says, Exception):
            raise says
        return says


@pytest.fixture
def failed() -> list[None]:
    return []


@pytest.fixture(autouse=True)
def patient() -> Iterator[None]:
    """However late a thread is, its answer is in time and then fresh."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(names, "LOOK_UP_S", 600.0)
        patched.setattr(names, "KEPT_S", 1_000.0)
        patched.setattr(names, "GOOD_S", 60_000.0)
        yield


async def looked_up_in_vain(known: HostNames) -> None:
    """Have a look-up end after a moment."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(names, "LOOK_UP_S", 0.05)
        with pytest.raises(TimeoutError):
            await known.of("bank").addresses()


def known_by(server: Server, failed: list[None]) -> HostNames:
    return HostNames(lambda: failed.append(None), server)


def grown_old(known: HostNames, seconds: float) -> None:
    """Let time pass, for what is known of the bank's name."""
    name = known._names["bank"]
    name._fresh_until -= seconds
    name._good_until -= seconds


async def test_resolved_addresses_are_cached(failed):
    server = Server(GOOD)
    known = known_by(server, failed)

    for _ in range(3):
        assert await known.of("bank").addresses() == GOOD
    grown_old(known, names.KEPT_S)
    await known.of("bank").addresses()
    await known.of("other").addresses()

    assert server.asked == 3
    assert failed == []


async def test_concurrent_callers_share_one_look_up(failed):
    server = Server(GOOD)
    known = known_by(server, failed)

    found = await asyncio.gather(*(known.of("bank").addresses() for _ in range(64)))

    assert set(found) == {GOOD}
    assert server.asked == 1


async def test_a_name_without_an_answer_is_looked_up_again(failed):
    server = Server(GOOD, ("192.0.2.2",))
    known = known_by(server, failed)

    await known.of("bank").addresses()
    known.of("bank").look_again()
    known.of("never asked for").look_again()

    assert await known.of("bank").addresses() == ("192.0.2.2",)


@pytest.mark.parametrize("problem", [NO_NAME, UnicodeError("label too long"), ()])
async def test_the_last_good_addresses_are_used_for_a_limited_time(failed, problem):
    server = Server(GOOD, problem)
    known = known_by(server, failed)
    await known.of("bank").addresses()

    grown_old(known, names.KEPT_S)
    assert await known.of("bank").addresses() == GOOD
    assert await known.of("bank").addresses() == GOOD  # nobody is asked until it is old again

    assert (server.asked, len(failed)) == (2, 1)
    grown_old(known, names.GOOD_S)
    with pytest.raises((OSError, ValueError)):
        await known.of("bank").addresses()
    assert len(failed) == 2


async def test_a_hanging_look_up_times_out_for_every_caller(
    failed, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(names, "LOOK_UP_S", 0.05)
    server = Server(GOOD)
    server.hanging.clear()
    known = known_by(server, failed)

    asking = [known.of("bank").addresses() for _ in range(64)]
    found = await asyncio.gather(*asking, return_exceptions=True)

    assert {type(each) for each in found} == {TimeoutError}
    assert len(failed) == 1  # one look-up, however many waited
    server.hanging.set()


async def test_at_most_two_threads_hang_and_a_late_answer_is_used(failed):
    server = Server(GOOD)
    server.hanging.clear()
    known = known_by(server, failed)
    for _ in range(4):
        await looked_up_in_vain(known)
    await until(lambda: server.asked == 2)
    assert len(failed) == 4

    server.hanging.set()

    assert await known.of("bank").addresses() == GOOD


async def test_a_hanging_name_does_not_delay_another(failed):
    server = Server(GOOD)
    known = known_by(server, failed)
    server.hanging.clear()
    await looked_up_in_vain(known)
    other = asyncio.ensure_future(known.of("other").addresses())
    await until(lambda: server.asked == 2)
    server.hanging.set()

    assert await other == GOOD


async def test_a_waiting_caller_is_served_after_hanging_threads_end(failed):
    server = Server(NO_NAME, NO_NAME, GOOD)
    server.hanging.clear()
    known = known_by(server, failed)
    for _ in range(2):
        await looked_up_in_vain(known)

    waiting = asyncio.ensure_future(known.of("bank").addresses())
    await settle()
    server.hanging.set()

    assert await waiting == GOOD


async def test_a_cancelled_caller_does_not_affect_the_others(failed):
    server = Server(GOOD)
    server.hanging.clear()
    known = known_by(server, failed)
    waiting, given_up = (asyncio.ensure_future(known.of("bank").addresses()) for _ in range(2))
    await settle()

    given_up.cancel()
    await settle()
    server.hanging.set()

    assert await waiting == GOOD


async def test_a_look_up_without_a_new_thread_fails(failed, monkeypatch: pytest.MonkeyPatch):
    def start(_: threading.Thread) -> None:
        problem = "can't start new thread"
        raise RuntimeError(problem)

    monkeypatch.setattr(threading.Thread, "start", start)

    with pytest.raises(OSError):  # noqa: PT011 - it says no more
        await known_by(Server(GOOD), failed).of("bank").addresses()
    assert len(failed) == 1


def test_a_look_up_that_ends_after_its_loop_is_ignored():
    server = Server(GOOD)
    server.hanging.clear()
    known = HostNames(look_up=server)

    async def give_up() -> None:
        waiting = asyncio.ensure_future(known.of("bank").addresses())
        await until(lambda: server.asked)
        waiting.cancel()

    asyncio.run(give_up())
    thread = next(each for each in threading.enumerate() if each.name == "names")
    server.hanging.set()
    thread.join()


def test_the_system_resolves_localhost():
    assert "127.0.0.1" in system_look_up("localhost")


def test_address_families_alternate():
    expected = [
        ([], ()),
        (["a", "a", "b"], ("a", "b")),
        (["::1", "::2", "::3", "a", "b"], ("::1", "a", "::2", "b", "::3")),
        (["a", "b", "::1"], ("a", "::1", "b")),
        (["a", "::1", "::2", "::3"], ("a", "::1", "::2", "::3")),
    ]

    assert [(hosts, in_turns(hosts)) for hosts, _ in expected] == expected

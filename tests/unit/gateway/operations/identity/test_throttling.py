"""Throttling and lockouts."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.domain.identity.attempt_limits import (
    AttemptLimit,
)
from gateway.domain.identity.browsers import KnownBrowser
from gateway.domain.kernel.errors import ServiceError
from gateway.operations.identity.ports import ClientInfo
from gateway.operations.identity.throttling import (
    Lockout,
    Lockouts,
    Throttle,
    factor_key,
    network,
    password_keys,
)
from gateway.operations.identity.tokens import SignedIn
from gateway.security.identity.passwords import PasswordHasher, PoolSize
from gateway.security.identity.phc import Cost
from tests.unit.door import ELSEWHERE, EMAIL, HOME, PASSWORD

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("address", "known"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("unix", "unix"),
    ],
)
def test_one_household_is_one_network(address: str, known: str):
    """Or who has a network of IPv6 would have as many tries as it has addresses."""
    assert network(address) == known


async def login(
    door, email: str = EMAIL, password: str = "wrong", client: ClientInfo = HOME
) -> str:
    try:
        answer = await door.services.sign_in.login(email, password, client)
    except ServiceError as problem:
        return f"{problem.error.status} {problem.headers.get('Retry-After', '')}".strip()
    assert isinstance(answer, SignedIn)
    return "in"


def at(number: int) -> ClientInfo:
    return ClientInfo(address=f"203.0.113.{number}")


@pytest.mark.parametrize("email", [EMAIL, "nobody@example.com"])
async def test_five_wrong_passwords_make_one_wait_and_unknown_people_too(door, maria, email: str):
    answers = [await login(door, email) for _ in range(6)]

    assert answers == ["401"] * 5 + ["429 30"]


async def test_the_wait_doubles_and_the_right_password_waits_too(door, maria):
    waits = []
    for _ in range(3):
        for _ in range(5):
            assert await login(door, client=HOME) == "401"
        waits.append(await login(door, password=PASSWORD))
        door.clock.passes(int(waits[-1].split()[1]) + 300)

    assert waits == ["429 30", "429 60", "429 120"]
    assert await login(door, password=PASSWORD) == "in"


async def test_another_address_is_not_made_to_wait(door, maria):
    """Otherwise anybody could shut a person out by their name."""
    for _ in range(6):
        await login(door)

    assert await login(door, password=PASSWORD, client=ELSEWHERE) == "in"


async def test_the_right_password_begins_anew(door, maria):
    for _ in range(3):
        for _ in range(4):
            await login(door)
        assert await login(door, password=PASSWORD) == "in"


async def test_thirty_passwords_from_one_address_are_too_many_whoever_is_tried(door):
    answers = [await login(door, f"p{number}@example.com") for number in range(30)]

    assert answers == ["401"] * 20 + ["429 300"] * 10


async def test_right_passwords_do_not_count_for_the_address(door, maria):
    """An office signs in from one address in the morning."""
    assert [await login(door, password=PASSWORD) for _ in range(25)] == ["in"] * 25


async def test_many_at_once_are_not_more_than_allowed(door, maria):
    """Counted before they are looked at."""
    answers = await asyncio.gather(*(login(door) for _ in range(12)))

    assert sorted(answers) == ["401"] * 5 + ["429 30"] * 7


async def test_one_account_tried_from_everywhere_is_held_but_not_shut(door, maria):
    for number in range(50):
        assert await login(door, client=at(number)) == "401"
    assert door.paused == []

    assert await login(door, password=PASSWORD, client=at(51)) == "in"

    assert door.paused == [5.0]


async def test_a_hundred_in_a_row_leave_the_reset_alone(door, maria):
    for number in range(100):
        assert await login(door, client=at(number)) == "401"
    assert await login(door, password=PASSWORD, client=at(101)) == "429 900"
    door.clock.passes(86_400)
    assert await login(door, password=PASSWORD, client=at(101)) == "429 900"

    await door.forgets(EMAIL, HOME)
    await door.services.passwords.reset(await door.link(), "outra frase bem comprida", HOME)

    assert await login(door, password="outra frase bem comprida", client=at(101)) == "in"


async def test_a_try_we_were_too_busy_for_does_not_count(door, maria):
    busy = PasswordHasher({"p": b"p" * 32}, Cost(kib=64, passes=1), PoolSize(threads=1, waiting=-1))
    crypto = replace(door.context.crypto, hashing=busy)
    signing_in = replace(door.services.sign_in, context=replace(door.context, crypto=crypto))
    for _ in range(8):
        with pytest.raises(ServiceError) as refused:
            await signing_in.login(EMAIL, PASSWORD, HOME)
        assert refused.value.reason == "hashing_busy"

    assert [await login(door) for _ in range(5)] == ["401"] * 5
    busy.close()


async def test_what_is_counted_names_nobody(door, maria):
    await login(door)

    async with door.store.database.reading() as connection:
        raw = await connection.get_raw_connection()
        dump = "\n".join([line async for line in raw.driver_connection.iterdump()])

    counted = [line for line in dump.splitlines() if "account_ip:" in line]
    assert len(counted) == 1
    assert EMAIL not in counted[0]
    assert HOME.address not in counted[0]


async def test_who_is_refused_is_told_to_the_security_log(door, maria):
    for _ in range(6):
        await login(door)

    assert ("authn_login_lock", maria.id) in door.noticed
    assert door.noticed.count(("authn_login_fail", maria.id)) == 5


def known(user, number: int = 1) -> ClientInfo:
    """A browser in which somebody has signed in before, at the address that strangers use too."""
    return replace(HOME, known=KnownBrowser(user_id=user.id, id=f"{number:032}"))


async def guessed(door, times: int) -> None:
    """Have strangers guess from everywhere until the account is shut for others."""
    for number in range(times):
        await login(door, client=at(number))
        door.clock.passes(1)


async def test_strangers_guesses_do_not_shut_a_known_browser_out(door, maria):
    """Neither slower nor refused, from the very address of one of them."""
    await guessed(door, 100)
    for _ in range(5):
        await login(door)
    door.paused.clear()

    assert await login(door, password=PASSWORD, client=ELSEWHERE) == "429 900"
    assert await login(door, password=PASSWORD, client=known(maria)) == "in"
    assert door.paused == []


async def test_a_stolen_device_cookie_has_ten_guesses_an_hour(door, maria):
    """Then it is a browser like any other; nothing that it does shuts another one out."""
    answers = [await login(door, client=known(maria)) for _ in range(16)]

    assert answers == ["401"] * 15 + ["429 30"]
    assert await login(door, password=PASSWORD, client=known(maria, 2)) == "in"
    door.clock.passes(3600)
    assert await login(door, password=PASSWORD, client=known(maria)) == "in"


async def test_the_right_password_in_a_known_browser_begins_anew(door, maria):
    for _ in range(3):
        for _ in range(9):
            assert await login(door, client=known(maria)) == "401"
        assert await login(door, password=PASSWORD, client=known(maria)) == "in"


async def test_a_device_cookie_of_somebody_else_gives_nothing(door, maria):
    joao = await door.person("joao@example.com")
    await guessed(door, 100)

    assert await login(door, password=PASSWORD, client=known(joao)) == "429 900"
    assert [await login(door, "p@example.com", client=known(joao)) for _ in range(6)] == [
        *["401"] * 5,
        "429 30",
    ]


async def test_who_is_shut_out_is_told_that_a_reset_helps(door, maria):
    """In the same words for nobody."""
    said = {}
    for email in (EMAIL, "nobody@example.com"):
        for number in range(100):
            await login(door, email, client=at(number))
            door.clock.passes(1)
        with pytest.raises(ServiceError) as refused:
            await door.services.sign_in.login(email, PASSWORD, ELSEWHERE)
        said[email] = (refused.value.reason, refused.value.detail)

    assert said[EMAIL] == said["nobody@example.com"]
    assert said[EMAIL][0] == "consecutive"
    assert "reset the password" in said[EMAIL][1]


FOR_GOOD = timedelta(days=3650)


async def shut(door, key: str, lasts: timedelta) -> None:
    """Count once where once is too often."""
    limit = AttemptLimit(most=1, window=timedelta(hours=1), block=lambda _: lasts)
    now = door.clock.now()
    await door.context.stores.failures.change(key, lambda before: limit.next(before, key, now))


async def test_nobody_is_locked_out_who_was_never_wrong(door, maria):
    assert await Lockouts(door.context).of([maria]) == {}
    assert await Lockouts(door.context).of([]) == {}


async def test_a_lock_that_opens_by_itself_is_told_with_its_end(door, maria):
    lasts = timedelta(minutes=5)
    await shut(door, factor_key(maria.id), lasts)

    locked = await Lockouts(door.context).of([maria])
    door.clock.passes(lasts.total_seconds())
    after = await Lockouts(door.context).of([maria])

    assert locked == {maria.id: Lockout(door.clock.now())}
    assert after == {}


async def test_a_lock_for_good_has_no_end_and_wins(door, maria):
    await shut(door, factor_key(maria.id), timedelta(minutes=5))
    await shut(door, password_keys(EMAIL)[0], FOR_GOOD)

    assert await Lockouts(door.context).of([maria]) == {maria.id: Lockout(None)}


async def test_who_is_let_in_again_may_try_again(door, maria):
    await shut(door, password_keys(EMAIL)[0], FOR_GOOD)
    await shut(door, factor_key(maria.id), timedelta(minutes=5))

    await Lockouts(door.context).lift("user:ana@example.com", maria)

    assert await Lockouts(door.context).of([maria]) == {}
    await Throttle(door.context).factor(maria.id)

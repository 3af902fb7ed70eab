"""Throttling and lockouts."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.core.browsers import ClientInfo, KnownBrowser
from gateway.core.errors import ServiceError
from gateway.identity.model import Failures
from gateway.identity.passwords import Cost, PasswordHasher, PoolSize
from gateway.identity.sessions import SignedIn
from gateway.identity.throttling import (
    REMEMBERED,
    AttemptLimit,
    Lockout,
    Lockouts,
    Throttle,
    blocked_for,
    doubling_blocks,
    factor_key,
    password_keys,
    undo_attempt,
)
from tests.world.identity import ELSEWHERE, EMAIL, HOME, PASSWORD
from tests.world.standing import NOON

pytestmark = pytest.mark.slow


async def login(
    identity_world, email: str = EMAIL, password: str = "wrong", client: ClientInfo = HOME
) -> str:
    try:
        answer = await identity_world.services.sign_in.login(email, password, client)
    except ServiceError as problem:
        return f"{problem.error.status} {problem.headers.get('Retry-After', '')}".strip()
    assert isinstance(answer, SignedIn)
    return "in"


def at(number: int) -> ClientInfo:
    return ClientInfo(address=f"203.0.113.{number}")


@pytest.mark.parametrize("email", [EMAIL, "nobody@example.com"])
async def test_the_sixth_wrong_password_is_throttled_for_known_and_unknown_users(
    identity_world, maria, email: str
):
    answers = [await login(identity_world, email) for _ in range(6)]

    assert answers == ["401"] * 5 + ["429 30"]


async def test_each_throttle_doubles_and_blocks_the_right_password(identity_world, maria):
    waits = []
    for _ in range(3):
        for _ in range(5):
            assert await login(identity_world, client=HOME) == "401"
        waits.append(await login(identity_world, password=PASSWORD))
        identity_world.clock.passes(int(waits[-1].split()[1]) + 300)

    assert waits == ["429 30", "429 60", "429 120"]
    assert await login(identity_world, password=PASSWORD) == "in"


async def test_a_user_throttled_at_one_address_signs_in_from_another(identity_world, maria):
    """Otherwise anybody could lock a user out by their address."""
    for _ in range(6):
        await login(identity_world)

    assert await login(identity_world, password=PASSWORD, client=ELSEWHERE) == "in"


async def test_the_right_password_resets_the_count(identity_world, maria):
    for _ in range(3):
        for _ in range(4):
            await login(identity_world)
        assert await login(identity_world, password=PASSWORD) == "in"


async def test_wrong_passwords_of_one_address_are_throttled_across_users(identity_world):
    answers = [await login(identity_world, f"p{number}@example.com") for number in range(30)]

    assert answers == ["401"] * 20 + ["429 300"] * 10


async def test_right_passwords_do_not_count_for_their_address(identity_world, maria):
    """An office signs in from one address in the morning."""
    assert [await login(identity_world, password=PASSWORD) for _ in range(25)] == ["in"] * 25


async def test_concurrent_guesses_are_limited_too(identity_world, maria):
    """They are counted before they are checked."""
    answers = await asyncio.gather(*(login(identity_world) for _ in range(12)))

    assert sorted(answers) == ["401"] * 5 + ["429 30"] * 7


async def test_guesses_from_many_addresses_slow_the_sign_in_and_do_not_block_it(
    identity_world, maria
):
    for number in range(50):
        assert await login(identity_world, client=at(number)) == "401"
    assert identity_world.pauses == []

    assert await login(identity_world, password=PASSWORD, client=at(51)) == "in"

    assert identity_world.pauses == [5.0]


async def test_a_hundred_guesses_lock_the_password_until_a_reset(identity_world, maria):
    for number in range(100):
        assert await login(identity_world, client=at(number)) == "401"
    assert await login(identity_world, password=PASSWORD, client=at(101)) == "429 900"
    identity_world.clock.passes(86_400)
    assert await login(identity_world, password=PASSWORD, client=at(101)) == "429 900"

    await identity_world.request_reset(EMAIL, HOME)
    await identity_world.services.passwords.reset(
        await identity_world.link(), "outra frase bem comprida", HOME
    )

    assert await login(identity_world, password="outra frase bem comprida", client=at(101)) == "in"


async def test_a_try_refused_by_a_busy_hasher_is_not_counted(identity_world, maria):
    busy = PasswordHasher({"p": b"p" * 32}, Cost(kib=64, passes=1), PoolSize(threads=1, waiting=-1))
    crypto = replace(identity_world.context.crypto, hashing=busy)
    signing_in = replace(
        identity_world.services.sign_in, context=replace(identity_world.context, crypto=crypto)
    )
    for _ in range(8):
        with pytest.raises(ServiceError) as refused:
            await signing_in.login(EMAIL, PASSWORD, HOME)
        assert refused.value.reason == "hashing_busy"

    assert [await login(identity_world) for _ in range(5)] == ["401"] * 5
    busy.close()


async def test_a_known_browser_signs_in_while_strangers_fill_the_hasher(identity_world, maria):
    """When all their places are taken, the store is not asked; a known browser is served."""
    full = PasswordHasher({"p": b"p" * 32}, Cost(kib=64, passes=1), PoolSize(strangers=0))
    crypto = replace(identity_world.context.crypto, hashing=full)
    context = replace(identity_world.context, crypto=crypto)
    signing_in = replace(identity_world.services.sign_in, context=context)
    known = replace(HOME, known=KnownBrowser(user_id=maria.id, id="b"))

    with pytest.raises(ServiceError) as refused:
        await signing_in.login(EMAIL, PASSWORD, HOME)
    with pytest.raises(ServiceError) as wrong:
        await signing_in.login(EMAIL, "wrong", known)
    full.close()

    assert (refused.value.reason, wrong.value.reason) == ("hashing_busy", "password")
    assert await identity_world.context.stores.failures.find(password_keys(EMAIL)) == []


async def test_a_stranger_s_slot_is_released_after_a_refusal(identity_world, maria):
    few = PasswordHasher({"p": b"p" * 32}, Cost(kib=64, passes=1), PoolSize(strangers=1))
    crypto = replace(identity_world.context.crypto, hashing=few)
    context = replace(identity_world.context, crypto=crypto)
    signing_in = replace(identity_world.services.sign_in, context=context)

    reasons = []
    for _ in range(8):
        with pytest.raises(ServiceError) as refused:
            await signing_in.login(EMAIL, "wrong", HOME)
        reasons.append(refused.value.reason)
    few.close()

    assert set(reasons) == {"password", "account_ip"}


async def test_counters_hold_no_name_or_address(identity_world, maria):
    await login(identity_world)

    async with identity_world.store.database.reading() as connection:
        raw = await connection.get_raw_connection()
        dump = "\n".join([line async for line in raw.driver_connection.iterdump()])

    counted = [line for line in dump.splitlines() if "account_ip:" in line]
    assert len(counted) == 1
    assert EMAIL not in counted[0]
    assert HOME.address not in counted[0]


async def test_a_refusal_is_in_the_security_log(identity_world, maria):
    for _ in range(6):
        await login(identity_world)

    assert ("authn_login_lock", maria.id) in identity_world.security_events
    assert identity_world.security_events.count(("authn_login_fail", maria.id)) == 5


def known(user, number: int = 1) -> ClientInfo:
    """A browser with an earlier sign-in, at an address that strangers share."""
    return replace(HOME, known=KnownBrowser(user_id=user.id, id=f"{number:032}"))


async def guessed(identity_world, times: int) -> None:
    """Have strangers guess from everywhere until the account is shut for others."""
    for number in range(times):
        await login(identity_world, client=at(number))
        identity_world.clock.passes(1)


async def test_guesses_by_strangers_do_not_block_a_known_browser(identity_world, maria):
    """Neither slowed nor refused, even at the address of the guesses."""
    await guessed(identity_world, 100)
    for _ in range(5):
        await login(identity_world)
    identity_world.pauses.clear()

    assert await login(identity_world, password=PASSWORD, client=ELSEWHERE) == "429 900"
    assert await login(identity_world, password=PASSWORD, client=known(maria)) == "in"
    assert identity_world.pauses == []


async def test_a_stolen_device_cookie_allows_ten_guesses_an_hour(identity_world, maria):
    """Then it counts like any other browser, and blocks no other one."""
    answers = [await login(identity_world, client=known(maria)) for _ in range(16)]

    assert answers == ["401"] * 15 + ["429 30"]
    assert await login(identity_world, password=PASSWORD, client=known(maria, 2)) == "in"
    identity_world.clock.passes(3600)
    assert await login(identity_world, password=PASSWORD, client=known(maria)) == "in"


async def test_the_right_password_in_a_known_browser_resets_its_count(identity_world, maria):
    for _ in range(3):
        for _ in range(9):
            assert await login(identity_world, client=known(maria)) == "401"
        assert await login(identity_world, password=PASSWORD, client=known(maria)) == "in"


async def test_a_device_cookie_of_another_user_has_no_effect(identity_world, maria):
    joao = await identity_world.person("joao@example.com")
    await guessed(identity_world, 100)

    assert await login(identity_world, password=PASSWORD, client=known(joao)) == "429 900"
    assert [await login(identity_world, "p@example.com", client=known(joao)) for _ in range(6)] == [
        *["401"] * 5,
        "429 30",
    ]


async def test_a_locked_out_user_is_pointed_to_the_reset(identity_world, maria):
    """An unknown address gets the same answer."""
    said = {}
    for email in (EMAIL, "nobody@example.com"):
        for number in range(100):
            await login(identity_world, email, client=at(number))
            identity_world.clock.passes(1)
        with pytest.raises(ServiceError) as refused:
            await identity_world.services.sign_in.login(email, PASSWORD, ELSEWHERE)
        said[email] = (refused.value.reason, refused.value.detail)

    assert said[EMAIL] == said["nobody@example.com"]
    assert said[EMAIL][0] == "consecutive"
    assert "reset the password" in said[EMAIL][1]


FOR_GOOD = timedelta(days=3650)


async def shut(identity_world, key: str, lasts: timedelta) -> None:
    """Count once where once is too often."""
    limit = AttemptLimit(most=1, window=timedelta(hours=1), block=lambda _: lasts)
    now = identity_world.clock.now()
    await identity_world.context.stores.failures.change(
        [key], lambda before: {key: limit.next(before[key], key, now)}
    )


async def test_a_user_without_failures_is_not_locked_out(identity_world, maria):
    assert await Lockouts(identity_world.context).of([maria]) == {}
    assert await Lockouts(identity_world.context).of([]) == {}


async def test_a_temporary_lockout_is_shown_with_its_end(identity_world, maria):
    lasts = timedelta(minutes=5)
    await shut(identity_world, factor_key(maria.id), lasts)

    locked = await Lockouts(identity_world.context).of([maria])
    identity_world.clock.passes(lasts.total_seconds())
    after = await Lockouts(identity_world.context).of([maria])

    assert locked == {maria.id: Lockout(identity_world.clock.now())}
    assert after == {}


async def test_a_permanent_lockout_takes_precedence(identity_world, maria):
    await shut(identity_world, factor_key(maria.id), timedelta(minutes=5))
    await shut(identity_world, password_keys(EMAIL)[0], FOR_GOOD)

    assert await Lockouts(identity_world.context).of([maria]) == {maria.id: Lockout(None)}


async def test_a_lifted_lockout_allows_new_tries(identity_world, maria):
    await shut(identity_world, password_keys(EMAIL)[0], FOR_GOOD)
    await shut(identity_world, factor_key(maria.id), timedelta(minutes=5))

    await Lockouts(identity_world.context).lift("user:ana@example.com", maria)

    assert await Lockouts(identity_world.context).of([maria]) == {}
    await Throttle(identity_world.context).factor(maria.id)


SECOND = timedelta(seconds=1)
WINDOW = timedelta(minutes=15)
LIMIT = AttemptLimit(
    most=3, window=WINDOW, block=doubling_blocks(timedelta(seconds=30), timedelta(minutes=2))
)


def after(
    tries: int, before: Failures | None = None, limit: AttemptLimit = LIMIT, at=NOON
) -> Failures | None:
    for _ in range(tries):
        before = limit.next(before, "k", at)
    return before


def test_the_try_that_reaches_the_limit_blocks_the_next():
    two, three = after(2), after(3)

    assert two is not None
    assert three is not None
    assert blocked_for(two, NOON) == timedelta(0)
    assert blocked_for(three, NOON) == timedelta(seconds=30)


def test_an_active_block_is_not_extended():
    """Otherwise repeated attempts would extend somebody else's block for ever."""
    three = after(3)

    assert after(5, three, at=NOON + 29 * SECOND) == three


def test_each_block_is_twice_as_long_up_to_the_longest():
    failures, at, lengths = None, NOON, []
    for _ in range(4):
        failures = after(3, failures, at=at)
        assert failures is not None
        lengths.append(blocked_for(failures, at).total_seconds())
        at += blocked_for(failures, at)

    assert lengths == [30, 60, 120, 120]


def test_the_length_of_blocks_is_reset_after_a_day():
    failures = after(3, after(3), at=NOON + REMEMBERED)

    assert failures is not None
    assert blocked_for(failures, NOON + REMEMBERED) == timedelta(seconds=30)


def test_an_expired_window_resets_the_count():
    failures = after(2, after(2), at=NOON + WINDOW)

    assert failures is not None
    assert (failures.count, failures.blocked_until) == (2, None)


def test_without_a_length_a_block_lasts_until_the_window_ends():
    limit = AttemptLimit(most=3, window=WINDOW)

    failures = limit.next(after(2, limit=limit), "k", NOON + 60 * SECOND)

    assert blocked_for(failures, NOON + 60 * SECOND) == timedelta(minutes=14)


def test_undoing_an_attempt_removes_its_block():
    three = after(3)

    back = undo_attempt(three, "k", NOON)

    assert back == after(2)


def test_undoing_an_uncounted_failure_changes_nothing():
    assert undo_attempt(None, "k", NOON).count == 0
    assert undo_attempt(after(1), "k", NOON).count == 0

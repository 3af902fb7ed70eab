"""Who is locked out, and letting them in again."""

from __future__ import annotations

from datetime import timedelta

from gateway.operations.identity.limits import Limit
from gateway.operations.identity.lockouts import Lockout, Lockouts
from gateway.operations.identity.throttling import Throttle, factor_key, password_keys
from tests.unit.door import EMAIL

FOR_GOOD = timedelta(days=3650)


async def shut(door, key: str, lasts: timedelta) -> None:
    """Count once where once is too often."""
    limit = Limit(most=1, window=timedelta(hours=1), block=lambda _: lasts)
    now = door.clock.now()
    await door.parts.stored.failures.change(key, lambda before: limit.next(before, key, now))


async def test_nobody_is_locked_out_who_was_never_wrong(door, maria):
    assert await Lockouts(door.parts).of([maria]) == {}
    assert await Lockouts(door.parts).of([]) == {}


async def test_a_lock_that_opens_by_itself_is_told_with_its_end(door, maria):
    lasts = timedelta(minutes=5)
    await shut(door, factor_key(maria.id), lasts)

    locked = await Lockouts(door.parts).of([maria])
    door.clock.passes(lasts.total_seconds())
    after = await Lockouts(door.parts).of([maria])

    assert locked == {maria.id: Lockout(door.clock.now())}
    assert after == {}


async def test_a_lock_for_good_has_no_end_and_wins(door, maria):
    await shut(door, factor_key(maria.id), timedelta(minutes=5))
    await shut(door, password_keys(EMAIL)[0], FOR_GOOD)

    assert await Lockouts(door.parts).of([maria]) == {maria.id: Lockout(None)}


async def test_who_is_let_in_again_may_try_again(door, maria):
    await shut(door, password_keys(EMAIL)[0], FOR_GOOD)
    await shut(door, factor_key(maria.id), timedelta(minutes=5))

    await Lockouts(door.parts).lift("user:ana@example.com", maria)

    assert await Lockouts(door.parts).of([maria]) == {}
    await Throttle(door.parts).factor(maria.id)

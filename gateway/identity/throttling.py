"""
Throttling of passwords, codes and links: counted for all processes, for unknown users too.

A try is counted before it is checked and taken back when it was right, so that
parallel tries cannot exceed the limit. Keys hold digests, never an address in clear.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gateway.core.errors import ServiceError
from gateway.core.networks import network
from gateway.core.user import User
from gateway.core.user_errors import TOO_MANY_ATTEMPTS
from gateway.identity.context import IdentityContext
from gateway.identity.model import Failures

_HOUR = timedelta(hours=1)
_ACCOUNT_IP_WINDOW = timedelta(minutes=15)
_ADDRESS_WINDOW = timedelta(minutes=5)
_SHORTEST_BLOCK = timedelta(seconds=30)
LONGEST_BLOCK = timedelta(minutes=15)
# many addresses, one account: slowed down, so that its owner is not locked out
_DELAY = timedelta(seconds=5)
# ten years stand for a block that time does not end
_FOR_GOOD = timedelta(days=3650)
# tries per account are counted to delay them, and never block by themselves
_UNBOUNDED = 1_000_000_000
# 128 bits of SHA-256 in hexadecimal: no two keys collide by chance
_DIGEST_LENGTH = 32
_HELPS = {
    "account_ip": "too many wrong passwords; wait, or reset the password by a link",
    "consecutive": "too many wrong passwords; reset the password by a link, waiting does not help",
}
"""What helps besides waiting. The same text for users that do not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """
    A try of a password.

    Attributes:
        email: As typed, in lower case.
        browser: The id of a browser known for this user; otherwise empty.
        held_s: Seconds that its answer is held back for.
    """

    email: str
    address: str
    browser: str = ""
    held_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Throttle:
    """
    Allows tries, or refuses them with TOO_MANY_ATTEMPTS and ``Retry-After``.

    Attributes:
        user_id: The user whose account is tried; empty when there is none.
    """

    context: IdentityContext
    user_id: str = ""

    async def password(self, attempt: Attempt) -> Attempt:
        """
        Count a try of a password before it is checked.

        In a browser known for the user, only the tries in that browser count, until
        there are too many of them. Anywhere else, an account that is tried from
        everywhere is first answered some seconds late, and finally refused until the
        password is reset.

        Returns:
            The attempt as it was counted, for the calls that follow.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS.
        """
        if attempt.browser:
            if await self._has_room(attempt):
                return attempt
            attempt = replace(attempt, browser="")
        counted = await self._count(self._password_limits(attempt))
        limits = self.context.settings.throttles
        if counted[_key("account", attempt.email)].count > limits.account:
            return replace(attempt, held_s=_DELAY.total_seconds())
        return attempt

    async def password_accepted(self, attempt: Attempt) -> None:
        """Take back a try that was right, and reset the failures in a row."""
        in_a_row = _key("consecutive", attempt.email)
        if attempt.browser:
            await self._take_back(clear=[in_a_row, _key("device", attempt.browser)])
            return
        place = network(attempt.address)
        await self._take_back(
            _key("ip", place),
            _key("account", attempt.email),
            clear=[in_a_row, _key("account_ip", attempt.email, place)],
        )

    async def password_unchecked(self, attempt: Attempt) -> None:
        """Take back a try that was never checked."""
        await self._take_back(*self._password_limits(attempt))

    async def password_reset(self, email: str, address: str) -> None:
        """Clear the failures of a user who proved their identity by a link."""
        await self.context.stores.failures.clear(
            [*password_keys(email), _key("account_ip", email, network(address))]
        )

    async def factor(self, user_id: str) -> None:
        """Count a try of a code before it is checked; raises TOO_MANY_ATTEMPTS."""
        limits = self.context.settings.throttles
        limit = AttemptLimit(most=limits.factor, window=REMEMBERED, block=lambda _: LONGEST_BLOCK)
        await self._count({factor_key(user_id): limit})

    async def code_accepted(self, user_id: str) -> None:
        """Start counting anew after a right code."""
        await self.context.stores.failures.clear([factor_key(user_id)])

    async def passkey(self, address: str) -> None:
        """Count a try of a passkey at a sign-in before it is checked; raises TOO_MANY_ATTEMPTS."""
        limits = self.context.settings.throttles
        limit = AttemptLimit(most=limits.address, window=_ADDRESS_WINDOW)
        await self._count({_key("ip", network(address)): limit})

    async def passkey_accepted(self, address: str) -> None:
        """Take back a try of a passkey that was right."""
        await self._take_back(_key("ip", network(address)))

    async def reset(self, address: str) -> None:
        """
        Count a request for a reset link by the client's address alone.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS.
        """
        limit = AttemptLimit(most=self.context.settings.throttles.address_resets, window=_HOUR)
        await self._count({_key("reset_ip", network(address)): limit})

    async def link(self, address: str) -> None:
        """Count a try of a link from a mail; raises TOO_MANY_ATTEMPTS."""
        limits = self.context.settings.throttles
        limit = AttemptLimit(most=limits.address, window=_ADDRESS_WINDOW)
        await self._count({_key("link", network(address)): limit})

    async def link_accepted(self, address: str) -> None:
        """Take back a try of a link that was right."""
        await self._take_back(_key("link", network(address)))

    async def _has_room(self, attempt: Attempt) -> bool:
        """Count a try in a known browser; False when there were too many in it."""
        try:
            await self._count(self._password_limits(attempt))
        except ServiceError:
            return False
        return True

    def _password_limits(self, attempt: Attempt) -> dict[str, AttemptLimit]:
        """Return the limits that a try of a password counts against, by key."""
        limits = self.context.settings.throttles
        if attempt.browser:
            device = AttemptLimit(most=limits.device, window=_HOUR)
            return {_key("device", attempt.browser): device}
        email, place = attempt.email, network(attempt.address)
        blocks = doubling_blocks(_SHORTEST_BLOCK, LONGEST_BLOCK)
        return {
            _key("account_ip", email, place): AttemptLimit(
                most=limits.account_ip, window=_ACCOUNT_IP_WINDOW, block=blocks
            ),
            _key("ip", place): AttemptLimit(most=limits.address, window=_ADDRESS_WINDOW),
            _key("consecutive", email): AttemptLimit(
                most=limits.consecutive, window=_FOR_GOOD, block=lambda _: _FOR_GOOD
            ),
            _key("account", email): AttemptLimit(most=_UNBOUNDED, window=_HOUR),
        }

    async def _count(self, limits: Mapping[str, AttemptLimit]) -> Mapping[str, Failures]:
        """Count one more under each key, or under none when one of them is blocked."""
        now = self.context.now()

        def following(before: Mapping[str, Failures | None]) -> Mapping[str, Failures]:
            """Refuse where a key is blocked, by another process perhaps, a moment ago."""
            for failures in before.values():
                if failures is not None:
                    self._refuse(failures, now)
            return {key: limit.next(before[key], key, now) for key, limit in limits.items()}

        return await self.context.stores.failures.change(list(limits), following)

    def _refuse(self, failures: Failures, now: datetime) -> None:
        """Raise TOO_MANY_ATTEMPTS while the key is blocked."""
        blocked = blocked_for(failures, now)
        if not blocked:
            return
        # a block that only a reset ends must not send ``Retry-After`` of ten years
        wait = min(blocked, LONGEST_BLOCK)
        seconds = max(1, math.ceil(wait.total_seconds()))
        reason = failures.key.partition(":")[0]
        self.context.events.on_security_event("authn_login_lock", self.user_id)
        headers = {"Retry-After": str(seconds)}
        raise ServiceError(TOO_MANY_ATTEMPTS, reason, headers, detail=_HELPS.get(reason, ""))

    async def _take_back(self, *keys: str, clear: Sequence[str] = ()) -> None:
        """Count one less under each key, and nothing under those to ``clear``."""
        now = self.context.now()

        def following(before: Mapping[str, Failures | None]) -> Mapping[str, Failures | None]:
            left = {key: undo_attempt(before[key], key, now) for key in keys}
            return {**dict.fromkeys(clear), **left}

        await self.context.stores.failures.change([*keys, *clear], following)


@dataclass(frozen=True, slots=True)
class Lockout:
    """
    A user who cannot sign in because of failed attempts.

    Attributes:
        until: When it ends by itself; None where only a reset or an administrator
            ends it.
    """

    until: datetime | None


@dataclass(frozen=True, slots=True)
class Lockouts:
    """
    Finds and lifts lockouts of users.

    Failures of one network alone do not lock the user out elsewhere: they are not shown, and
    end by themselves.
    """

    context: IdentityContext

    async def of(self, users: Sequence[User]) -> Mapping[str, Lockout]:
        """Return the lockouts in force among these users, by user id."""
        owners = {key: user.id for user in users for key in _keys(user)}
        now, longest = self.context.now(), LONGEST_BLOCK
        found: dict[str, Lockout] = {}
        for failures in await self.context.stores.failures.find(list(owners)):
            left, owner = blocked_for(failures, now), owners[failures.key]
            if not left:
                continue
            until = failures.blocked_until if left <= longest else None
            known = found.get(owner)
            if known is None or (known.until and (until is None or until > known.until)):
                found[owner] = Lockout(until)
        return found

    async def lift(self, by: str, user: User) -> None:
        """Clear the failures of a user. Safe to repeat; audited each time."""
        await self.context.stores.failures.clear(_keys(user))
        event = self.context.audit_event(by, "user.unlocked", f"user:{user.id}")
        await self.context.audit.append(event)
        self.context.events.on_security_event("user_unlocked", user.id)


def password_keys(email: str) -> list[str]:
    """Return the keys that count a user's wrong passwords from everywhere."""
    return [_key("consecutive", email), _key("account", email)]


def factor_key(user_id: str) -> str:
    """Return the key that counts a user's wrong codes."""
    return _key("factor", user_id)


def _keys(user: User) -> list[str]:
    return [*password_keys(user.email), factor_key(user.id)]


def _key(kind: str, *of: str) -> str:
    """Return the key of a counter; the counted value is in it as a digest of fixed length."""
    content = "\0".join(of).encode("utf-8", "surrogatepass")
    return f"{kind}:{hashlib.sha256(content).hexdigest()[:_DIGEST_LENGTH]}"


REMEMBERED = timedelta(days=1)
"""For this long after a block, the next block is longer."""
# 2**16 times the shortest block exceeds every longest block; more would overflow a timedelta
_MOST_DOUBLINGS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptLimit:
    """
    So many failures within a window, then a block.

    Attributes:
        most: The number of the failure that starts the block.
        block: Its length, given how many blocks came before; None: until the
            window is over.
    """

    most: int
    window: timedelta
    block: Callable[[int], timedelta] | None = None

    def next(self, before: Failures | None, key: str, now: datetime) -> Failures:
        """Return the count after one more try; a block in force stays unchanged."""
        if before is None:
            before = Failures(key=key, count=0, since=now)
        if blocked_for(before, now):
            return before
        if before.blocked_until is not None or now >= before.since + self.window:
            blocks = before.blocks if now < before.since + REMEMBERED else 0
            before = Failures(key=key, count=0, since=now, blocks=blocks)
        count = before.count + 1
        if count < self.most:
            return replace(before, count=count)
        until = before.since + self.window
        if self.block is not None:
            until = now + self.block(before.blocks)
        return replace(before, count=count, blocked_until=until, blocks=before.blocks + 1)


def undo_attempt(before: Failures | None, key: str, now: datetime) -> Failures:
    """Return the count after a try that was counted turns out to be no failure."""
    if before is None:
        return Failures(key=key, count=0, since=now)
    return replace(
        before,
        count=max(0, before.count - 1),
        blocked_until=None,
        blocks=max(0, before.blocks - (before.blocked_until is not None)),
    )


def blocked_for(failures: Failures, now: datetime) -> timedelta:
    """Return how long the block still lasts; zero when there is none."""
    if failures.blocked_until is None:
        return timedelta(0)
    return max(timedelta(0), failures.blocked_until - now)


def doubling_blocks(shortest: timedelta, longest: timedelta) -> Callable[[int], timedelta]:
    """Make each block twice as long as the one before, up to ``longest``."""
    return lambda blocks: min(shortest * 2 ** min(blocks, _MOST_DOUBLINGS), longest)

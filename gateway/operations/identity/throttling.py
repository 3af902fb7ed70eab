"""
Throttling of passwords, codes and links: counted for all processes, for unknown users too.

A try is counted before it is checked and taken back when it was right, so that
parallel tries cannot exceed the limit. Keys hold digests, never an address in clear.
"""

from __future__ import annotations

import hashlib
import ipaddress
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from gateway.domain.identity.errors import TOO_MANY_ATTEMPTS
from gateway.domain.identity.failure_counts import Failures
from gateway.domain.identity.users import User
from gateway.domain.kernel.errors import ServiceError
from gateway.operations.identity.ports import IdentityContext
from gateway.operations.identity.user_changes import audit_event

REMEMBERED = timedelta(days=1)
"""How long a block makes the next one longer."""

_MOST_DOUBLINGS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptLimit:
    """
    So many failures within a window, then a block.

    Attributes:
        most: The one that fills the window.
        block: How long then, by how often it was full before; None: until the
            window is over.
    """

    most: int
    window: timedelta
    block: Callable[[int], timedelta] | None = None

    def next(self, before: Failures | None, key: str, now: datetime) -> Failures:
        """Return what follows when one more try is made; a block that holds stays as it is."""
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
    """Return what follows when a counted try turns out to have been no failure."""
    if before is None:
        return Failures(key=key, count=0, since=now)
    return replace(
        before,
        count=max(0, before.count - 1),
        blocked_until=None,
        blocks=max(0, before.blocks - (before.blocked_until is not None)),
    )


def blocked_for(failures: Failures, now: datetime) -> timedelta:
    """Return how long it is blocked still; zero when it is not."""
    if failures.blocked_until is None:
        return timedelta(0)
    return max(timedelta(0), failures.blocked_until - now)


def doubling_blocks(shortest: timedelta, longest: timedelta) -> Callable[[int], timedelta]:
    """Make each block twice as long as the one before, up to ``longest``."""
    return lambda blocks: min(shortest * 2 ** min(blocks, _MOST_DOUBLINGS), longest)


_HOME_BITS = 64


def network(address: str) -> str:
    """
    Return what one household or server has: an IPv4 address, or 64 bits of an IPv6 one.

    Who has so many addresses would else have as many tries. What is no address
    stands for itself.
    """
    try:
        read = ipaddress.ip_address(address)
    except ValueError:
        return address
    if read.version == 4:  # noqa: PLR2004 - the name of a protocol
        return address
    if read.ipv4_mapped is not None:
        return str(read.ipv4_mapped)
    return str(ipaddress.ip_network((read.packed, _HOME_BITS), strict=False))


_HOUR = timedelta(hours=1)
_FOR_GOOD = timedelta(days=3650)
_UNBOUNDED = 1_000_000_000
_DIGEST_LENGTH = 32
_HELPS = {
    "account_ip": "too many wrong passwords; wait, or reset the password by a link",
    "consecutive": "too many wrong passwords; reset the password by a link, waiting does not help",
}
"""What else helps than waiting; said of people and of nobody alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """
    A try of a password.

    Attributes:
        email: As typed, in lower case.
        browser: The id of one that is known for this very person; else empty.
    """

    email: str
    address: str
    browser: str = ""


@dataclass(frozen=True, slots=True)
class Throttle:
    """
    Lets tries through, or refuses them with TOO_MANY_ATTEMPTS and ``Retry-After``.

    Attributes:
        meant: The id of whose account is tried; empty for nobody's.
    """

    context: IdentityContext
    meant: str = ""

    async def password(self, attempt: Attempt) -> Attempt:
        """
        Count a try of a password before it is looked at.

        In a browser that is known for the person nothing counts but what is tried
        there; when that is too much it counts as any other. Elsewhere, where one
        account is tried from everywhere, the try is held for some seconds, and
        then refused until the password is reset.

        Returns:
            How it was counted, for what follows.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS.
        """
        if attempt.browser:
            if await self._has_room(attempt):
                return attempt
            attempt = replace(attempt, browser="")
        counted = await self._count(self._password_limits(attempt))
        settings = self.context.settings.throttles
        if counted[_key("account", attempt.email)].count > settings.account:
            await self.context.pause(settings.delay.total_seconds())
        return attempt

    async def password_accepted(self, attempt: Attempt) -> None:
        """Take back a try that was right; the failures in a row begin anew."""
        clear = [_key("consecutive", attempt.email)]
        if attempt.browser:
            await self.context.stores.failures.clear([*clear, _key("device", attempt.browser)])
            return
        place = network(attempt.address)
        clear.append(_key("account_ip", attempt.email, place))
        await self.context.stores.failures.clear(clear)
        await self._take_back(_key("ip", place), _key("account", attempt.email))

    async def password_unchecked(self, attempt: Attempt) -> None:
        """Take back a try that was not looked at."""
        await self._take_back(*self._password_limits(attempt))

    async def password_reset(self, email: str, address: str) -> None:
        """Forget what was wrong in a person's name: they have proven who they are."""
        await self.context.stores.failures.clear(
            [*password_keys(email), _key("account_ip", email, network(address))]
        )

    async def factor(self, user_id: str) -> None:
        """Count a try of a code before it is looked at; raises TOO_MANY_ATTEMPTS."""
        settings = self.context.settings.throttles
        limit = AttemptLimit(
            most=settings.factor, window=REMEMBERED, block=lambda _: settings.longest_block
        )
        await self._count({factor_key(user_id): limit})

    async def code_accepted(self, user_id: str) -> None:
        """Begin anew after a right code."""
        await self.context.stores.failures.clear([factor_key(user_id)])

    async def reset(self, address: str) -> None:
        """
        Count a wish for a reset link, whoever it is for.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS.
        """
        limit = AttemptLimit(most=self.context.settings.throttles.address_resets, window=_HOUR)
        await self._count({_key("reset_ip", network(address)): limit})

    async def link(self, address: str) -> None:
        """Count a try of a link of a mail; raises TOO_MANY_ATTEMPTS."""
        settings = self.context.settings.throttles
        limit = AttemptLimit(most=settings.address, window=settings.address_window)
        await self._count({_key("link", network(address)): limit})

    async def link_accepted(self, address: str) -> None:
        """Take back a try of a link that was right."""
        await self._take_back(_key("link", network(address)))

    async def _has_room(self, attempt: Attempt) -> bool:
        """Count a try in a known browser; False when there were too many there."""
        try:
            await self._count(self._password_limits(attempt))
        except ServiceError:
            return False
        return True

    def _password_limits(self, attempt: Attempt) -> dict[str, AttemptLimit]:
        """Return what a try of a password counts under."""
        settings = self.context.settings.throttles
        if attempt.browser:
            return {
                _key("device", attempt.browser): AttemptLimit(most=settings.device, window=_HOUR)
            }
        email, place = attempt.email, network(attempt.address)
        blocks = doubling_blocks(settings.shortest_block, settings.longest_block)
        return {
            _key("account_ip", email, place): AttemptLimit(
                most=settings.account_ip, window=settings.account_ip_window, block=blocks
            ),
            _key("ip", place): AttemptLimit(most=settings.address, window=settings.address_window),
            _key("consecutive", email): AttemptLimit(
                most=settings.consecutive, window=_FOR_GOOD, block=lambda _: _FOR_GOOD
            ),
            _key("account", email): AttemptLimit(most=_UNBOUNDED, window=_HOUR),
        }

    async def _count(self, limits: Mapping[str, AttemptLimit]) -> dict[str, Failures]:
        """Count one more under each key, or under none when one of them is blocked."""
        now = self.context.now()
        for failures in await self.context.stores.failures.find(list(limits)):
            self._refuse(failures, now)
        return {key: await self._count_one(key, limit) for key, limit in limits.items()}

    async def _count_one(self, key: str, limit: AttemptLimit) -> Failures:
        """Count one more; somebody quicker may have filled the window meanwhile."""
        now = self.context.now()
        known: list[Failures | None] = []

        def following(before: Failures | None) -> Failures:
            """Note what was there, since what follows does not tell."""
            known[:] = [before]
            return limit.next(before, key, now)

        counted = await self.context.stores.failures.change(key, following)
        if known and known[0] is not None:
            self._refuse(known[0], now)
        return counted

    def _refuse(self, failures: Failures, now: datetime) -> None:
        """Raise when it is blocked."""
        blocked = blocked_for(failures, now)
        if not blocked:
            return
        # who has been wrong a hundred times in a row is not told to wait for years
        wait = min(blocked, self.context.settings.throttles.longest_block)
        seconds = max(1, math.ceil(wait.total_seconds()))
        reason = failures.key.partition(":")[0]
        self.context.on_security_event("authn_login_lock", self.meant)
        headers = {"Retry-After": str(seconds)}
        raise ServiceError(TOO_MANY_ATTEMPTS, reason, headers, detail=_HELPS.get(reason, ""))

    async def _take_back(self, *keys: str) -> None:
        """Count one less under each key."""
        now = self.context.now()
        for key in keys:
            following = partial(undo_attempt, key=key, now=now)
            await self.context.stores.failures.change(key, following)


def password_keys(email: str) -> list[str]:
    """Name what is counted of a person's passwords wherever they are tried."""
    return [_key("consecutive", email), _key("account", email)]


def factor_key(user_id: str) -> str:
    """Name what is counted of a person's codes."""
    return _key("factor", user_id)


def _key(kind: str, *of: str) -> str:
    """Name a counter; what it counts stands there as a digest of one length."""
    content = "\0".join(of).encode("utf-8", "surrogatepass")
    return f"{kind}:{hashlib.sha256(content).hexdigest()[:_DIGEST_LENGTH]}"


@dataclass(frozen=True, slots=True)
class Lockout:
    """
    Somebody's door is shut.

    Attributes:
        until: When it opens by itself; None where only a reset or an
            administrator opens it.
    """

    until: datetime | None


@dataclass(frozen=True, slots=True)
class Lockouts:
    """
    Looks at what is counted in a person's name, and forgets it.

    What is counted of one network alone shuts nobody out elsewhere, is not
    shown, and ends by itself.
    """

    context: IdentityContext

    async def of(self, users: Sequence[User]) -> Mapping[str, Lockout]:
        """Return who of these is locked out now, by id."""
        owners = {key: user.id for user in users for key in _keys(user)}
        now, longest = self.context.now(), self.context.settings.throttles.longest_block
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
        """Forget what was wrong in a person's name; safe to repeat, and always on record."""
        await self.context.stores.failures.clear(_keys(user))
        event = audit_event(self.context, by, "user.unlocked", f"user:{user.id}")
        await self.context.stores.audit.append(event)
        self.context.on_security_event("user_unlocked", user.id)


def _keys(user: User) -> list[str]:
    return [*password_keys(user.email), factor_key(user.id)]

"""Quotas of partners, addresses and users: token buckets."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Final, cast

import msgspec

from gateway.core import errors
from gateway.core.calls import Call
from gateway.core.clocks import Monotonic
from gateway.core.errors import ServiceError
from gateway.core.limits import (
    LONGEST_DEBT_S,
    PATIENCE_S,
    Ask,
    Buckets,
    CallRate,
    Draw,
    Grant,
    Granted,
    SharedBuckets,
    SharedLimits,
    keep,
)
from gateway.core.networks import network
from gateway.core.permissions import Principal
from gateway.telemetry.ports import Count, Event

_LONGEST_COMPANY_DEBT_S: Final = 1.0
COMPANY = "company"
# bound once: the attribute of an enumeration takes a third of a microsecond, and each call asks
_QUOTA: Final = Event.QUOTA


# A share is the tokens of a tenth of a second, and is spent within that time: so the buckets of
# all processes together are never further from the truth than that.
_SHARE_S: Final = 0.1
# What is left of a share goes back with the next ask; after a second it is lost, since a bucket
# that was full in between must not become fuller than full.
_BACK_S: Final = 1.0


class _Share(msgspec.Struct):
    """
    This process's share of one bucket.

    Attributes:
        left: Tokens.
        charged: The charged part of the debt: it may be more than a bucket has.
        until: They may be spent before this instant.
        size: Tokens of the next share; grows while shares are spent in time.
        asking: The ask under way: whether it was answered; None while there is none.
        waiting: Requests that wait for a share.
        elsewhere: Tokens that the bucket had left when it gave the share.
        refused_until: The bucket has none before this instant.
    """

    left: int = 0
    charged: int = 0
    until: float = float("-inf")
    size: int = 1
    asking: asyncio.Future[bool] | None = None
    waiting: int = 0
    elsewhere: int = 0
    refused_until: float = float("-inf")


class Shares:
    """
    Token buckets of one quota that all processes draw from, a share at a time (decision 44).

    A share is taken before it is spent. Without shared counters, this process draws from
    its own buckets, which are as full as the common ones when those last answered: a server that
    comes and goes gives no one much more.
    """

    def __init__(
        self,
        name: str,
        quota: CallRate,
        clock: Monotonic,
        shared: SharedLimits,
        longest_debt_s: float = LONGEST_DEBT_S,
    ) -> None:
        """Begin without any share; debts are kept for ``longest_debt_s`` at most."""
        self._clock = clock
        self._shared = shared
        self._longest_debt_s = longest_debt_s
        own = Buckets(quota, clock, longest_debt_s)
        self._buckets = SharedBuckets(name, own, lambda: shared.serving)
        self._shares: OrderedDict[str, _Share] = OrderedDict()

    def change(self, quota: CallRate) -> None:
        """Draw from other buckets, all full, from now on; unspent shares are lost."""
        self._shares.clear()
        self._buckets.change(quota)

    def at_hand(self, key: str) -> bool:
        """Return whether ``draw`` can answer without asking for a share."""
        share = self._shares.get(key)
        if share is not None:
            now = self._clock()
            if (share.left > 0 and now < share.until) or now < share.refused_until:
                return True
        return self._shared.away

    def draw(self, key: str) -> Draw:
        """Take one token of the share of ``key``; of our own bucket where there is no share."""
        share = self._shares.get(key)
        if share is not None:
            now = self._clock()
            if share.left > 0 and now < share.until:
                share.left -= 1
                return Draw(True, share.elsewhere + share.left, 0.0)  # noqa: FBT003 - the field's name stands in the class
            if now < share.refused_until:
                return Draw(False, 0, share.refused_until - now)  # noqa: FBT003
        return self._buckets.draw(key)

    def wait_for(self, key: str, requests: int) -> None:
        """Add to the number of requests that wait for a share; negative to subtract."""
        self._share(key).waiting += requests

    def asking(self, key: str) -> asyncio.Future[bool] | None:
        """Return the ask under way: whether it was answered; None while there is none."""
        return self._share(key).asking

    def ask(self, key: str) -> Ask:
        """Build the request for the next share; the unused rest of the former one is returned."""
        now, share, rate = self._clock(), self._share(key), self._buckets.rate.rate
        left, share.left = share.left, 0
        debt_s = min(self._longest_debt_s, share.charged / rate)
        share.charged = 0
        if left <= 0 and now < share.until:
            share.size = min(2 * share.size, max(1, int(rate * _SHARE_S)))
        else:
            share.size = max(1, share.size - left)
        share.asking = asyncio.get_running_loop().create_future()
        left = left if now < share.until + _BACK_S else 0
        return self._buckets.ask(key, max(share.size, share.waiting), left, debt_s)

    def fill(self, key: str, ask: Ask, grant: Grant | None) -> None:
        """Take the answer to a request, however late; None without an answer."""
        now, share = self._clock(), self._share(key)
        if share.asking is not None:
            share.asking.set_result(grant is not None)
            share.asking = None
        step, burst = ask.step_s, self._buckets.rate.burst
        if grant is None:
            self._buckets.owe(key, self._most_charged(), -ask.back)
            share.charged += round(ask.debt_s / step)
            return
        self._buckets.answered(key, ask, grant)
        if not grant.took:
            wait_s = grant.full_s + step - burst * step
            # not an ask for each token that comes back: several are taken together then
            share.refused_until = now + max(wait_s, min(_SHARE_S, burst * step / 2))
            return
        share.left += grant.took
        share.until = now + _SHARE_S
        share.elsewhere = max(0, round(burst - grant.full_s / step))

    def charge(self, key: str) -> None:
        """Take one token of ``key``, owed where there is none; the next request reports it."""
        share = self._share(key)
        if share.left > 0:
            share.left -= 1
        else:
            self._buckets.owe(key, self._most_charged())
            self._buckets.charge(key)
        share.charged += 1

    def give_back(self, key: str) -> None:
        """Put one token back that was taken a moment ago."""
        if not self._buckets.repay(key):
            self._share(key).left += 1
        if self._shared.away:
            self._buckets.give_back(key)

    def put_back(self, key: str) -> None:
        """Put one token back that was taken some time ago, for every process to spend."""
        if self._shared.away:
            self.give_back(key)
        else:
            self._shared.give_back([self._buckets.ask(key, 0, 1)])

    def _most_charged(self) -> int:
        return math.ceil(self._longest_debt_s * self._buckets.rate.rate)

    def _share(self, key: str) -> _Share:
        """Return the share of a key; the least recently requested of too many is dropped."""
        share = self._shares.get(key) or _Share()
        keep(self._shares, key, share)
        return share


class Meter:
    """
    One quota by its name: draws tokens, counts draws, and reports the rest in headers.

    The fields are from the RateLimit draft.
    """

    def __init__(
        self,
        name: str,
        quota: CallRate,
        clock: Monotonic,
        count: Count,
        shared: SharedLimits | None = None,
    ) -> None:
        debt_s = _LONGEST_COMPANY_DEBT_S if name == COMPANY else LONGEST_DEBT_S
        self.shares = None if shared is None else Shares(name, quota, clock, shared, debt_s)
        self.buckets = self.shares or Buckets(quota, clock, debt_s)
        self._name = name
        self._allowed = f"{name}.allowed"
        self._count = count
        self._describe(quota)

    def change(self, quota: CallRate) -> None:
        """Draw from buckets of another quota from now on."""
        self.buckets.change(quota)
        self._describe(quota)

    def _describe(self, quota: CallRate) -> None:
        fills_s = math.ceil(quota.burst / quota.rate)
        self._policy = f'"{self._name}";q={quota.burst};w={fills_s}'
        self._refill_s = math.ceil(1 / quota.rate)

    def take(self, call: Call, key: str) -> int:
        """
        Take one token of ``key``; return how many are left.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) with ``Retry-After`` and the RateLimit fields.
        """
        draw = self.buckets.draw(key)
        if draw.allowed:
            self._count(_QUOTA, self._allowed)
            return draw.remaining
        self._count(_QUOTA, f"{self._name}.limited")
        raise self._refusal(call, draw.wait_s)

    def _refusal(self, call: Call, wait_s: float) -> ServiceError:
        """Make the refusal of a caller whose next token comes in ``wait_s`` seconds."""
        reset_s = math.ceil(wait_s)
        self._show(call, 0, reset_s)
        headers = {**call.headers, "Retry-After": str(max(1, reset_s))}
        return ServiceError(errors.TOO_MANY_REQUESTS, f"quota_{self._name}", headers)

    def draw(self, call: Call, key: str) -> None:
        """Take one token of ``key`` and show how many are left; raises as ``take`` does."""
        self._show(call, self.take(call, key), self._refill_s)

    def _show(self, call: Call, left: int, reset_s: int) -> None:
        call.headers["RateLimit-Policy"] = self._policy
        call.headers["RateLimit"] = f'"{self._name}";r={left};t={reset_s}'


async def _wait_for(
    shared: SharedLimits, draws: Sequence[tuple[Shares, str]], draw: Callable[[], None]
) -> None:
    """Wait for the shares that are not at hand, for 20 ms at most; then draw."""
    for shares, key in draws:
        shares.wait_for(key, 1)
    try:
        async with asyncio.timeout(PATIENCE_S):
            while lacking := [each for each in draws if not each[0].at_hand(each[1])]:
                shares, key = lacking[0]
                asking = shares.asking(key) or _ask_for(shared, lacking)
                if not await asyncio.shield(asking):
                    break  # our own buckets decide
    except TimeoutError:
        pass  # the same
    finally:
        for shares, key in draws:
            shares.wait_for(key, -1)
    draw()


def _ask_for(shared: SharedLimits, lacking: Sequence[tuple[Shares, str]]) -> asyncio.Future[bool]:
    """Request missing shares not yet requested; return the answer to the first as a future."""
    free = [each for each in lacking if each[0].asking(each[1]) is None]
    asks = [shares.ask(key) for shares, key in free]
    asking = free[0][0].asking(free[0][1])

    def done(granted: Granted | None) -> None:
        grants = [None] * len(asks) if granted is None else granted.grants
        for (shares, key), ask, grant in zip(free, asks, grants, strict=True):
            shares.fill(key, ask, grant)

    shared.request(asks, done)
    return cast("asyncio.Future[bool]", asking)  # `ask` has begun it


class _Metered:
    """
    Draws tokens of several quotas, by their names.

    Args:
        shared: Counts for all processes; None where this one is alone.
    """

    refuses = (errors.TOO_MANY_REQUESTS,)

    def __init__(
        self,
        quotas: Mapping[str, CallRate],
        clock: Monotonic,
        count: Count,
        shared: SharedLimits | None = None,
    ) -> None:
        self._shared = shared
        self._meters = {
            name: Meter(name, quota, clock, count, shared) for name, quota in quotas.items()
        }

    def _draw(
        self, draws: Sequence[tuple[Meter, str]], draw: Callable[[], None]
    ) -> Awaitable[None] | None:
        """Draw at once, or return an awaitable that fetches missing shares first."""
        if self._shared is not None:
            shares = [(each.shares, key) for each, key in draws if each.shares is not None]
            if not all(each.at_hand(key) for each, key in shares):
                return _wait_for(self._shared, shares, draw)
        draw()
        return None

    def change(self, quotas: Mapping[str, CallRate]) -> None:
        for name, meter in self._meters.items():
            meter.change(quotas[name])


class WithinQuota(_Metered):
    """Draws one token of the credential's bucket for the route, and one of its company's."""

    def __call__(self, call: Call) -> Awaitable[None] | None:
        """
        Let the call on if both buckets have a token; raises as ``Meter.take`` does.

        A call that is refused takes none: one credential in a loop leaves its company's to the
        others. The company's is shown only where it refuses.
        """
        principal = call.principal
        if principal is None:
            return None
        if self._shared is None:
            self._take(call, principal)
            return None
        draws = (
            (self._meters[call.quota], principal.client_id),
            (self._meters[COMPANY], principal.company_id),
        )
        return self._draw(draws, partial(self._take, call, principal))

    def _take(self, call: Call, principal: Principal) -> None:
        own = self._meters[call.quota]
        own.draw(call, principal.client_id)
        try:
            self._meters[COMPANY].take(call, principal.company_id)
        except ServiceError:
            own.buckets.give_back(principal.client_id)
            raise

    def charge(self, quota: str, principal: Principal) -> None:
        """
        Charge a caller for a further page of its bank as for one more call of this quota.

        Missing tokens are owed: further calls are refused until the debt is paid off. The company
        owes little, since its payouts draw on the same bucket.
        """
        self._meters[quota].buckets.charge(principal.client_id)
        self._meters[COMPANY].buckets.charge(principal.company_id)


class WithinAddressQuota(_Metered):
    """
    Draws one token of the address's bucket for the route; a route without a bucket is free.

    The addresses of one /64 of IPv6 have one bucket: a household or a server has all of them.
    A browser in which a user signed in before draws from that user's bucket
    instead, so other callers at the same address cannot use it up.

    Args:
        returned: Quotas that count failures alone.
    """

    def __init__(
        self,
        quotas: Mapping[str, CallRate],
        clock: Monotonic,
        count: Count,
        returned: Collection[str] = (),
        shared: SharedLimits | None = None,
    ) -> None:
        super().__init__(quotas, clock, count, shared)
        self._returned = frozenset(returned)

    def __call__(self, call: Call) -> Awaitable[None] | None:
        """Let the call on if the bucket has a token; raises as ``Meter.take`` does."""
        meter = self._meters.get(call.quota)
        if meter is None:
            return None
        known = call.known
        key = network(call.asked.address) if known is None else f"person:{known.user_id}"
        return self._draw([(meter, key)], partial(self._take, call, meter, key))

    def _take(self, call: Call, meter: Meter, key: str) -> None:
        meter.draw(call, key)
        if call.quota in self._returned:
            call.on_success = partial(meter.buckets.put_back, key)


PERSON: Final = "person"
"""The one bucket of somebody who signed in; routes name it in their limits."""


class _Further:
    """Charges each read of a bank but the first."""

    def __init__(self, charge: Callable[[], object]) -> None:
        self._charge, self._is_first = charge, True

    def __call__(self) -> None:
        if not self._is_first:
            self._charge()
        self._is_first = False


class WithinPersonQuota(_Metered):
    """
    Draws one token of the user's bucket; routes without a bucket are free.

    One bucket for all sessions, tokens and browsers of a user: signing in twice
    gives no second quota. The token pays for the first read of a bank; each further one of the
    same request takes another, owed where there is none.
    """

    def __call__(self, call: Call) -> Awaitable[None] | None:
        """Let the call on if the bucket has a token; raises as ``Meter.take`` does."""
        if call.person is None or call.quota != PERSON:
            return None
        meter, key = self._meters[PERSON], call.person.user_id
        call.on_bank_call = _Further(partial(meter.buckets.charge, key))
        return self._draw([(meter, key)], partial(meter.draw, call, key))

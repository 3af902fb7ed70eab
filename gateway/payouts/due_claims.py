"""
Claims of what is due: no bank and no account takes the room of another.

Each bank has room of its own. In it, accounts take turns: those that have waited longest since
their last turn come first, and each gets a part of what there is room for.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from gateway.banks.paces import Pace
from gateway.payouts.due import StoredFollowUps
from gateway.payouts.followups import MOST_ACCOUNTS, DueAccount, DueClaim
from gateway.payouts.model import Payout

Holder = tuple[str, str]
"""A provider and an account."""

# One number for each account; above this bound the oldest go, and are served as new ones.
_KEPT: Final = 10_000
# By one statement, when everything is claimed: its transaction stays short.
_EVERYTHING: Final = 50


@dataclass(frozen=True, slots=True)
class Lease:
    """What is due at an instant is claimed until another."""

    at: datetime
    until: datetime


@dataclass(slots=True)
class DueClaims:
    """
    The claims of one process.

    Attributes:
        pace: How fast a bank is asked, by its provider's name.
    """

    due: StoredFollowUps
    owner: str
    pace: Callable[[str], Pace]
    _held: Counter[str] = field(default_factory=Counter)
    _of_account: Counter[Holder] = field(default_factory=Counter)
    _crowded: set[str] = field(default_factory=set)
    _served: OrderedDict[Holder, int] = field(default_factory=OrderedDict)
    _turn: int = 0

    @property
    def holds_any(self) -> bool:
        """Whether a claimed payout is not let go yet."""
        return self._held.total() > 0

    @property
    def can_go_on(self) -> bool:
        """Whether a bank of which more is due has half of its room."""
        return any(self._held[each] * 2 <= self.pace(each).room for each in self._crowded)

    def forget(self) -> None:
        """Begin anew: looks that were cancelled let nothing go."""
        for each in (self._held, self._of_account, self._crowded):
            each.clear()

    async def share(self, lease: Lease) -> Sequence[Payout]:
        """Claim for each bank what there is room for."""
        self._turn += 1
        self._crowded.clear()
        claimed: list[Payout] = []
        for accounts in _by_bank(await self.due.due(lease.at)):
            claimed += await self._share_of_bank(accounts, lease)
        return claimed

    async def everything(self, lease: Lease) -> Sequence[Payout]:
        """Claim all that is due, whether there is room for it or not."""
        claimed: list[Payout] = []
        while True:
            before = len(claimed)
            for accounts in _by_bank(await self.due.due(lease.at)):
                wanted = self._wanted(accounts[:MOST_ACCOUNTS], lease, _EVERYTHING, _EVERYTHING)
                claimed += await self._claim(wanted)
            # What is due and cannot be had is being claimed by somebody else.
            if len(claimed) == before:
                return claimed

    def let_go(self, payout: Payout) -> None:
        """Free the room of a payout."""
        holder = payout.provider, payout.account_id
        self._held[payout.provider] -= 1
        self._of_account[holder] -= 1
        if not self._of_account[holder]:
            del self._of_account[holder]

    async def _share_of_bank(
        self, accounts: Sequence[DueAccount], lease: Lease
    ) -> Sequence[Payout]:
        """Claim for one bank; note whether more of it is due than there is room for."""
        provider = accounts[0].provider
        pace = self.pace(provider)
        room = pace.room - self._held[provider]
        if room <= 0:
            self._crowded.add(provider)
            return []
        ready = [each for each in accounts if self._account_room(pace, each) > 0]
        chosen = sorted(ready, key=self._waits)[:MOST_ACCOUNTS]
        if not chosen:
            return []
        part = -(-room // len(chosen))
        own = min(self._account_room(pace, each) for each in chosen)
        claimed = await self._claim(self._wanted(chosen, lease, min(part, own), room))
        largest = max(Counter(each.account_id for each in claimed).values(), default=0)
        if claimed and (len(chosen) < len(ready) or len(claimed) == room or largest == part):
            self._crowded.add(provider)
        return claimed

    def _account_room(self, pace: Pace, account: DueAccount) -> int:
        return pace.account_room - self._of_account[account.provider, account.account_id]

    def _waits(self, account: DueAccount) -> tuple[int, datetime]:
        """Order accounts: those served longest ago, and of these those due longest."""
        return self._served.get((account.provider, account.account_id), 0), account.due_at

    def _wanted(
        self, accounts: Sequence[DueAccount], lease: Lease, each: int, most: int
    ) -> DueClaim:
        for account in accounts:
            holder = account.provider, account.account_id
            self._served[holder] = self._turn
            self._served.move_to_end(holder)
        while len(self._served) > _KEPT:
            self._served.popitem(last=False)
        return DueClaim(
            provider=accounts[0].provider,
            owner=self.owner,
            at=lease.at,
            until=lease.until,
            account_ids=[account.account_id for account in accounts],
            each=each,
            most=most,
        )

    async def _claim(self, wanted: DueClaim) -> Sequence[Payout]:
        claimed = await self.due.claim_due(wanted)
        for each in claimed:
            self._held[each.provider] += 1
            self._of_account[each.provider, each.account_id] += 1
        return claimed


def by_account(payouts: Iterable[Payout]) -> Sequence[Sequence[Payout]]:
    """Return the payouts of each bank's accounts together, in their order."""
    groups: dict[Holder, list[Payout]] = {}
    for each in payouts:
        groups.setdefault((each.provider, each.account_id), []).append(each)
    return list(groups.values())


def _by_bank(accounts: Iterable[DueAccount]) -> Sequence[Sequence[DueAccount]]:
    groups: dict[str, list[DueAccount]] = {}
    for each in accounts:
        groups.setdefault(each.provider, []).append(each)
    return list(groups.values())

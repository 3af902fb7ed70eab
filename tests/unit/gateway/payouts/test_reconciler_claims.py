"""Claims of what is due: banks and accounts side by side, none in another's room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest

from gateway.banks.followup_rate import FollowupRate
from gateway.payouts.model import Payout, PayoutState
from gateway.payouts.reconciler import DueClaims, Lease, by_account
from gateway.payouts.schedule import MOST_ACCOUNTS, DueAccount, DueClaim
from tests.world.payouts import PayoutWorld, ScriptedBank
from tests.world.standing import NOON, Clock

LEASE = Lease(NOON, NOON + timedelta(seconds=60))
PLAIN = replace(
    PayoutWorld(None, ScriptedBank(), Clock())._payout(),  # type: ignore[arg-type]
    state=PayoutState.UNKNOWN,
)


@dataclass
class Queue:
    """Payouts that are due, in memory, in the order in which they are."""

    waiting: list[Payout] = field(default_factory=list)
    claims: list[DueClaim] = field(default_factory=list)

    def add(self, count: int, account_id: str = "one", provider: str = "bank") -> None:
        for number in range(count):
            name = f"{provider}-{account_id}-{number}"
            self.waiting.append(
                replace(PLAIN, account_id=account_id, provider=provider, reference=name)
            )

    async def due(self, now: datetime) -> Sequence[DueAccount]:
        holders = dict.fromkeys((each.provider, each.account_id) for each in self.waiting)
        return [
            DueAccount(provider=provider, account_id=account, due_at=now)
            for provider, account in holders
        ]

    async def claim_due(self, wanted: DueClaim) -> Sequence[Payout]:
        self.claims.append(wanted)
        taken: list[Payout] = []
        counted: Counter[str] = Counter()
        for each in list(self.waiting):
            due = each.provider == wanted.provider and each.account_id in wanted.account_ids
            if due and counted[each.account_id] < wanted.each and len(taken) < wanted.most:
                counted[each.account_id] += 1
                self.waiting.remove(each)
                taken.append(each)
        return taken


def claims(queue: Queue, **paces: FollowupRate) -> DueClaims:
    """The claims of a process at banks of four places, but for some."""
    return DueClaims(queue, "me", lambda name: paces.get(name, FollowupRate(at_once=4)))  # type: ignore[arg-type]


def counts(claimed: Sequence[Payout]) -> Counter[str]:
    return Counter(each.account_id for each in claimed)


async def test_a_bank_s_claims_are_limited_to_two_waves():
    queue = Queue()
    queue.add(20)
    own = claims(queue)

    first = await own.share(LEASE)
    nothing = await own.share(LEASE)
    went_on = []
    for each in first:
        own.let_go(each)
        went_on.append(own.can_go_on)

    assert (len(first), nothing) == (8, [])
    assert went_on == [False] * 3 + [True] * 5
    assert not own.holds_any


async def test_a_hanging_bank_does_not_use_up_the_claims_of_others():
    queue = Queue()
    queue.add(100, provider="hangs")
    queue.add(3, provider="answers")
    own = claims(queue)

    await own.share(LEASE)
    queue.add(5, provider="answers")
    second = await own.share(LEASE)

    assert {each.provider for each in second} == {"answers"}
    assert len(second) == 5


async def test_an_account_with_many_payouts_does_not_starve_another():
    queue = Queue()
    queue.add(1_000, "flood")
    queue.add(2, "small")

    claimed = await claims(queue).share(LEASE)

    assert counts(claimed) == {"flood": 4, "small": 2}


async def test_more_accounts_than_one_claim_holds_are_served_in_turn():
    """However many have a backlog: those served longest ago come first."""
    queue = Queue()
    accounts = [f"account-{number:02}" for number in range(MOST_ACCOUNTS * 2 + 3)]
    for account in accounts:
        queue.add(50, account)
    own, served = claims(queue, bank=FollowupRate(at_once=MOST_ACCOUNTS)), Counter[str]()

    for _ in range(3):
        claimed = await own.share(LEASE)
        served += counts(claimed)
        for each in claimed:
            own.let_go(each)

    assert set(served) == set(accounts)


async def test_a_run_ends_when_everything_due_is_claimed():
    queue = Queue()
    queue.add(3)
    own = claims(queue)

    await own.share(LEASE)

    assert own.holds_any
    assert not own.can_go_on


async def test_a_slow_rate_limits_the_claims_of_each_account():
    queue = Queue()
    queue.add(30, "one")
    queue.add(30, "two")
    own = claims(queue, bank=FollowupRate(at_once=16, per_s=0.1))

    first = await own.share(LEASE)
    again = await own.share(LEASE)

    assert counts(first) == {"one": 2, "two": 2}
    assert again == []
    assert not own.can_go_on


async def test_claiming_everything_ignores_the_limits():
    """So that a clock that was set back is reported once."""
    queue = Queue()
    for account in range(MOST_ACCOUNTS + 2):
        queue.add(60, f"account-{account}")

    claimed = await claims(queue).everything(LEASE)

    assert len(claimed) == (MOST_ACCOUNTS + 2) * 60
    assert all(len(each.account_ids) <= MOST_ACCOUNTS for each in queue.claims)


async def test_claims_of_cancelled_queries_are_released():
    queue = Queue()
    queue.add(20)
    own = claims(queue)
    await own.share(LEASE)

    own.forget()

    assert not own.holds_any
    assert len(await own.share(LEASE)) == 8


async def test_remembered_accounts_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gateway.payouts.reconciler._KEPT", 3)
    queue = Queue()
    for account in range(6):
        queue.add(1, f"account-{account}")
    own = claims(queue)

    await own.share(LEASE)

    assert len(own._served) == 3


def test_payouts_are_grouped_by_bank_and_account():
    one, other = PLAIN, replace(PLAIN, account_id="other")
    elsewhere = replace(PLAIN, provider="elsewhere")

    assert by_account([one, other, elsewhere, one]) == [[one, one], [other], [elsewhere]]

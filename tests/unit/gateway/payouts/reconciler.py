"""What several tests of reconciler share."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from gateway.core.account import Account
from gateway.core.storage import StoreUnavailable
from gateway.payouts.model import Payout, PayoutState
from gateway.payouts.reconciler import Reconciler, Work
from gateway.payouts.schedule import Checked, DueAccount, DueClaim, ProbeClaim
from gateway.telemetry.records import Unsettled
from tests.world.payouts import PayoutWorld, ScriptedBank
from tests.world.people import ACCOUNT, account
from tests.world.standing import NOON, Clock
from tests.world.waiting import forever, settle


@dataclass
class Board:
    """Due payouts, in memory; every completed query is recorded."""

    waiting: list[Payout] = field(default_factory=list)
    looks: list[Checked] = field(default_factory=list)
    fails: bool = False
    claims: int = 0
    up_to: list[datetime] = field(default_factory=list)
    recalls: list[datetime] = field(default_factory=list)
    ahead: int = 0

    async def due(self, now: datetime) -> Sequence[DueAccount]:
        self.claims += 1
        self.up_to.append(now)
        if self.fails:
            message = "away"
            raise StoreUnavailable(message)
        holders = {(each.provider, each.account_id) for each in self.waiting}
        return [
            DueAccount(provider=provider, account_id=account_id, due_at=NOON)
            for provider, account_id in sorted(holders)
        ]

    async def claim_due(self, wanted: DueClaim) -> Sequence[Payout]:
        claimed: list[Payout] = []
        for each in list(self.waiting):
            of = [each.account_id == one.account_id for one in claimed].count(True)
            due = each.provider == wanted.provider and each.account_id in wanted.account_ids
            if due and of < wanted.each and len(claimed) < wanted.most:
                self.waiting.remove(each)
                claimed.append(each)
        return claimed

    async def claim(self, wanted: ProbeClaim) -> Payout | None:
        self.claims += 1
        return self.waiting.pop() if self.waiting else None

    async def checked(self, checked: Checked) -> bool:
        self.looks.append(checked)
        return True

    async def recall(self, now: datetime) -> int:
        if self.fails:
            message = "away"
            raise StoreUnavailable(message)
        self.recalls.append(now)
        return self.ahead

    async def unresolved(self) -> Sequence[Payout]:
        return []

    async def find_by_key(self, provider_key: str, account_id: str | None = None) -> Payout | None:
        return None

    async def standing(self) -> Sequence[Unsettled]:
        return [Unsettled(provider="sandbox", unresolved=1, oldest_at=NOON, review=0)]


class People:
    """Every account there is."""

    async def find(self, account_id: str) -> Account | None:
        return account() if account_id == ACCOUNT else None


@dataclass
class ReconcilerWorld:
    """A reconciler with everything it works with."""

    payout_world: PayoutWorld
    board: Board = field(default_factory=Board)
    told: list[list[Unsettled]] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    rests: bool = False
    may_claim: bool = True
    ended: list[Payout] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.reconciler = Reconciler(
            Work(
                due=self.board,
                find_account=People().find,  # type: ignore[arg-type]
                follow_up=self.payout_world.follow_up,
                now=self.payout_world.clock.now,
                owner="me",
                chance=lambda: 0.5,
                tell=lambda standing, _now: self.told.append(standing),
                sleep=self._sleep,
                may_claim=lambda: self.may_claim,
                end_hold=self._end_hold,
            )
        )

    async def _end_hold(self, payout: Payout) -> Payout:
        self.ended.append(payout)
        return replace(payout, state=PayoutState.ACCEPTED, attempt=1, held_until=None)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await (forever() if self.rests else settle(1))


def stood(state: PayoutState, since: datetime = NOON, **fields: object) -> Payout:
    """A payout that came to a state at an instant."""
    plain = PayoutWorld(None, ScriptedBank(), Clock())._payout()  # type: ignore[arg-type]
    return replace(plain, state=state, updated_at=since, **fields)  # type: ignore[arg-type]

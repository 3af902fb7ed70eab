"""What keeps a payout from being sent: stops by scope, and its likes."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from gateway.core.calls import Caller
from gateway.core.company_scope import StopScope
from gateway.core.errors import ServiceError
from gateway.core.storage import StoreUnavailable, Writes
from gateway.payouts.create import PayoutGuards, Payouts, SimilarPolicy
from gateway.payouts.model import Payout
from gateway.stops.model import Stop
from tests.world.exports import owner_mismatches
from tests.world.payouts import FORBIDDEN, NO_STORE, NOT_SENT, OK, PayoutWorld, ScriptedBank, asking
from tests.world.people import ACCOUNT, CLIENT, COMPANY, SISTER, account, caller, principal
from tests.world.standing import NOON, Clock

HOUR = timedelta(hours=1)
SUBJECTS = {
    StopScope.PROVIDER: "sandbox",
    StopScope.ACCOUNT: ACCOUNT,
    StopScope.COMPANY: COMPANY,
    StopScope.CREDENTIAL: CLIENT,
    StopScope.EVERYTHING: "",
}


def stop(scope: StopScope, subject: str) -> Stop:
    return Stop(
        id="1",
        scope=scope,
        subject=subject,
        reason="r",
        created_by="maria",
        created_at=NOON,
        ends_at=NOON + HOUR,
    )


OFF = SimilarPolicy(timedelta(0), refuse=False)
WARN = SimilarPolicy(timedelta(minutes=10), refuse=False)
REFUSE = SimilarPolicy(timedelta(minutes=10), refuse=True)


@dataclass
class Guarded:
    """A node behind guards of the test's own."""

    payout_world: PayoutWorld
    stops: list[Stop] = field(default_factory=list)
    similar: SimilarPolicy = field(default_factory=lambda: OFF)
    seen: list[tuple[str, str]] = field(default_factory=list)
    asked: int = 0
    blind: bool = False
    writes: Writes = field(default_factory=Writes)

    def __post_init__(self) -> None:
        guards = PayoutGuards(
            stops=self._stops,
            store=self.payout_world.store.inner,
            similar=self.similar,
            mismatches=owner_mismatches(),
            now=self.payout_world.clock.now,
            count=lambda event, label: self.seen.append((event, label)),
            writes=self.writes,
        )
        whole = self.payout_world.payouts
        self.payout_world.payouts = Payouts(
            whole.store, whole.banks, whole.follow_up, guards, whole.config
        )

    async def _stops(self) -> list[Stop]:
        self.asked += 1
        if self.blind:
            message = "away"
            raise StoreUnavailable(message)
        return self.stops


@pytest.mark.parametrize("scope", StopScope)
async def test_a_stop_refuses_a_payout_before_it_is_stored(
    payout_world: PayoutWorld, scope: StopScope
):
    """403 ``SVC.PIX.010``: the same reference may be sent later."""
    guarded = Guarded(payout_world, [stop(scope, SUBJECTS[scope])])

    answered = await payout_world.post()

    assert answered == FORBIDDEN
    assert guarded.seen == [("payout_stopped", scope.value)]
    assert not await payout_world.has_row()
    assert payout_world.bank.orders == []


@pytest.mark.parametrize("scope", StopScope)
async def test_a_stop_of_another_subject_does_not_apply(
    payout_world: PayoutWorld, scope: StopScope
):
    Guarded(payout_world, [stop(scope, "another")])

    assert await payout_world.post() == OK


async def test_an_expired_stop_does_not_apply(payout_world: PayoutWorld):
    """A cached stop may have expired."""
    Guarded(payout_world, [stop(StopScope.ACCOUNT, ACCOUNT)])
    payout_world.clock.passes(HOUR.total_seconds())

    assert await payout_world.post() == OK


async def test_a_repeat_of_a_sent_payout_is_answered_during_a_stop(payout_world: PayoutWorld):
    """The payout was ordered before: 200."""
    guarded = Guarded(payout_world)
    await payout_world.post()
    guarded.stops = [stop(StopScope.ACCOUNT, ACCOUNT)]

    assert await payout_world.post() == OK
    assert guarded.asked == 1


async def test_an_unsent_payout_is_not_sent_again_during_a_stop(payout_world: PayoutWorld):
    await payout_world.stands(NOT_SENT)
    Guarded(payout_world, [stop(StopScope.ACCOUNT, ACCOUNT)])

    assert await payout_world.post() == FORBIDDEN
    assert payout_world.bank.orders == []


FULL = "503 SVC.GTW.006"


async def test_a_full_store_refuses_a_payout_before_it_is_stored(payout_world: PayoutWorld):
    """Without checking stops; the same reference may be sent when there is room."""
    guarded = Guarded(payout_world, writes=Writes(are_refused=True))

    answered = await payout_world.post()

    assert (answered, guarded.asked) == (FULL, 0)
    assert guarded.seen == [("shed", "payouts.store_full")]
    assert (await payout_world.has_row(), payout_world.bank.orders) == (False, [])
    guarded.writes.are_refused = False
    assert await payout_world.post() == OK


async def test_a_repeat_is_answered_by_a_full_store(payout_world: PayoutWorld):
    guarded = Guarded(payout_world)
    await payout_world.post()
    guarded.writes.are_refused = True

    assert await payout_world.post() == OK


async def test_an_unsent_payout_is_not_sent_again_with_a_full_store(payout_world: PayoutWorld):
    await payout_world.stands(NOT_SENT)
    Guarded(payout_world, writes=Writes(are_refused=True))

    assert await payout_world.post() == FULL
    assert payout_world.bank.orders == []


async def test_nothing_is_sent_when_stops_cannot_be_read(payout_world: PayoutWorld):
    Guarded(payout_world, blind=True)

    assert await payout_world.post() == NO_STORE
    assert payout_world.bank.orders == []


@pytest.mark.parametrize(
    ("policy", "answer"), [(WARN, OK), (REFUSE, FORBIDDEN)], ids=["warn", "refuse"]
)
async def test_a_similar_payout_is_reported_or_refused(
    payout_world: PayoutWorld, policy: SimilarPolicy, answer: str, caplog: pytest.LogCaptureFixture
):
    """Counted and logged either way; log lines contain no reference."""
    guarded = Guarded(payout_world, similar=policy)
    await payout_world.post()

    answered = await payout_world.post(asking("order-2"))

    assert answered == answer
    assert guarded.seen == [("payout_similar", "sandbox")]
    assert "payout_similar provider_key=" in caplog.text
    assert "order-2" not in caplog.text
    assert len(payout_world.bank.orders) == (2 if answer == OK else 1)


async def test_an_old_payout_is_not_similar(payout_world: PayoutWorld):
    guarded = Guarded(payout_world, similar=REFUSE)
    await payout_world.post()
    payout_world.clock.passes(601)

    assert await payout_world.post(asking("order-2")) == OK
    assert guarded.seen == []


async def test_the_check_for_similar_payouts_can_be_off(payout_world: PayoutWorld):
    guarded = Guarded(payout_world)
    await payout_world.post()

    assert await payout_world.post(asking("order-2")) == OK
    assert guarded.seen == []


async def test_a_similar_payout_from_a_sister_account_is_accepted(payout_world: PayoutWorld):
    Guarded(payout_world, similar=REFUSE)
    await payout_world.post()

    assert await payout_world.post(asking("order-2"), Caller(principal(), account(SISTER))) == OK


async def test_a_refusal_by_a_guard_names_its_rule():
    async def stops() -> list[Stop]:
        return [stop(StopScope.ACCOUNT, ACCOUNT)]

    lonely = PayoutWorld(None, ScriptedBank(), Clock())  # type: ignore[arg-type]
    payout: Payout = replace(lonely._payout())
    guards = PayoutGuards(
        stops=stops,
        store=lonely.store,  # type: ignore[arg-type]
        similar=WARN,
        mismatches=owner_mismatches(),
        now=lambda: NOON,
        count=lambda _event, _label: None,
    )

    with pytest.raises(ServiceError) as refused:
        await guards.admit(caller(), payout, ())

    assert refused.value.reason == "stopped"

"""What keeps a payout from being sent: stops by scope, and its likes."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.payouts.payouts import Payout
from gateway.domain.payouts.stops import Stop, StopScope
from gateway.domain.requests.calls import Caller
from gateway.operations.payouts.guards import PayoutGuards, SimilarPolicy
from gateway.operations.payouts.payouts import Payouts
from tests.unit.paying import FORBIDDEN, NO_STORE, NOT_SENT, OK, ScriptedBank, Till, asking
from tests.unit.people import ACCOUNT, CLIENT, COMPANY, SISTER, account, caller, principal
from tests.unit.standing import NOON, Clock

HOUR = timedelta(hours=1)
SUBJECTS = {
    StopScope.PROVIDER: "sandbox",
    StopScope.ACCOUNT: ACCOUNT,
    StopScope.COMPANY: COMPANY,
    StopScope.CREDENTIAL: CLIENT,
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

    till: Till
    stops: list[Stop] = field(default_factory=list)
    similar: SimilarPolicy = field(default_factory=lambda: OFF)
    seen: list[tuple[str, str]] = field(default_factory=list)
    asked: int = 0
    blind: bool = False

    def __post_init__(self) -> None:
        guards = PayoutGuards(
            stops=self._stops,
            store=self.till.store.inner,
            similar=self.similar,
            now=self.till.clock.now,
            count=lambda event, label: self.seen.append((event, label)),
        )
        whole = self.till.payouts
        self.till.payouts = Payouts(whole.store, whole.banks, whole.follow_up, guards, whole.terms)

    async def _stops(self) -> list[Stop]:
        self.asked += 1
        if self.blind:
            message = "away"
            raise StoreUnavailable(message)
        return self.stops


@pytest.mark.parametrize("scope", StopScope)
async def test_a_stop_refuses_and_sends_nothing(till: Till, scope: StopScope):
    """403 ``SVC.PIX.010``, and nothing stored: the same reference may be sent later."""
    guarded = Guarded(till, [stop(scope, SUBJECTS[scope])])

    answered = await till.post()

    assert answered == FORBIDDEN
    assert guarded.seen == [("payout_stopped", scope.value)]
    assert not await till.has_row()
    assert till.bank.orders == []


@pytest.mark.parametrize("scope", StopScope)
async def test_a_stop_of_another_is_no_stop(till: Till, scope: StopScope):
    Guarded(till, [stop(scope, "another")])

    assert await till.post() == OK


async def test_a_stop_that_ended_in_between_is_no_stop(till: Till):
    """What is kept may have ended since."""
    Guarded(till, [stop(StopScope.ACCOUNT, ACCOUNT)])
    till.clock.passes(HOUR.total_seconds())

    assert await till.post() == OK


async def test_a_repeat_of_what_was_sent_is_answered_during_a_stop(till: Till):
    """It is about a payout that was ordered before: 200, and no question."""
    guarded = Guarded(till)
    await till.post()
    guarded.stops = [stop(StopScope.ACCOUNT, ACCOUNT)]

    assert await till.post() == OK
    assert guarded.asked == 1


async def test_what_was_not_sent_is_not_sent_again_during_a_stop(till: Till):
    await till.stands(NOT_SENT)
    Guarded(till, [stop(StopScope.ACCOUNT, ACCOUNT)])

    assert await till.post() == FORBIDDEN
    assert till.bank.orders == []


async def test_where_nobody_can_tell_nothing_is_sent(till: Till):
    Guarded(till, blind=True)

    assert await till.post() == NO_STORE
    assert till.bank.orders == []


@pytest.mark.parametrize(
    ("policy", "answer"), [(WARN, OK), (REFUSE, FORBIDDEN)], ids=["warn", "refuse"]
)
async def test_one_like_another_is_told_or_refused(
    till: Till, policy: SimilarPolicy, answer: str, caplog: pytest.LogCaptureFixture
):
    """Counted and logged either way; a log line names no reference."""
    guarded = Guarded(till, similar=policy)
    await till.post()

    answered = await till.post(asking("order-2"))

    assert answered == answer
    assert guarded.seen == [("payout_similar", "sandbox")]
    assert "payout_similar provider_key=" in caplog.text
    assert "order-2" not in caplog.text
    assert len(till.bank.orders) == (2 if answer == OK else 1)


async def test_one_of_long_ago_is_no_twin(till: Till):
    guarded = Guarded(till, similar=REFUSE)
    await till.post()
    till.clock.passes(601)

    assert await till.post(asking("order-2")) == OK
    assert guarded.seen == []


async def test_looking_for_twins_can_be_off(till: Till):
    guarded = Guarded(till)
    await till.post()

    assert await till.post(asking("order-2")) == OK
    assert guarded.seen == []


async def test_a_sister_account_may_pay_the_same(till: Till):
    Guarded(till, similar=REFUSE)
    await till.post()

    assert await till.post(asking("order-2"), Caller(principal(), account(SISTER))) == OK


async def test_admitting_says_which_rule_refused():
    async def stops() -> list[Stop]:
        return [stop(StopScope.ACCOUNT, ACCOUNT)]

    lonely = Till(None, ScriptedBank(), Clock())  # type: ignore[arg-type]
    payout: Payout = replace(lonely._payout())
    guards = PayoutGuards(
        stops=stops,
        store=lonely.store,  # type: ignore[arg-type]
        similar=WARN,
        now=lambda: NOON,
        count=lambda _event, _label: None,
    )

    with pytest.raises(ServiceError) as refused:
        await guards.admit(caller(), payout)

    assert refused.value.reason == "stopped"

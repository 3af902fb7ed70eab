"""The client all adapters share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
import pytest

from gateway.banks.client.messages import Kind, ProviderAnswer, ProviderRequest, SendProgress
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    Accepted,
    BadReply,
    Evidence,
    NotFound,
    NotSent,
    Outcome,
    Phase,
    ProviderError,
    RateLimited,
    Reason,
    Rejected,
    Unavailable,
    Unknown,
    Unreachable,
)
from gateway.core import trace
from gateway.core.clocks import Deadline
from gateway.core.limits import CallRate
from gateway.telemetry import records
from provider_adapters.kit import faults
from provider_adapters.kit.answers import read_document
from provider_adapters.kit.client import ClientParts, ProviderClient
from provider_adapters.kit.limits import AccountLimits, BulkheadLimits, ClientLimits
from provider_adapters.kit.transcript import Transcript
from tests.world.banks.stock import timed_out
from tests.world.banks.witness import Clock, Witness, still
from tests.world.leaping import leaping
from tests.world.tables import cases

TEXTS = msgspec.json.Decoder(list[str])
READ = ProviderRequest(operation="get_balance", method="GET", template="/b", path="/b")
PAY = ProviderRequest(
    operation="create_payout", method="POST", template="/p", path="/p", body=b"{}",
    kind=Kind.PAYOUT,
)  # fmt: skip
ANSWER = ProviderAnswer(status=200, headers={}, body=b"{}")
LIMITS = ClientLimits(
    read_s=0.2, payout_s=0.2, bulkhead=BulkheadLimits(in_flight=2, waiting=0, wait_s=0.01)
)
Step = Callable[[SendProgress], ProviderAnswer] | ProviderError | None


@dataclass
class Road:
    """A transport that follows a script, one step a call."""

    steps: list[Step] = field(default_factory=list)
    calls: int = 0
    opened: list[str] = field(default_factory=list)

    async def start(self) -> None:
        self.opened.append("start")

    async def close(self) -> None:
        self.opened.append("close")

    async def call(
        self, request: ProviderRequest, progress: SendProgress, within_s: float
    ) -> ProviderAnswer:
        self.calls += 1
        step = self.steps.pop(0) if self.steps else None
        progress.connecting()
        if isinstance(step, Unreachable):
            raise step
        progress.sending()
        if isinstance(step, ProviderError):
            raise step
        if step is not None:
            return step(progress)
        progress.answered(200)
        return ANSWER


@dataclass
class Silent(Road):
    """A transport that hears nothing; ``sends`` says whether a byte leaves before."""

    sends: bool = True

    async def call(
        self, request: ProviderRequest, progress: SendProgress, within_s: float
    ) -> ProviderAnswer:
        self.calls += 1
        progress.connecting()
        if self.sends:
            progress.sending()
        await asyncio.sleep(within_s)
        raise timed_out(progress)


@dataclass
class Scene:
    road: Road
    told: Witness = field(default_factory=Witness)
    clock: Clock = field(default_factory=Clock)
    limits: ClientLimits = LIMITS
    declared: AccountLimits = field(default_factory=AccountLimits)

    def __post_init__(self) -> None:
        self.client = ProviderClient(
            ClientParts(
                provider="bank",
                transport=self.road,
                limits=self.limits.within(self.declared),
                observer=self.told,
                transcript=Transcript("bank", ()),
                runtime=still(self.clock),
            )
        )

    async def read(self) -> str:
        return await self.client.read(READ, lambda _: "read")

    async def pay(self, translate: Callable[[ProviderAnswer], Outcome] | None = None) -> Outcome:
        far = Deadline(self.clock.at + 10, self.clock)
        return await self.client.pay(PAY, translate or accepted, far)

    async def pay_for(
        self,
        request: ProviderRequest,
        translate: Callable[[ProviderAnswer], Outcome] | None = None,
    ) -> Outcome:
        far = Deadline(self.clock.at + 10, self.clock)
        return await self.client.pay(request, translate or accepted, far)


def accepted(answer: ProviderAnswer) -> Outcome:
    return Accepted(evidence=answer.evidence("answered"))


def raising(problem: Exception) -> Callable[[ProviderAnswer], Outcome]:
    def translate(_: ProviderAnswer) -> Outcome:
        raise problem

    return translate


async def test_starting_and_closing_the_client_starts_and_closes_the_transport():
    scene = Scene(Road())

    await scene.client.start()
    await scene.client.close()

    assert scene.road.opened == ["start", "close"]
    assert scene.told.crowds == [0]


async def test_rows_left_out_are_counted_and_logged_without_their_content(
    caplog: pytest.LogCaptureFixture,
):
    listing = ProviderRequest(operation="list_keys", method="GET", template="/k", path="/k")
    said = ProviderAnswer(status=200, headers={}, body=b'["CANARY", 5, {"a": "CANARY"}, true]')
    scene = Scene(Road([lambda _: said]))

    found = await scene.client.read(listing, lambda each: read_document(each, TEXTS, list))

    assert found == ["CANARY", "5"]
    assert scene.told.counts == [("row_unreadable", "bank")] * 2
    assert caplog.messages == ["2 unreadable rows left out: bank.list_keys"]


async def test_every_call_is_reported_once_with_its_details():
    trace.begin("trace-1")
    scene = Scene(Road())

    value = await scene.read()

    assert value == "read"
    assert scene.told.calls == [
        records.ProviderCall(
            provider="bank", operation="get_balance", outcome="ok", duration_s=0.0,
            http_status=200, bytes_left=True, trace_id="trace-1",
        )
    ]  # fmt: skip
    assert scene.client.admission.bulkhead.in_flight == 0


async def test_the_access_record_has_the_provider_and_its_total_time():
    record = records.AccessRecord(trace_id="trace-1")
    records.begin_record(record)
    scene = Scene(Road())

    def slow(progress: SendProgress) -> ProviderAnswer:
        scene.clock.passes(2)
        return ANSWER

    scene.road.steps = [slow, slow]
    await scene.read()
    await scene.read()

    assert (record.provider, record.provider_outcome, record.provider_s) == ("bank", "ok", 4.0)


async def test_a_read_with_a_lost_connection_is_repeated_once():
    scene = Scene(Road([Unavailable(Reason.CONNECTION_LOST)] * 3))

    with pytest.raises(Unavailable):
        await scene.read()

    assert scene.road.calls == 2
    assert scene.told.retries == [("bank", "get_balance")]
    assert [call.outcome for call in scene.told.calls] == ["unavailable", "unavailable"]


async def test_a_repeated_read_may_succeed():
    scene = Scene(Road([Unreachable(Reason.CONNECT_FAILED)]))

    assert await scene.read() == "read"
    assert scene.clock.at == pytest.approx(1000.1)


@cases(
    "failure",
    [Unavailable(Reason.SERVER_ERROR), Unavailable(Reason.TIMEOUT), BadReply(Reason.NOT_JSON)],
)
async def test_an_error_answer_or_a_timeout_is_not_repeated(failure: ProviderError):
    scene = Scene(Road([failure]))

    with pytest.raises(type(failure)):
        await scene.read()

    assert scene.road.calls == 1


async def test_a_payout_is_never_sent_twice():
    scene = Scene(Road([Unavailable(Reason.CONNECTION_LOST)]))

    outcome = await scene.pay()

    assert isinstance(outcome, Unknown)
    assert (scene.road.calls, scene.told.retries) == (1, [])


async def test_a_payout_that_could_not_connect_is_not_sent_again():
    scene = Scene(Road([Unreachable(Reason.CONNECT_FAILED)]))

    outcome = await scene.pay()

    assert isinstance(outcome, NotSent)
    assert scene.road.calls == 1


@cases(
    ("problem", "word"),
    [
        (BadReply(Reason.NOT_JSON), "bad_response"),
        (NotFound(Reason.NOT_FOUND), "not_found"),
        (Unavailable(Reason.SERVER_ERROR), "unavailable"),
    ],
)
async def test_any_error_in_translating_a_payout_answer_is_unknown(
    problem: ProviderError, word: str
):
    """Only outcomes listed by the adapter are definite; a payout has no "not found"."""
    scene = Scene(Road())

    outcome = await scene.pay(raising(problem))

    assert isinstance(outcome, Unknown)
    assert (outcome.evidence.reason, outcome.evidence.bytes_left) == (problem.reason, True)
    assert [call.outcome for call in scene.told.calls] == [word]


@cases(
    ("outcome", "word"),
    [
        (Accepted(evidence=ANSWER.evidence("a")), "ok"),
        (Rejected(evidence=ANSWER.evidence("a"), failure=FailureCode.OTHER), "rejected"),
        (Unknown(ANSWER.evidence("amount_mismatch")), "bad_response"),
    ],
)
async def test_an_outcome_is_reported_by_its_word(outcome: Outcome, word: str):
    scene = Scene(Road())

    assert await scene.pay(lambda _: outcome) is outcome
    assert [call.outcome for call in scene.told.calls] == [word]


@pytest.mark.parametrize(("sends", "kind"), [(True, Unknown), (False, NotSent)])
@leaping
async def test_a_payout_times_out_and_distinguishes_whether_it_was_sent(sends: bool, kind: type):
    scene = Scene(Silent(sends=sends))

    outcome = await scene.pay()

    assert isinstance(outcome, kind)
    assert outcome.evidence.reason == "timeout"
    assert [call.outcome for call in scene.told.calls] == ["timeout"]


@pytest.mark.parametrize(("sends", "kind"), [(True, Unavailable), (False, Unreachable)])
@leaping
async def test_a_read_times_out(sends: bool, kind: type[ProviderError]):
    scene = Scene(Silent(sends=sends))

    with pytest.raises(kind):
        await scene.read()

    assert scene.road.calls == 1


async def test_two_calls_of_one_read_share_its_time():
    scene = Scene(Road())
    by = scene.client.read_by()
    scene.clock.passes(1)

    with pytest.raises(ProviderError) as failed:
        await scene.client.read(READ, lambda _: "late", by)

    assert failed.value.reason == "timeout"


async def test_an_open_breaker_refuses_a_call_before_it_is_sent():
    scene = Scene(Road([Unavailable(Reason.SERVER_ERROR)] * 10))
    for _ in range(5):
        with pytest.raises(Unavailable):
            await scene.read()
        await scene.pay()

    with pytest.raises(Unreachable) as failed:
        await scene.read()
    outcome = await scene.pay()

    assert failed.value.reason == "breaker_open"
    assert isinstance(outcome, NotSent)
    assert (outcome.evidence.reason, outcome.evidence.phase) == ("breaker_open", "refused_here")
    assert scene.road.calls == 10
    assert [call.outcome for call in scene.told.calls[10:]] == ["breaker_open"] * 2


@leaping
async def test_a_full_bulkhead_refuses_a_call_before_it_is_sent():
    scene = Scene(Silent())
    busy = [asyncio.create_task(scene.read()) for _ in range(2)]
    await asyncio.sleep(0)

    outcome = await scene.pay()
    await asyncio.gather(*busy, return_exceptions=True)

    assert isinstance(outcome, NotSent)
    assert outcome.evidence.reason == "bulkhead_full"
    assert scene.client.admission.bulkhead.in_flight == 0


async def test_a_call_refused_by_us_does_not_open_the_breaker():
    """A passed send deadline says nothing about the bank."""
    scene = Scene(Road())
    passed = Deadline(scene.clock.at, scene.clock)

    class Strict(Road):
        async def call(
            self, request: ProviderRequest, progress: SendProgress, within_s: float
        ) -> ProviderAnswer:
            try:
                progress.sending()
            except Exception as problem:
                raise Unreachable(Reason.DEADLINE_PASSED) from problem
            raise AssertionError

    scene = Scene(Strict())
    outcomes = [await scene.client.pay(PAY, accepted, passed) for _ in range(10)]

    assert {outcome.evidence.reason for outcome in outcomes} == {"deadline_passed"}
    assert scene.told.states == []


@leaping
async def test_a_cancelled_call_is_reported_and_releases_its_place():
    scene = Scene(Silent())
    call = asyncio.create_task(scene.pay())
    await asyncio.sleep(0)

    call.cancel()
    await asyncio.gather(call, return_exceptions=True)

    assert call.cancelled()
    assert [(told.outcome, told.bytes_left) for told in scene.told.calls] == [("unavailable", True)]
    assert scene.client.admission.bulkhead.in_flight == 0
    assert scene.told.states == []
    assert scene.client.transcript.shown()[0]["failure"] == "cancelled"


async def test_an_error_in_an_adapter_is_not_hidden():
    """It is raised unchanged, and the caller records the payout as unknown."""
    scene = Scene(Road())

    with pytest.raises(KeyError):
        await scene.pay(raising(KeyError("typo")))

    assert len(scene.told.calls) == 1
    assert scene.client.admission.bulkhead.in_flight == 0


async def test_the_transcript_contains_every_try():
    scene = Scene(Road([Unavailable(Reason.CONNECTION_LOST)]))

    await scene.read()

    assert [shown["failure"] for shown in scene.client.transcript.shown()] == [
        "connection_lost",
        "",
    ]


async def test_a_change_returns_its_translated_answer():
    scene = Scene(Road())

    assert await scene.client.change(READ, lambda answer: answer.status) == 200


@cases(
    ("road", "translate", "problem"),
    [
        (Road(), raising(NotFound(Reason.NOT_FOUND)), NotFound),
        (Road([Unavailable(Reason.CONNECTION_LOST)]), accepted, Unavailable),
        (Road([BadReply(Reason.TOO_LARGE)]), accepted, Unavailable),
        (Road([Unreachable(Reason.CONNECT_FAILED)]), accepted, Unreachable),
    ],
)
async def test_a_failed_change_is_not_repeated(
    road: Road,
    translate: Callable[[ProviderAnswer], Outcome],
    problem: type[ProviderError],
):
    """After a lost connection a read would be repeated, but a change might be made twice."""
    scene = Scene(road)

    with pytest.raises(ProviderError) as failed:
        await scene.client.change(READ, translate)

    assert (type(failed.value), road.calls, scene.told.retries) == (problem, 1, [])


MINE = msgspec.structs.replace(READ, account="mine")
PAY_MINE = msgspec.structs.replace(PAY, account="mine")
PAY_YOURS = msgspec.structs.replace(PAY, account="yours")
REFUSED_HERE = Evidence(phase=Phase.REFUSED_HERE, bytes_left=False, reason="rate_limited")
SLOW = AccountLimits(rates={"*": CallRate(rate=0.01, burst=1)})


def refusing(**headers: str) -> Step:
    def step(progress: SendProgress) -> ProviderAnswer:
        progress.answered(429)
        return ProviderAnswer(status=429, headers=headers, body=b"{}")

    return step


def of_status(answer: ProviderAnswer) -> str:
    if answer.status == 200:
        return "read"
    raise faults.of_status(answer)


async def test_a_payout_over_the_bank_s_rate_is_not_sent():
    """Proven: no byte was sent, and no connection was opened."""
    scene = Scene(Road(), declared=SLOW)
    first = await scene.pay_for(PAY_MINE)

    second = await scene.pay_for(PAY_MINE)
    other = await scene.pay_for(PAY_YOURS)

    assert isinstance(first, Accepted)
    assert isinstance(second, NotSent)
    assert second.evidence == REFUSED_HERE
    assert (second.retry_after or 0) > 50
    assert isinstance(other, Accepted)
    assert scene.road.calls == 2
    assert scene.told.counts == [("provider_limited", "bank.create_payout.rate")]
    assert [call.outcome for call in scene.told.calls] == ["ok", "rate_limited", "ok"]


async def test_a_read_over_the_bank_s_rate_fails_with_retry_after():
    scene = Scene(Road(), declared=SLOW)
    await scene.client.read(MINE, of_status)

    with pytest.raises(RateLimited) as refused:
        await scene.client.read(MINE, of_status)

    assert refused.value.retry_after == pytest.approx(100, abs=1)
    assert refused.value.http_status is None
    assert (scene.road.calls, scene.told.retries, scene.told.states) == (1, [], [])


async def test_the_operator_s_limits_override_the_declared_ones():
    lifted = msgspec.structs.replace(LIMITS, account_limits=AccountLimits(rates={"*": None}))
    scene = Scene(Road(), declared=SLOW, limits=lifted)

    for _ in range(5):
        await scene.client.read(MINE, of_status)

    assert scene.road.calls == 5


async def test_a_place_is_released_however_the_call_ends():
    scene = Scene(
        Road([Unavailable(Reason.TIMEOUT), None, Unreachable(Reason.CLOSED)]),
        declared=AccountLimits(in_flight=1),
    )
    for _ in range(2):
        with pytest.raises(ProviderError):
            await scene.client.read(MINE, raising(BadReply(Reason.NOT_JSON)))
    assert isinstance(await scene.pay_for(PAY_MINE), NotSent)

    assert await scene.client.read(MINE, of_status) == "read"


@cases("headers", [{"Retry-After": "60"}, {"Retry-After": "Fri, 20 Nov 2026 12:01:00 GMT"},
                {"RateLimit-Reset": "60"}])  # fmt: skip
async def test_a_pause_requested_by_the_bank_applies_to_that_operation_and_account(
    headers: dict[str, str],
):
    scene = Scene(Road([refusing(**headers)]))
    with pytest.raises(RateLimited):
        await scene.client.read(MINE, of_status)

    with pytest.raises(RateLimited) as paused:
        await scene.client.read(MINE, of_status)
    others = [
        await scene.client.read(msgspec.structs.replace(MINE, account="yours"), of_status),
        await scene.client.read(msgspec.structs.replace(MINE, operation="list_keys"), of_status),
    ]
    scene.clock.passes(60)

    assert paused.value.retry_after == pytest.approx(60)
    assert others == ["read", "read"]
    assert await scene.client.read(MINE, of_status) == "read"
    assert scene.road.calls == 4
    assert scene.told.counts == [("provider_limited", "bank.get_balance.pause")]


async def test_a_payout_refused_with_429_pauses_its_account_without_opening_the_breaker():
    """The first is unknown, because a bare status proves nothing; the next is not sent."""
    scene = Scene(Road([refusing(**{"Retry-After": "60"})]))

    first = await scene.pay_for(PAY_MINE, raising(RateLimited(Reason.RATE_LIMITED)))
    second = await scene.pay_for(PAY_MINE)
    others = [await scene.pay_for(PAY_YOURS) for _ in range(9)]

    assert isinstance(first, Unknown)
    assert isinstance(second, NotSent)
    assert second.evidence == REFUSED_HERE
    assert (second.retry_after or 0) > 50
    assert all(isinstance(each, Accepted) for each in others)
    assert scene.told.states == []


async def test_a_listed_rate_limit_refusal_is_not_sent_and_pauses_with_any_status():
    scene = Scene(Road())
    refusal = NotSent(ANSWER.evidence("rate_limited"))

    first = await scene.pay_for(PAY_MINE, lambda _: refusal)
    again = scene.client.admission.enter_now(PAY_MINE)

    assert first == refusal
    assert again is None
    assert scene.client.admission.enter_now(PAY_YOURS) is not None


async def test_a_bank_s_own_rate_limit_error_pauses_too():
    scene = Scene(Road())
    with pytest.raises(RateLimited):
        await scene.client.read(MINE, raising(RateLimited(Reason.RATE_LIMITED, http_status=400)))
    scene.clock.passes(0.5)

    assert scene.client.admission.bank_limits is not None
    assert scene.client.admission.bank_limits.enter_now(MINE) is False

"""The port's calls over an adapter that raises, leaks or lacks: operations see rules kept."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from gateway.banks.checked_adapter import CheckedAdapter
from gateway.banks.port import providers
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    BadReply,
    CredentialsRefused,
    NotFound,
    NotSupported,
    OutcomeUnknown,
    ProviderAdapter,
    ProviderError,
    RateLimited,
    Refused,
    Rejected,
    Unavailable,
    Unknown,
    Unreachable,
)
from gateway.core.bank_calls import NoTurn, turn_at_bank
from gateway.core.money import Money
from tests.world.answers import CALLS, CANARY, MONEY, VALUE, CheckedWorld, LyingAdapter, raising

calls = pytest.mark.parametrize("name", list(CALLS))


@calls
async def test_a_valid_answer_passes_unchanged(name: str):
    """Operations get exactly what the adapter returns, and nothing is counted."""
    world = CheckedWorld()

    said = await world.ask(name)

    truth = CALLS[name].answer
    assert said == (list(truth) if isinstance(truth, tuple) else truth)
    assert world.adapter.asked == [name]
    assert not world.counted


MISTAKES = [
    KeyError(CANARY),
    OSError(CANARY),
    AttributeError(CANARY),
    TimeoutError(CANARY),
    RecursionError(CANARY),
    MemoryError(CANARY),
    ExceptionGroup(CANARY, [ValueError(CANARY)]),
    asyncio.CancelledError(CANARY),
    SystemExit(CANARY),
]


@pytest.mark.parametrize(
    ("name", "mistake"),
    [*((name, MISTAKES[0]) for name in CALLS), *(("get_balance", each) for each in MISTAKES[1:])],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
async def test_any_exception_of_an_adapter_is_its_fault(
    name: str, mistake: BaseException, caplog: pytest.LogCaptureFixture
):
    """Its class and location are logged, but not its text."""
    world = CheckedWorld(**{name: raising(mistake)})

    with caplog.at_level(logging.DEBUG):
        await world.fails(name, "adapter_raised")

    [line] = [each.getMessage() for each in caplog.records if "adapter_fault" in each.getMessage()]
    assert f"provider=p operation={name} raised={type(mistake).__name__}" in line
    assert "at=tests.world.answers:" in line
    assert not any(word in caplog.text for word in CANARY.split())


@pytest.mark.parametrize(
    "kind",
    [
        *(NotSupported, NotFound, Refused, CredentialsRefused, RateLimited, Unreachable),
        *(Unavailable, BadReply, OutcomeUnknown),
    ],
)
async def test_a_provider_error_keeps_its_class_and_loses_the_bank_s_words(
    kind: type[ProviderError],
):
    """The reason is one of our own, or none."""
    told = [kind(CANARY, http_status=404, retry_after=2), kind("timeout"), kind("timeout")]
    told[2].reason = object()  # type: ignore[assignment]

    seen = []
    for problem in told:
        with pytest.raises(ProviderError) as failed:
            await CheckedWorld(get_balance=raising(problem)).ask("get_balance")
        assert failed.value.__cause__ is None
        seen.append((type(failed.value), failed.value.reason, failed.value.http_status))

    words = ["unlisted_reason", "timeout", "unlisted_reason"]
    assert seen == [
        (kind, word, status) for word, status in zip(words, (404, None, None), strict=True)
    ]


class Own(Refused):
    """An author's class, made without its parent's constructor."""

    def __init__(self) -> None:
        pass


@pytest.mark.parametrize("problem", [Own(), ProviderError("timeout")], ids=["own", "root"])
async def test_a_subclass_of_a_provider_error_becomes_its_nearest_known_class(
    problem: ProviderError,
):
    with pytest.raises(Refused if isinstance(problem, Own) else BadReply):
        await CheckedWorld(get_balance=raising(problem)).ask("get_balance")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        *((wait, None) for wait in (float("nan"), float("inf"), -1, 10**9, "2", None, True)),
        (0, 0.0),
        (2, 2.0),
        (1.5, 1.5),
    ],
)
async def test_an_invalid_retry_after_is_dropped(said: object, kept: float | None):
    problem = RateLimited("rate_limited", retry_after=said)  # type: ignore[arg-type]

    with pytest.raises(RateLimited) as failed:
        await CheckedWorld(get_balance=raising(problem)).ask("get_balance")

    assert failed.value.retry_after == kept


@calls
async def test_a_cancelled_request_is_not_a_fault_of_the_adapter(name: str):
    world = CheckedWorld()

    async def endless(*_: object) -> None:
        await asyncio.Event().wait()

    world.adapter.__dict__[name] = endless
    task = asyncio.create_task(world.ask(name))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert not world.counted


@pytest.mark.parametrize("option", list(PortCall))
async def test_a_call_an_adapter_lacks_is_not_supported(option: PortCall):
    """As if it were undeclared; a payout or refund is unknown."""

    class Nine:
        capabilities = LyingAdapter().capabilities

    world = CheckedWorld()
    world.checked.checked = Nine()  # type: ignore[assignment]

    if option in {PortCall.CREATE_PAYOUT, PortCall.CREATE_REFUND}:
        assert isinstance(await world.ask(option.value), Unknown)
    else:
        with pytest.raises(NotSupported):
            await world.ask(option.value)


async def test_a_method_that_is_not_async_is_a_fault():
    """A method defined without ``async``."""
    world = CheckedWorld()
    world.adapter.__dict__["get_balance"] = lambda _account: CALLS["get_balance"].answer

    await world.fails("get_balance", "adapter_raised")


PORTS = [
    ProviderAdapter,
    *(port for name, port in vars(providers).items() if name.endswith("Calls")),
]


@pytest.mark.parametrize("port", PORTS, ids=lambda port: port.__name__)
def test_every_call_of_every_port_is_checked(port: type):
    """A new call gets its check, its valid answer in the table, and all invalid ones above."""
    methods = {name for name, made in vars(port).items() if inspect.iscoroutinefunction(made)}

    assert methods - {"start", "close"} <= set(CALLS)
    assert all(hasattr(CheckedWorld().checked, name) for name in methods)
    assert {option.value for option in PortCall} <= set(CALLS)


async def test_starting_and_closing_reach_the_adapter():
    world = CheckedWorld()

    await world.checked.start()
    await world.checked.close()

    assert world.adapter.asked == ["start", "close"]


@pytest.mark.parametrize("name", sorted(MONEY))
@pytest.mark.parametrize("kind", [NotFound, Unreachable, Refused])
async def test_a_call_that_moves_money_never_raises_for_the_bank(
    name: str, kind: type[ProviderError]
):
    """Not even for "certainly not sent", which has its own outcome."""
    await CheckedWorld(**{name: raising(kind(CANARY))}).fails(name, "adapter_raised")


@pytest.mark.parametrize(
    ("largest", "asked"), [(VALUE, ["create_payout"]), (Money(VALUE.centavos - 1), [])]
)
async def test_a_payout_above_the_bank_s_maximum_is_rejected_unsent(
    largest: Money, asked: list[str]
):
    """Like the bank's own refusal of a limit, without sending a byte."""
    adapter = LyingAdapter()
    adapter.capabilities = replace(adapter.capabilities, max_value=largest)
    checked = CheckedAdapter("p", adapter, lambda _event, _label: None)  # type: ignore[arg-type]

    said = await checked.create_payout(*CALLS["create_payout"].asked)

    assert adapter.asked == asked
    if not asked:
        assert isinstance(said, Rejected)
        assert (said.failure, said.forbidden) == (FailureCode.LIMIT_EXCEEDED, True)
        assert not said.evidence.bytes_left


async def test_each_read_for_a_user_takes_a_turn_at_the_bank():
    """Calls that move money do not wait."""
    world, turns = CheckedWorld(), list[str]()

    @asynccontextmanager
    async def turn(bank: str) -> AsyncIterator[None]:
        turns.append(f"{bank} {len(world.adapter.asked)}")
        yield

    before = turn_at_bank.set(turn)
    try:
        for name in CALLS:
            await world.ask(name)
    finally:
        turn_at_bank.reset(before)
    await world.ask("get_balance")

    reads = [at for at, name in enumerate(CALLS) if name not in MONEY]
    assert turns == [f"p {at}" for at in reads]


async def test_a_read_without_a_turn_is_refused():
    world = CheckedWorld()

    @asynccontextmanager
    async def turn(_bank: str) -> AsyncIterator[None]:
        raise NoTurn
        yield

    before = turn_at_bank.set(turn)
    try:
        with pytest.raises(Unreachable) as refused:
            await world.ask("get_balance")
    finally:
        turn_at_bank.reset(before)

    assert (refused.value.reason, world.adapter.asked) == ("bulkhead_full", [])

"""
Cases about faults of a bank's wire, and the one thing an adapter makes of each.

A fault is the same for every bank: it happens below the bank's dialect.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import msgspec

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.charges import Charge
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.banks.port.providers import (
    BadReply,
    CredentialsRefused,
    NotSent,
    Phase,
    ProviderError,
    RateLimited,
    Reason,
    Refused,
    Unavailable,
    Unknown,
    Unreachable,
)
from provider_adapters.testing.verify.relay import Line, Play, Relay, Seen, reading, saying, written
from provider_adapters.testing.verify.stage import AnswerForm, NotApplicable
from provider_adapters.testing.verify.trial import (
    CHANGES,
    MOVES,
    OK,
    ONCE,
    SHORT,
    WITHOUT_RESULT,
    Order,
    Trial,
    a_read,
    applies_if,
    arguments,
    case,
    make,
    money_orders,
    passed,
    payouts,
    refunds,
)

# Between the pieces of what never ends: the adapter's time limit ends it, not its processor.
_PAUSE_S: Final = 0.005


@dataclass(frozen=True, slots=True)
class WireFault:
    """
    A fault after connecting, so of unknown outcome for a payout.

    Attributes:
        read: The error of a read.
        reason: Of the read's error and the payout's Unknown; empty where it depends on the bank.
        reads: Whether the bank reads the request at all.
        waits: Whether a time limit ends it.
        complete: Whether it is a success, and right for a call that wants no content.
    """

    name: str
    play: Play
    read: type[ProviderError]
    reason: str
    reads: bool = True
    waits: bool = False
    complete: bool = False


async def close(_: Line) -> None:
    """Return, and the connection is closed."""


async def reset(line: Line) -> None:
    """Close with RST."""
    line.reset()


async def hang(line: Line) -> None:
    """Answer nothing until the adapter closes the connection."""
    await line.reader.read()


def then(first: bytes, play: Play) -> Play:
    """Send bytes before another play."""

    async def both(line: Line) -> None:
        await line.say(first)
        await asyncio.sleep(0.02)
        await play(line)

    return both


async def drip(line: Line) -> None:
    """Send a byte at intervals."""
    for byte in written(b'{"id":1}'):
        await line.say(bytes([byte]))
        await asyncio.sleep(0.05)


def endless(head: bytes, piece: Callable[[int], bytes]) -> Play:
    """Never stop talking."""

    async def flood(line: Line) -> None:
        await line.say(head)
        for turn in range(1_000_000):
            await line.say(piece(turn))
            await asyncio.sleep(_PAUSE_S)

    return flood


_OK: Final = b"HTTP/1.1 200 OK\r\n"
_CHUNKED: Final = _OK + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
_CHUNK: Final = b"10000\r\n" + b" " * 65536 + b"\r\n"
_HEADERS: Final = b"X-%d: y\r\n" + b"X-Y: y\r\n" * 999
_HALF_HEAD: Final = _OK + b"Content-Type: appl"
_HALF_BODY: Final = written(b'{"id": "1", "rest": "...."}')[:-5]
_BOMB: Final = gzip.compress(b"x" * (2**23))
_EMPTY: Final = written(b"{}")
_SORRY: Final = b"<html>\r\nSet-Cookie: a=b\r\n" + b"sorry " * 2000


def _lost(name: str, play: Play, *, reads: bool = True) -> WireFault:
    return WireFault(name, play, Unavailable, "connection_lost", reads=reads)


def _late(name: str, play: Play, *, reads: bool = True) -> WireFault:
    return WireFault(name, play, Unavailable, "timeout", reads=reads, waits=True)


def _bad(name: str, data: bytes, reason: str, *, complete: bool = False) -> WireFault:
    return WireFault(name, saying(data), BadReply, reason, complete=complete)


def _status(
    status: str, read: type[ProviderError], reason: str, header: tuple[str, str] | None = None
) -> WireFault:
    data = written(_SORRY, status=status, headers=dict([header]) if header else None)
    complete = status.startswith("2")
    return WireFault(f"status {status}", saying(data), read, reason, complete=complete)


FAULTS: Final = (
    _lost("close before reading", close, reads=False),
    _lost("reset before reading", reset, reads=False),
    _late("hang before reading", hang, reads=False),
    _lost("close after reading", close),
    _lost("reset after reading", reset),
    _late("hang after reading", hang),
    _lost("half head, close", then(_HALF_HEAD, close)),
    _late("half head, hang", then(_HALF_HEAD, hang)),
    WireFault("half body, close", then(_HALF_BODY, close), BadReply, "answer_cut_short"),
    _late("half body, hang", then(_HALF_BODY, hang)),
    _late("drip", drip),
    WireFault("endless chunks", endless(_CHUNKED, lambda _: _CHUNK), BadReply, "too_large"),
    WireFault("endless headers", endless(_OK, lambda turn: _HEADERS % turn), BadReply, "not_http"),
    _late("endless informational answers", endless(b"", lambda _: b"HTTP/1.1 102 P\r\n\r\n")),
    _bad("a header of 64 KiB", written(b"{}", headers={"X-A": "a" * 65536}), "not_http"),
    _bad("length over the limit", _EMPTY[:-2].replace(b"h: 2", b"h: 67108864"), "too_large"),
    # too large for a client that opens it, a foreign coding for another
    _bad("compressed", written(_BOMB, headers={"Content-Encoding": "gzip"}), ""),
    _bad("garbage", b"\x16\x03\x01\x00 what is this\r\n\r\n", "not_http"),
    _bad("two lengths", _EMPTY.replace(b"\r\n\r\n", b"\r\nContent-Length: 7\r\n\r\n"), "not_http"),
    _bad("HTML 200", written(b"<html>maintenance</html>"), "not_json", complete=True),
    _bad("empty 200", written(b""), "not_json", complete=True),
    _bad("byte order mark", written(b"\xef\xbb\xbf{}"), "wrong_shape", complete=True),
    _bad("not UTF-8", written(b'{"id": "\xff\xfe"}'), "", complete=True),
    _bad("100 000 levels", written(b'{"a":' + b"[" * 100_000), "not_json", complete=True),
    _bad("missing fields", written(b"{}"), "wrong_shape", complete=True),
    _bad("a list", written(b"[]"), "wrong_shape", complete=True),
    _status("201 Created", BadReply, ""),
    _status("204 No Content", BadReply, ""),
    _status("307 Temporary Redirect", BadReply, "redirected", ("Location", "/elsewhere")),
    _status("400 Bad Request", Refused, "refused"),
    _status("401 Unauthorized", CredentialsRefused, "credentials_refused"),
    _status("404 Not Found", BadReply, "unexpected_status"),
    _status("429 Too Many Requests", RateLimited, "rate_limited", ("Retry-After", "30")),
    _status("503 Service Unavailable", Unavailable, "server_error", ("Retry-After", "1")),
)
"""All 34: before the request is read, in the head, in the body, as a status."""
EACH_KIND: Final = tuple(
    {(each.reads, each.read, each.reason): each for each in reversed(FAULTS)}.values()
)
"""The first fault of each error and reason; what differs within a kind is the HTTP client's."""


Attempt = Callable[[], Awaitable[None]]

_AT_ONCE: Final = 12
"""Attempts at once: most of their time they wait for time limits."""
_UNCONNECTED: Final = msgspec.structs.replace(SHORT, connect_s=0.4, read_s=1.0, payout_s=1.0)
"""For addresses where no connection ever comes about."""


async def _all_of(attempts: Iterable[Attempt], at_once: int = _AT_ONCE) -> None:
    """Make every attempt; a failed one is made again alone, since a busy machine may be late."""
    lane, failed = asyncio.Semaphore(at_once), list[Attempt]()

    async def made(attempt: Attempt) -> None:
        async with lane:
            try:
                await attempt()
            except AssertionError:
                failed.append(attempt)

    async with asyncio.TaskGroup() as together:
        for each in attempts:
            together.create_task(made(each))
    for attempt in failed:
        await attempt()


async def _requests_of(trial: Trial, call: PortCall) -> Sequence[Seen]:
    """Find out a call's requests to the bank without faults."""
    given = await arguments(trial, call)
    async with trial.again() as fresh:
        await make(fresh.adapter, call, given)
    assert fresh.relay.seen, "the bank was asked nothing"
    return fresh.relay.seen


async def money_path(trial: Trial, order: Order) -> tuple[int, int]:
    """Return the number of requests, and of that after which the books say that money moved."""
    moved: list[int] = []

    async def watched(line: Line) -> None:
        answer = await line.ask(await line.read())
        if not moved and await trial.paid(order):
            moved.append(line.number)
        await line.say(answer)

    async with trial.again(watched) as fresh:
        outcome = await fresh.pay(order)
    assert isinstance(outcome, OK), f"without a fault it is answered by {outcome!r}"
    assert await trial.paid(order) == [order.value], "without a fault it was not paid once"
    assert moved, "no request moved the money"
    return len(fresh.relay.seen), moved[0]


async def money_request(trial: Trial) -> int:
    """Return which request of a payout moves the money."""
    return (await money_path(trial, payouts(trial)()))[1]


def _spoilt(fault: WireFault, *, executed: bool = False) -> Play:
    return reading(fault.play, executed=executed) if fault.reads else fault.play


async def _call(trial: Trial, call: PortCall) -> None:
    """A call that moves no money fails in one known way, for every fault at its requests."""
    path = await _requests_of(trial, call)
    needs_nothing = call in WITHOUT_RESULT or trial.stage.form(call) is AnswerForm.NOTHING

    async def cut(number: int, fault: WireFault) -> None:
        what, given = f"{fault.name} at request {number}", await arguments(trial, call)
        async with trial.again(_spoilt(fault), at=number, limits=SHORT) as fresh:
            ended = await caught(make(fresh.adapter, call, given))
        if call is PortCall.REMOVE_CALLBACK:  # banks have room for a few addresses alone
            await caught(make(trial.adapter, call, given))
        enough = fault.complete and needs_nothing
        if not isinstance(ended, ProviderError):
            fine = (call is PortCall.FIND_PAYOUT and isinstance(ended, Unknown)) or (
                enough and not isinstance(ended, Exception)
            )
            assert fine or await _is_made(trial, call, ended), f"{what}: {ended!r}"
        # what came before the last request may have errors of its own
        elif number == len(path) and not enough:
            kinds = (fault.read, Unavailable) if call in CHANGES else fault.read
            assert isinstance(ended, kinds), f"{what}: raised {ended!r}"
            assert fault.reason in {"", ended.reason}, f"{what}: raised {ended!r}"
        asked = [(each.method, each.path) for each in fresh.relay.seen[number - 1 :]]
        reads = path[number - 1].method == "GET" or path[number - 1].path == trial.stage.token_path
        most = 1 if call in ONCE and not reads else 2
        assert not asked or asked.count(asked[0]) <= most, f"{what}: times asked"

    at_once = 1 if call is PortCall.REMOVE_CALLBACK else _AT_ONCE
    numbers = range(1, len(path) + 1)
    await _all_of((partial(cut, each, fault) for each in numbers for fault in EACH_KIND), at_once)


async def _is_made(trial: Trial, call: PortCall, ended: object) -> bool:
    """Return whether a charge that was returned in spite of a fault exists: it was made before."""
    if call is not PortCall.CREATE_CHARGE or not isinstance(ended, Charge):
        return False
    there = await caught(trial.adapter.get_charge(trial.account, ended.reference))
    return isinstance(there, Charge)


for _each in set(PortCall) - MOVES:
    case(f"wire.{_each.value}", _each, needs={_each})(_call)


async def caught(made: Awaitable[object]) -> object:
    """Return a call's result or error."""
    try:
        return await made
    except Exception as problem:  # noqa: BLE001 - an author's code may raise anything
        return problem


@case("wire.create_payout_by_key", PayoutMethod.PIX, needs={PortCall.CREATE_PAYOUT})
@case("wire.create_payout_by_account", PayoutMethod.BANK_ACCOUNT, needs={PortCall.CREATE_PAYOUT})
@case("wire.create_refund", needs={PortCall.CREATE_REFUND})
async def money(trial: Trial, method: PayoutMethod | None = None) -> None:
    """A payout or refund is sent once, and unknown unless it was certainly not sent."""
    if method:
        needs_method(trial, method)
    ordered = payouts(trial, method) if method else await refunds(trial)
    requests, moves = await money_path(trial, ordered())

    async def cut(number: int, fault: WireFault, executed: bool) -> None:  # noqa: FBT001 - of a table
        order, what = ordered(), f"{fault.name} at request {number}, executed: {executed}"
        play = _spoilt(fault, executed=executed)
        async with trial.again(play, at=number, limits=SHORT) as fresh:
            outcome = await caught(fresh.pay(order))
        wanted = [order.value] if executed or number > moves else []
        assert await trial.paid(order) == wanted, f"{what}: {outcome!r}"
        if number < moves:
            assert isinstance(outcome, NotSent), f"{what}: {outcome!r}"
        elif number > moves:
            assert isinstance(outcome, OK), f"{what}: {outcome!r}"
        else:
            assert isinstance(outcome, Unknown), f"{what}: {outcome!r}"
            assert outcome.evidence.bytes_left, f"{what}: it says that no byte left"
            assert fault.reason in {"", outcome.evidence.reason}, f"{what}: {outcome!r}"
            assert fresh.relay.connections == moves, f"{what}: it was sent once"

    await _all_of(
        partial(cut, number, fault, executed)
        for number in range(1, requests + 1)
        for fault in (FAULTS if method is trial.method else EACH_KIND)
        for executed in ((False, True) if number == moves and fault.reads else (False,))
    )


@case("wire.read_again", needs={PortCall.GET_BALANCE})
async def read_again(trial: Trial) -> None:
    """A read whose connection was lost is repeated once, and that is reported."""
    path = await _requests_of(trial, PortCall.GET_BALANCE)
    async with trial.again(reading(close), at=len(path), once=True) as fresh:
        held = await fresh.adapter.get_balance(trial.account)
    assert held.balance.centavos > 0
    assert [each for _, each in fresh.witness.told["provider_retry"]] == ["get_balance"]


@case("wire.deadline", needs={PortCall.CREATE_PAYOUT})
async def deadline(trial: Trial) -> None:
    """After its deadline the money request of a payout or refund is never written."""
    for ordered in await money_orders(trial):
        _, moves = await money_path(trial, ordered())
        order = ordered()
        async with trial.again() as fresh:
            outcome = await fresh.pay(order, passed())
        assert [seen for seen in fresh.relay.seen if seen.number >= moves] == []
        assert await trial.paid(order) == []
        assert fresh.witness.told["breaker"] == [], "it was held against the bank"
        assert isinstance(outcome, NotSent), outcome
        # Checked in the same step as the write, so after connecting; what comes before may be late.
        told = (outcome.evidence.reason, outcome.evidence.phase)
        assert moves > 1 or told == (Reason.DEADLINE_PASSED, Phase.CONNECTED)


@case("wire.unreached")
async def unreached(trial: Trial) -> None:
    """A bank that takes no connection, or none with TLS, is certainly sent nothing."""
    scheme = "http" if trial.stage.relay_tls is None else "https"  # not all adapters take http
    gone, hangs_up, silent = Relay(""), Relay(""), Relay("")
    hangs_up.begin(close)
    silent.begin(hang)
    async with gone.open():
        pass
    async with hangs_up.open(), silent.open():
        for address, reasons in (
            (f"{scheme}://127.0.0.1:{gone.port}", {Reason.CONNECT_FAILED}),
            (f"https://127.0.0.1:{hangs_up.port}", set(Reason)),
            (f"https://127.0.0.1:{silent.port}", {Reason.CONNECT_TIMEOUT, Reason.TIMEOUT}),
        ):
            for ordered in await money_orders(trial):
                async with trial.at(address, _UNCONNECTED) as away:
                    outcome = await away.pay(ordered())
                assert isinstance(outcome, NotSent), f"{address}: {outcome!r}"
                assert not outcome.evidence.bytes_left, f"{address}: {outcome!r}"
                assert outcome.evidence.reason in reasons, f"{address}: {outcome!r}"
            with contextlib.suppress(NotApplicable):
                async with trial.at(address, _UNCONNECTED) as away:
                    read = await a_read(away)
                    ended = await caught(read(trial.account))
                assert isinstance(ended, Unreachable), f"{address}: {ended!r}"
                assert ended.reason in reasons, f"{address}: {ended!r}"


def needs_method(trial: Trial, method: PayoutMethod) -> None:
    """The case does not apply to an adapter that does not declare the method."""
    declared = method in trial.capabilities.destinations
    applies_if(declared, f"destinations: {method.value} is not declared")

"""One request from beginning to end, on a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from gateway.banks.port.providers import NotFound, ProviderError, Unavailable
from gateway.core import errors
from gateway.core.calls import Call, Input, Parameter
from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ServiceError
from gateway.core.priority import Priority
from gateway.core.reasons import Unsigned
from gateway.core.waiting import unmeasured_wait
from gateway.http.rendering import MEDIA_TYPE
from tests.world import raw_http
from tests.world.gateway.listener_client import Asks, admission, on_stage, route, surface
from tests.world.people import account, principal
from tests.world.waiting import until


def raising(problem: Exception) -> Callable[[Any, str], Any]:
    async def run(_who: object, _said: str) -> str:
        raise problem

    return run


async def test_the_result_of_an_operation_is_rendered():
    async with on_stage(surface(route())) as listener_client:
        status, headers, body = await listener_client.ask("GET", "/v1/echo/hello")

    assert (status, body) == (200, {"said": "hello"})
    assert headers["Content-Type"] == MEDIA_TYPE
    assert headers["Cache-Control"] == "no-store"


async def test_every_request_is_reported_once():
    """Log line and metric are made from this record."""
    times = count()
    async with on_stage(surface(route()), clock=lambda: float(next(times))) as listener_client:
        await listener_client.ask("GET", "/v1/echo/hello", headers={"X-Trace-ID": "mine"})

    (record,) = listener_client.witness.records
    told = (record.trace_id, record.surface, record.route, record.path_template, record.method)
    assert told == ("mine", "tests", "tests.echo", "/v1/echo/{word}", "GET")
    assert (record.status, record.code, record.duration_s) == (200, "", 1.0)
    assert record.bytes_out == len(b'{"said":"hello"}')
    assert record.address == "127.0.0.1"


async def test_an_expect_header_is_not_echoed_for_any_target():
    """Without our route aiohttp would answer by itself, before any middleware."""
    head = b"OPTIONS * HTTP/1.1\r\n" + raw_http.HOST + b"Expect: a-miracle\r\n\r\n"

    async with on_stage(surface(route())) as listener_client:
        told = await raw_http.exchange(listener_client.port, head, answers=1)

    assert [(each.status, each.code) for each in told.answers] == [(404, "SVC.GTW.001")]
    assert b"miracle" not in told.raw
    assert listener_client.record.code == "SVC.GTW.001"


async def test_the_invalid_field_is_logged():
    def no(_call: Call) -> None:
        raise ServiceError(errors.PAYLOAD_INVALID, "key_form", field="destination.key")

    async with on_stage(surface(route(), policies=[Asks(no)])) as listener_client:
        await listener_client.ask("GET", "/v1/echo/a")

    assert (listener_client.record.reason, listener_client.record.field) == (
        "key_form",
        "destination.key",
    )


@pytest.mark.parametrize(
    ("error", "reason", "told"),
    [
        (errors.CREDENTIALS_MISSING, "missing", "missing"),
        (errors.CREDENTIALS_INVALID, "invalid", "invalid"),
        (errors.CREDENTIALS_INVALID, "session_over", "invalid"),
        (errors.TOO_MANY_REQUESTS, "address_blocked", "throttled"),
        (errors.AUTH_UNAVAILABLE, "unavailable", "unavailable"),
        (errors.TOO_MANY_REQUESTS, "quota_sign_in", ""),
        (errors.SCOPE_DENIED, "token", ""),
    ],
)
async def test_the_log_records_how_far_authentication_got(error: ErrorCode, reason: str, told: str):
    """One of a closed set; empty when refused before authentication."""

    def no(_call: Call) -> None:
        raise ServiceError(error, reason)

    async with on_stage(surface(route(), policies=[Asks(no)])) as listener_client:
        await listener_client.ask("GET", "/v1/echo/a")

    assert listener_client.record.auth == told


@pytest.mark.parametrize(
    ("error", "reason", "told"),
    [
        (errors.CREDENTIALS_INVALID, Unsigned.DIGEST, "digest_wrong"),
        (errors.TOO_MANY_REQUESTS, "throttled", "throttled"),
        (errors.PERMISSION_DENIED, "permission", "ok"),
        (errors.PAYLOAD_INVALID, "missing", "ok"),
    ],
)
async def test_a_known_caller_without_a_signature_is_recorded_with_its_id(
    error: ErrorCode, reason: str, told: str
):
    def no(call: Call) -> None:
        call.principal = principal()
        raise ServiceError(error, reason)

    async with on_stage(surface(route(), policies=[Asks(no)])) as listener_client:
        await listener_client.ask("GET", "/v1/echo/a")

    assert listener_client.record.auth == told
    assert listener_client.record.client_id == principal().client_id


async def test_policies_run_in_order_until_the_first_refusal():
    asked: list[str] = []

    def note(name: str, error: ErrorCode | None = None) -> Asks:
        def judge(_call: Call) -> None:
            asked.append(name)
            if error:
                raise ServiceError(error, name)

        return Asks(judge)

    policies = [note("a"), note("b", errors.SCOPE_DENIED), note("c", errors.INTERNAL)]
    async with on_stage(surface(route(), policies=policies)) as listener_client:
        status, _, _ = await listener_client.ask("GET", "/v1/echo/a")

    assert (status, asked) == (403, ["a", "b"])


async def test_headers_of_policies_are_on_answers_and_errors():
    def quota(call: Call) -> None:
        call.headers["RateLimit"] = "1"

    shown = surface(route(), route(raising(KeyError()), path="/bad/{word}"), policies=[Asks(quota)])
    async with on_stage(shown) as listener_client:
        _, good, _ = await listener_client.ask("GET", "/v1/echo/a")
        status, bad, _ = await listener_client.ask("GET", "/v1/bad/a")

    assert (good["RateLimit"], status, bad["RateLimit"]) == ("1", 502, "1")


async def test_the_caller_is_logged():
    def known(call: Call) -> None:
        call.principal, call.account = principal(), account()

    async with on_stage(surface(route(), policies=[Asks(known)])) as listener_client:
        await listener_client.ask("GET", "/v1/echo/a")

    told = (
        listener_client.record.auth,
        listener_client.record.client_id,
        listener_client.record.account_id,
        listener_client.record.account_hash,
    )
    assert told == ("ok", principal().client_id, account().id, account().log_hash)
    assert (listener_client.record.provider, listener_client.record.resource) == (
        "sandbox",
        "balance",
    )


FAILS: dict[type[Exception], ErrorCode] = {
    NotFound: errors.CHARGE_NOT_FOUND,
    ProviderError: errors.CHARGE_UNAVAILABLE,
}


@pytest.mark.parametrize(("asked_s", "told"), [(None, "2"), (0.2, "1"), (9_999, "120"), (-3, "1")])
async def test_a_502_has_retry_after(asked_s: float | None, told: str):
    """In whole seconds, from the bank's Retry-After within bounds."""
    problem = Unavailable("busy", retry_after=asked_s)
    async with on_stage(surface(route(raising(problem), fails=FAILS))) as listener_client:
        status, headers, _ = await listener_client.ask("GET", "/v1/echo/a")

    assert (status, headers["Retry-After"]) == (502, told)


async def test_a_body_is_read_after_the_policies():
    """The body of a refused request is not read."""
    seen: list[bytes] = []

    def look(call: Call) -> None:
        seen.append(call.asked.body)

    shown = surface(route(method="POST", path="/echo", body_bytes=64), policies=[Asks(look)])
    async with on_stage(shown) as listener_client:
        _, _, body = await listener_client.ask("POST", "/v1/echo", data=b"hello")

    assert (seen, body) == ([b""], {"said": "hello"})


async def test_a_route_without_a_body_does_not_read_one():
    async with on_stage(surface(route())) as listener_client:
        status, _, body = await listener_client.ask("GET", "/v1/echo/word", data=b"other")

    assert (status, body) == (200, {"said": "word"})


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"41\r\n" + b"x" * 65 + b"\r\n0\r\n\r\n", errors.BODY_TOO_LARGE),
        (b"5\r\nhel", errors.REQUEST_TIMEOUT),
        (b"zz\r\n", errors.MALFORMED_REQUEST),
    ],
    ids=["too large", "too slow", "malformed"],
)
async def test_a_body_that_cannot_be_read_is_refused(body: bytes, error: ErrorCode):
    head = b"POST /v1/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with on_stage(
        surface(route(method="POST", path="/echo", body_bytes=64))
    ) as listener_client:
        told = await raw_http.exchange(listener_client.port, head + body)

    assert (told.answers[0].status, told.answers[0].code) == (error.status, error.code)


async def test_a_query_is_passed_on_complete():
    """Every value in order, including empty ones; invalid UTF-8 matches nothing."""
    seen: list[Any] = []

    def look(call: Call) -> None:
        seen.append(dict(call.asked.query))

    takes: Input[str] = Input(
        read=lambda _asked: "",
        parameters=(Parameter(name="a", required=False, schema={}, description=""),),
    )
    async with on_stage(surface(route(takes=takes), policies=[Asks(look)])) as listener_client:
        await listener_client.ask("GET", "/v1/echo/a?a=1&a=&b=%2B&c=%FF&d=x+y")

    assert seen == [{"a": ["1", ""], "b": ["+"], "c": ["\udcff"], "d": ["x y"]}]


async def test_requests_in_flight_are_counted_while_they_last():
    gate = asyncio.Event()

    async def wait(_who: object, said: str) -> str:
        await gate.wait()
        return said

    admitted = admission()
    async with on_stage(surface(route(wait)), admission=admitted) as listener_client:
        asks = listener_client.ask("GET", "/v1/echo/a", headers={"Authorization": "Basic a"})
        held = asyncio.create_task(asks)
        await until(lambda: admitted.in_flight(Priority.PARTNERS))
        during = sum(admitted.held)
        gate.set()
        await held

    assert (during, sum(admitted.held)) == (1, 0)


async def test_a_request_that_waits_holds_no_place_and_its_wait_is_not_measured():
    """Of a route that may wait; any other is in its place all the time."""
    entered, gates = ({word: asyncio.Event() for word in ("waits", "held")} for _ in range(2))
    times = count()

    async def wait(_who: object, said: str) -> str:
        with unmeasured_wait.get()():
            entered[said].set()
            await gates[said].wait()
        return said

    admitted, basic = admission(), {"Authorization": "Basic a"}
    routes = [
        replace(route(wait, path=f"/{each}/{{word}}"), waits=each == "waits") for each in gates
    ]
    during = {}
    async with on_stage(
        surface(*routes), admission=admitted, clock=lambda: float(next(times))
    ) as listener_client:
        for word, gate in gates.items():
            asking = listener_client.ask("GET", f"/v1/{word}/{word}", headers=basic)
            asked = asyncio.create_task(asking)
            await entered[word].wait()
            during[word] = sum(admitted.held)
            gate.set()
            await asked
    waits, held = listener_client.witness.records

    assert during == {"waits": 0, "held": 1}
    assert sum(admitted.held) == 0
    assert (waits.duration_s, waits.waited_s) == (2.0, 1.0)
    assert (held.duration_s, held.waited_s) == (1.0, 0.0)


async def test_ignored_fields_are_counted():
    def ignore(call: Call) -> None:
        call.asked.unknown_fields = 2

    async with on_stage(surface(route(), policies=[Asks(ignore)])) as listener_client:
        await listener_client.ask("GET", "/v1/echo/a")

    assert ("unknown_field", "tests.echo") in listener_client.witness.counted

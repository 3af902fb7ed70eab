"""Which requests are shed first, on a real socket; the loop's lag is the test's."""

from __future__ import annotations

import asyncio

import pytest

from gateway.core import errors
from gateway.core.bank_calls import turn_at_bank
from gateway.core.calls import Call
from gateway.core.errors import ServiceError
from gateway.core.priority import Priority
from gateway.http.admission import Admission
from gateway.http.documents import Page
from tests.world.gateway.listener_client import (
    Asks,
    Lag,
    ListenerClient,
    admission,
    on_stage,
    route,
    surface,
)
from tests.world.people import principal, somebody
from tests.world.waiting import until

ROUTES = [route(path=f"/{each.word}", priority=each) for each in Priority]
SHOWN = {"Authorization": "Basic any"}
SHED = 503


async def ask(client: ListenerClient, path: str, **headers: str) -> int:
    status, _, _ = await client.ask("GET", path, headers=headers)
    return status


@pytest.mark.parametrize(
    ("lag_s", "served"),
    [
        (0.0, "always payouts stops partners pages heavy strangers"),
        (0.08, "always payouts stops partners pages"),
        (0.2, "always payouts stops partners"),
        (1.0, "always payouts stops"),
        (3.0, "always"),
    ],
)
async def test_shed_classes_get_503_and_the_others_are_served(lag_s: float, served: str):
    admitted = admission(lag=Lag(lag_s))
    async with on_stage(surface(*ROUTES), admission=admitted) as client:
        said = {each.word: await ask(client, f"/v1/{each.word}", **SHOWN) for each in Priority}

    assert " ".join(word for word, status in said.items() if status == 200) == served
    assert {status for status in said.values() if status != 200} <= {SHED}
    assert sum(admitted.held) == 0


async def test_a_request_without_a_credential_is_shed_in_the_stranger_class():
    admitted = admission(lag=Lag(0.2))
    async with on_stage(surface(*ROUTES), admission=admitted) as client:
        said = [await ask(client, path) for path in ("/v1/payouts", "/v1/nowhere", "/v1/always")]
        paid = await ask(client, "/v1/payouts", **SHOWN)

    assert (said, paid) == ([SHED, SHED, SHED], 200)


async def test_a_page_is_shed_by_its_declared_class():
    pages = {
        "/style": Page("panel.static", "text/css", b"", priority=Priority.PAGES),
        "/openapi": Page("reference", "text/html", b""),
    }
    admitted = admission(lag=Lag(0.08))
    async with on_stage(surface(*ROUTES), admission=admitted, pages=pages) as client:
        said = [await ask(client, path) for path in pages]

    assert said == [200, SHED]


async def test_a_request_has_the_stranger_class_until_its_credential_is_known():
    admitted, looked_up = admission(), asyncio.Event()

    class LooksUp(Asks):
        async def __call__(self, call: Call) -> None:
            await looked_up.wait()
            raise ServiceError(errors.CREDENTIALS_INVALID, "invalid")

    shown = surface(*ROUTES, policies=[LooksUp(lambda _call: None)])
    async with on_stage(shown, admission=admitted) as client:
        asking = asyncio.create_task(ask(client, "/v1/payouts", **SHOWN))
        await until(lambda: sum(admitted.held))
        during = admitted.held[Priority.PAYOUTS], admitted.held[Priority.STRANGERS]
        looked_up.set()
        status = await asking

    assert (during, status, sum(admitted.held)) == ((0, 1), 401, 0)


async def test_a_known_caller_keeps_its_class_while_a_policy_waits():
    admitted, goes_on = admission(), asyncio.Event()

    class Knows:
        refuses = ()

        def __call__(self, call: Call) -> None:
            call.principal = principal()

    class Waits(Asks):
        async def __call__(self, call: Call) -> None:
            await goes_on.wait()

    shown = surface(*ROUTES, policies=[Knows(), Waits(lambda _call: None)])  # type: ignore[list-item] # one that does not wait
    async with on_stage(shown, admission=admitted) as client:
        asking = asyncio.create_task(ask(client, "/v1/payouts", **SHOWN))
        await until(lambda: sum(admitted.held))
        during = admitted.held[Priority.PAYOUTS]
        goes_on.set()
        await asking

    assert during == 1


async def test_a_shed_page_is_answered_with_a_delay():
    """It holds no place meanwhile; a partner is answered at once."""
    admitted = Admission(100, 0.25, Lag(9), lambda *_: None, wait_s=3_600)
    async with on_stage(surface(*ROUTES), admission=admitted) as client:
        page = asyncio.create_task(ask(client, "/v1/pages", **SHOWN))
        # three rounds: an answer to the page would have arrived
        partners = [await ask(client, "/v1/partners", **SHOWN) for _ in range(3)]
        waits = not page.done()
        page.cancel()

    assert (partners, waits, sum(admitted.held)) == ([SHED] * 3, True, 0)


async def test_only_a_user_s_request_takes_turns_at_banks():
    """Each is counted; the next request has its own."""
    charged = list[str]()
    admitted = admission()

    async def look(_who: object, said: str) -> str:
        turn = turn_at_bank.get()
        if turn is None:
            return "none"
        async with turn("one"):
            return f"{said} {sum(admitted.held)} {len(charged)}"

    def known(call: Call) -> None:
        if call.asked.path["word"] == "person":
            call.person = somebody()
            call.on_bank_call = lambda: charged.append("read")

    shown = surface(route(look, priority=Priority.PAGES), policies=[Asks(known)])
    async with on_stage(shown, admission=admitted) as client:
        person = await client.ask("GET", "/v1/echo/person", headers=SHOWN)
        partner = await client.ask("GET", "/v1/echo/partner", headers=SHOWN)

    assert (person[2]["said"], partner[2]["said"]) == ("person 0 1", "none")
    assert sum(admitted.held) == 0

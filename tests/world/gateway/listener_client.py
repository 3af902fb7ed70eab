"""Routes of the test's own on a real listener, and what is reported of each request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypedDict, get_type_hints

import aiohttp
from aiohttp import web
from yarl import URL

from gateway.core import errors
from gateway.core.calls import Call, Input, RawRequest
from gateway.core.catalogue import ErrorCode
from gateway.core.permissions import Action, Permission, Resource
from gateway.core.priority import Priority
from gateway.http.admission import Admission
from gateway.http.route import OK, Answer, Gate, Route, RouteLimits, Surface, content_of, main_of
from gateway.http.server import Serving, application
from gateway.http.table import Table
from gateway.net.server.listener import Address, Listener
from gateway.telemetry.ports import Count
from gateway.telemetry.records import AccessRecord
from tests.world.kernel import Witness

READ_BALANCE = Permission(Resource.BALANCE, Action.READ)
CHALLENGE = 'Basic realm="tests"'


@dataclass(slots=True)
class Lag:
    """The lag of loop and store, as a test sets it."""

    p95_s: float = 0.0
    store_wait_s: float = 0.0


def admission(count: Count = lambda *_: None, lag: Lag | None = None, most: int = 100) -> Admission:
    """Return an admission of so many; refusals are not held back."""
    return Admission(most, 0.25, lag or Lag(), count, wait_s=0.0)


class Said(TypedDict):
    said: str


@dataclass(frozen=True, slots=True)
class Asks:
    judges: Callable[[Call], None]
    refuses: tuple[ErrorCode, ...] = (errors.PERMISSION_DENIED,)

    async def __call__(self, call: Call) -> None:
        self.judges(call)


def text(asked: RawRequest) -> str:
    """Take the body, or what the path or the query says."""
    return asked.body.decode() or asked.path.get("word") or str(dict(asked.query))


TAKES: Input[str] = Input(read=text)
TAKES_BODY: Input[str] = Input(read=text, body=dict)


def show(said: str, _who: object) -> Said:
    return {"said": said}


async def echo(_who: object, said: str) -> str:
    return said


def route(
    runs: Callable[[Any, str], Awaitable[str]] = echo,
    *,
    method: str = "GET",
    path: str = "/echo/{word}",
    needs: Permission | None = READ_BALANCE,
    priority: Priority = Priority.PARTNERS,
    body_bytes: int = 0,
    takes: Input[str] | None = None,
    fails: Mapping[type[Exception], ErrorCode] | None = None,
) -> Route[Any]:
    """Declare a route whose every cell but a few is of no matter."""
    return declared(
        method=method,
        path=path,
        name=f"tests.{path.strip('/').split('/')[0]}",
        summary="Echo.",
        needs=needs,
        priority=priority,
        limits=RouteLimits("read", body_bytes),
        takes=takes or (TAKES_BODY if body_bytes else TAKES),
        runs=runs,
        shows=show,
        fails=fails if fails is not None else {LookupError: errors.BALANCE_UNAVAILABLE},
        raises=(),
    )


def declared(
    runs: Callable[[Any, str], Awaitable[str]],
    shows: Callable[[str, object], Said | Answer[bytes]],
    takes: Input[str],
    **parts: Any,
) -> Route[Any]:
    """Declare a route without a method of a service."""

    async def serve(who: Any, asked: RawRequest) -> Said | Answer[bytes]:
        return shows(await runs(who, takes.read(asked)), who)

    return Route(
        serve=serve,
        takes=takes,
        document=content_of(main_of(get_type_hints(shows)["return"])),
        status=OK,
        tells_version=False,
        **{"media": ("application/json",), "also": {}, **parts},
    )


def surface(
    *routes: Route[Any],
    policies: Sequence[Asks] = (Asks(lambda _call: None),),
    body_bytes: int = 64,
    explains: bool = False,
) -> Surface:
    scheme = "basic" if any(each.needs for each in routes) else ""
    return Surface(
        name="tests",
        prefix="/v1",
        gates=(Gate(policies=policies, admits=lambda call: call, routes=routes, scheme=scheme),),
        challenge=CHALLENGE,
        body_bytes=body_bytes,
        explains=explains,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerClient:
    port: int
    witness: Witness
    session: aiohttp.ClientSession

    async def ask(self, method: str, path: str, **details: Any) -> tuple[int, Any, Any]:
        url = URL(f"http://127.0.0.1:{self.port}{path}", encoded=True)
        async with self.session.request(method, url, **details) as said:
            is_json = said.content_type == "application/json" and method != "HEAD"
            body = await said.json() if is_json else await said.text()
            return said.status, said.headers, body

    @property
    def record(self) -> AccessRecord:
        """The last request's."""
        return self.witness.records[-1]


def application_of(shown: Surface, witness: Witness, **serving: Any) -> web.Application:
    chosen = {
        "table": Table([shown]),
        "pages": {},
        "admission": admission(witness.count),
        "observer": witness,
        "body_deadline_s": 0.3,
        "uuid_traces": False,
        **serving,
    }
    return application(Serving(**chosen))


@asynccontextmanager
async def on_stage(shown: Surface, **serving: Any) -> AsyncIterator[ListenerClient]:
    witness = Witness()
    listener = Listener(application_of(shown, witness, **serving), at=Address())
    await listener.start()
    try:
        async with aiohttp.ClientSession() as session:
            yield ListenerClient(port=listener.port, witness=witness, session=session)
    finally:
        await listener.close(1)

"""Paths, methods and headers, as a caller may spell them."""

from __future__ import annotations

import uuid

import msgspec
import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from gateway.http.table import PlacedRoute
from tests.world import raw_http
from tests.world.gateway import routes
from tests.world.gateway.answers import Answer, check
from tests.world.gateway.world import NOBODY, World, basic, order

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("prepared")]


OTHER_PATHS = {
    "trailing slash": "/baas/v1/account/{id}/balance/",
    "doubled slash": "/baas/v1/account/{id}//balance",
    "leading doubled slash": "//baas/v1/account/{id}/balance",
    "single dot": "/baas/v1/account/{id}/./balance",
    "two dots": "/baas/v1/account/{id}/pix/../balance",
    "encoded dots": "/baas/v1/account/{id}/pix/%2e%2e/balance",
    "encoded slash": "/baas/v1/account/{id}%2Fbalance",
    "backslash": "/baas/v1/account/{id}\\balance",
    "path parameter": "/baas/v1/account/{id}/balance;a=b",
    "capitals": "/BAAS/v1/account/{id}/balance",
    "encoded letter": "/baas/v1/account/{id}/%62alance",
    "no account": "/baas/v1/account//balance",
    "root": "/",
    "another version": "/baas/v2/account/{id}/balance",
    "a file": "/.env",
    "a NUL": "/baas/v1/account/{id}/balance%00",
}


async def test_another_spelling_of_a_path_is_404(world: World):
    """No redirect and no guess: 404 from the route table, before anything else."""
    account = world.demo["accounts"]["main"]["id"]

    verdicts = {
        case: (await world.ask("GET", path.format(id=account))).verdict
        for case, path in OTHER_PATHS.items()
    }

    assert verdicts == dict.fromkeys(OTHER_PATHS, (404, "SVC.GTW.001"))


METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


def declared(place: PlacedRoute) -> set[str]:
    """Return every method of a route's path."""
    return {each.route.method for each in routes.PLACES if each.template == place.template}


async def test_a_method_that_is_not_declared_is_refused(world: World):
    """405 with Allow, without a credential; OPTIONS too, because there is no CORS."""
    wrong = {}
    for place in routes.PLACES:
        methods = declared(place)
        allowed = methods | ({"HEAD"} if "GET" in methods else set())
        for method in set(METHODS) - methods:
            answer = await world.ask(method, routes.path(world, place), by=NOBODY)
            told = set(answer.headers.get("Allow", "").split(", "))
            if answer.verdict != (405, "SVC.GTW.002") or told != allowed:
                wrong[place.route.name, method] = answer.verdict, told

    assert wrong == {}


async def test_head_is_answered_like_get(world: World):
    """The same status and headers, and no body."""
    await world.settled(routes.PAID)

    wrong = {}
    for place in (each for each in routes.PLACES if each.route.method == "GET"):
        role = "full" if place.route.needs else NOBODY
        got = await world.ask("GET", routes.path(world, place), by=role)
        asked = await world.ask("HEAD", routes.path(world, place), by=role)
        if (asked.status, asked.body) != (got.status, b"") or len(got.body) != int(
            asked.headers["Content-Length"]
        ):
            wrong[place.route.name] = asked.status, asked.headers["Content-Length"], got.body

    assert wrong == {}


async def test_head_is_refused_like_get(world: World):
    answer = await world.ask("HEAD", world.at("/balance"), by=NOBODY)

    assert (answer.status, answer.body) == (401, b"")


REFERENCES = [
    "a/b",
    "a b",
    "ünï",
    "50%",
    "a;b",
    "a?b#c",
    "a+b",
    "%2F",
    "..a",
    "a" * 1024,
    "é" * 1024,
]


def route(name: str) -> PlacedRoute:
    return next(each for each in routes.PLACES if each.route.name == name)


async def test_a_reference_is_read_back_unchanged(world: World):
    """Decoded once, a slash included; never trimmed, never folded."""
    wrong = {}
    for text in REFERENCES:
        created = await world.pay(order(text, world.today()))
        found = await routes.ask(world, route("banking.payout"), steps={"reference": text})
        told = [each.document.get("reference") for each in (created, found)]
        if told != [text, text]:
            wrong[text[:12]] = told

    assert wrong == {}


@pytest.mark.parametrize("name", ["banking.qrcode", "banking.pix_transaction"])
async def test_a_reference_reaches_the_bank_unchanged(world: World, name: str):
    """A slash inside does not call another path of the bank."""
    account = world.demo["accounts"]["main"]["id"]

    wrong = {}
    for text in REFERENCES:
        charge = {"reference": text, "state": "paid", "value": 5}
        if (await routes.ask(world, route(name), steps={"reference": text})).status == 404:
            await world.control.post("accounts", account, "charges", body=charge)
        found = await routes.ask(world, route(name), steps={"reference": text})
        if (found.status, found.document.get("reference")) != (200, text):
            wrong[text[:12]] = found.document

    assert wrong == {}


async def test_cookies_are_ignored_and_never_set(world: World):
    cookie = {"Cookie": f"Authorization={basic(world.pair('full'))}; session=1"}

    answer = await world.ask("GET", world.at("/balance"), by=NOBODY, headers=cookie)

    assert answer.verdict == (401, "SVC.AUT.001")


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-For": "203.0.113.9", "X-Original-URL": "/baas/v1/health"},
        {"X-HTTP-Method-Override": "DELETE"},
        {"Origin": "https://evil.example", "Access-Control-Request-Method": "GET"},
        {"Connection": "close, Authorization"},
        {"Range": "bytes=0-1", "If-None-Match": "*", "Accept": "text/html"},
    ],
    ids=lambda headers: next(iter(headers)),
)
async def test_unknown_headers_are_ignored(world: World, headers: dict[str, str]):
    answer = await world.ask("GET", world.at("/balance"), headers=headers)

    assert (answer.status, sorted(answer.document)) == (200, ["balance", "blocked", "updated_at"])
    assert "Access-Control-Allow-Origin" not in answer.headers


TRACES = {
    "a UUID": ("6f9619ff-8b86-4011-b42d-00c04fc964ff", True),
    "a token": ("order:42_a.b-C", True),
    "one character": ("x", True),
    "128 characters": ("x" * 128, True),
    "129 characters": ("x" * 129, False),
    "a space": ("a b", False),
    "markup": ("<script>", False),
    "empty": ("", False),
}


@pytest.mark.parametrize("path", ["/balance", "/nowhere"])
async def test_a_trace_id_is_echoed_or_replaced(world: World, path: str):
    """Contract part 1; on success and on refusals alike."""
    for sent, echoed in TRACES.values():
        trace = (await world.ask("GET", world.at(path), headers={"X-Trace-ID": sent})).trace_id

        assert trace == (sent if echoed else str(uuid.UUID(trace)))


async def test_two_trace_ids_are_replaced(world: World):
    headers = [("X-Trace-ID", "one"), ("X-Trace-ID", "two")]

    answer = await world.call("GET", world.at("/balance"), headers=headers)

    assert answer.trace_id not in {"one", "two"}


async def test_a_trace_is_continued_and_reaches_the_bank(world: World):
    """A valid ``traceparent`` is shown as a UUID; the bank sees the same value."""
    digits = "0af7651916cd43dd8448eb211c80319c"

    answer = await world.ask(
        "GET", world.at("/balance"), headers={"traceparent": f"00-{digits}-b7ad6b7169203331-01"}
    )

    assert answer.trace_id == str(uuid.UUID(digits))
    assert len(await world.asked(answer.trace_id)) == 1


async def test_two_authorization_headers_are_malformed(world: World):
    header = basic(world.pair("full"))

    answer = await world.call(
        "GET", world.at("/balance"), headers=[("Authorization", header), ("Authorization", header)]
    )

    assert answer.verdict == (401, "SVC.AUT.002")


async def test_pipelined_requests_are_authenticated_one_by_one(world: World):
    """Valid credentials do not extend to the next request on the same connection."""
    path = world.at("/balance")
    known = f"GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: {basic(world.pair('full'))}\r\n\r\n"
    unknown = f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"
    last = known.replace("Host: a", "Host: a\r\nConnection: close")

    told = await raw_http.exchange(world.port, (known + unknown + last).encode())

    assert told.statuses == [200, 401, 200]


async def test_an_oversized_chunked_body_is_refused(world: World):
    """Its size is not declared, and is noticed while reading."""
    pair = basic(world.pair("full"))
    head = (
        f"POST {world.at('/withdraw')} HTTP/1.1\r\nHost: a\r\nAuthorization: {pair}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    chunk = b"4000\r\n" + b" " * 0x4000 + b"\r\n"

    told = await raw_http.exchange(
        world.port, head.encode(), *[chunk] * 5, b"0\r\n\r\n", gap_s=0.01
    )

    assert [(each.status, each.code) for each in told.answers] == [(413, "SVC.GTW.003")]


@pytest.mark.parametrize(("extra", "status"), [(0, 200), (1, 413)], ids=["64 KiB", "one more"])
async def test_a_body_may_have_64_kib(world: World, extra: int, status: int):
    """A valid payout with an unknown field as padding."""
    document = order(f"padded-{extra}", world.today())
    bare = len(msgspec.json.encode({**document, "padding": ""}))
    padding = "x" * (64 * 1024 - bare + extra)

    answer = await world.pay({**document, "padding": padding})

    assert answer.status == status


async def test_the_general_answer_checks_can_fail(world: World):
    """The check used by all tests refuses an answer without a trace id."""
    bare = Answer(status=200, headers=CIMultiDictProxy(CIMultiDict()), body=b"{}")

    with pytest.raises(AssertionError):
        check(bare, "GET")

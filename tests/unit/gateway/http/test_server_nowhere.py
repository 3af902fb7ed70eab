"""Requests for unknown routes: who sent them, and for which path."""

from __future__ import annotations

import gzip

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from gateway.core import errors
from gateway.core.calls import Call
from gateway.core.errors import ServiceError
from gateway.http.server import is_nowhere, refused_path, who_asks
from gateway.reference.site import SiteFile
from tests.world.gateway.listener_client import on_stage, route, surface

PACKED = gzip.compress(b"<h1>404</h1>")


def request(method: str = "GET") -> web.Request:
    return make_mocked_request(method, "/panel/x", headers={"Cookie": "a=b"})


async def finds(call: Call) -> None:
    call.headers["Set-Cookie"] = call.asked.headers["Cookie"]


async def fails(_call: Call) -> None:
    raise ServiceError(errors.AUTH_UNAVAILABLE, "unavailable")


def lets_on(_call: Call) -> None:
    return None


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (ServiceError(errors.ROUTE_UNKNOWN, "no_route"), True),
        (ServiceError(errors.METHOD_NOT_ALLOWED, "method"), True),
        (ServiceError(errors.OVERLOADED, "in_flight"), False),
        (ValueError(), False),
    ],
)
def test_unknown_paths_and_methods_are_recognised(problem: Exception, said: bool):
    assert is_nowhere(problem) is said


async def test_the_caller_is_identified_by_the_sent_credential():
    call = await who_asks(request(), (lets_on, finds))

    assert call is not None
    assert call.headers["Set-Cookie"] == "a=b"


async def test_an_unidentified_caller_is_anonymous():
    assert await who_asks(request(), (finds, fails)) is None


@pytest.mark.parametrize(
    ("method", "query", "target", "is_read"),
    [
        ("GET", "a=1", "/panel/x?a=1", True),
        ("HEAD", "", "/panel/x", True),
        ("POST", "", "/panel/x", False),
    ],
)
def test_the_requested_path_is_passed_on(method: str, query: str, target: str, is_read: bool):
    told = refused_path(request(method), "/panel/x", query, "t-1")

    assert (told.target, told.is_read, told.trace_id) == (target, is_read, "t-1")


async def test_a_browser_is_shown_the_page_of_the_site_for_an_unknown_path_of_it():
    """Programs get the error document, and so does a browser elsewhere."""
    absent = {"/docs/": SiteFile({"Content-Type": "text/html"}, PACKED, 404)}
    browser, program = {"Accept": "text/html,*/*;q=0.8"}, {"Accept": "*/*"}
    async with on_stage(surface(route()), absent=absent) as client:
        shown = await client.ask("GET", "/docs/errors/SVC.ABC.999/", headers=browser)
        code = client.record.code
        others = [
            await client.ask("GET", "/docs/errors/SVC.ABC.999/", headers=program),
            await client.ask("GET", "/doc/", headers=browser),
        ]

    assert (shown[0], shown[1]["Content-Type"], shown[2]) == (404, "text/html", "<h1>404</h1>")
    assert code == "SVC.GTW.001"
    assert [(status, body["code"]) for status, _, body in others] == [(404, "SVC.GTW.001")] * 2

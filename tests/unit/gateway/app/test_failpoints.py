"""Points at which a sandbox process ends itself."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp.test_utils import TestClient
from pytest_aiohttp import AiohttpClient

from gateway.app.failpoints import NAMES, VARIABLE, armed, failing_answers
from gateway.config.reading import ConfigError
from gateway.core.account import Environment
from gateway.net.common.runtime import Failpoint
from tests.world.gateway.listener_client import application_of, route, surface
from tests.world.kernel import Witness


class Ended(Exception):
    """Represents the end of the process."""


def end() -> None:
    raise Ended


def arm(text: str, environment: Environment = Environment.SANDBOX) -> Failpoint | None:
    return armed(environment, {VARIABLE: text}, end)


def test_no_fail_point_is_armed_by_default():
    assert armed(Environment.SANDBOX, {}) is None


def test_production_has_no_fail_points():
    """The variable is not even read: a misspelling cannot stop a production start."""
    assert arm("mid_body", Environment.PRODUCTION) is None
    assert arm("nonsense", Environment.PRODUCTION) is None


def test_a_process_ends_only_at_its_own_fail_point():
    for name in NAMES:
        failpoint = arm(name)
        assert failpoint is not None

        for other in NAMES:
            if other != name:
                failpoint(other)

        with pytest.raises(Ended):
            failpoint(name)


def test_a_process_ends_at_the_named_pass_of_a_fail_point():
    failpoint = arm("after_insert:3")
    assert failpoint is not None

    failpoint("after_insert")
    failpoint("after_insert")

    with pytest.raises(Ended):
        failpoint("after_insert")


def test_an_unknown_fail_point_is_refused():
    for text in ("nowhere", "mid_body:0", "mid_body:x", "mid_body:-1", ":3"):
        with pytest.raises(ConfigError, match=VARIABLE):
            arm(text)


@pytest.fixture
async def asking(aiohttp_client: AiohttpClient) -> tuple[TestClient[Any, Any], list[str]]:
    """Return what asks an application with points of its own, and the points that it passed."""
    seen: list[str] = []
    ways = [(way, path) for way in ("GET", "POST") for path in ("/withdraw", "/other")]
    routes = (route(method=way, path=path) for way, path in ways)
    app = application_of(surface(*routes), Witness(), alter=failing_answers(seen.append))
    return await aiohttp_client(app), seen


async def test_an_answer_written_in_two_halves_is_complete(asking):
    """Written in two halves, and complete for the reader."""
    client, seen = asking

    async with client.post("/v1/withdraw") as answer:
        assert (answer.status, await answer.json()) == (200, {"said": "{}"})
        assert answer.headers["X-Trace-ID"]
        assert int(answer.headers["Content-Length"]) == len(await answer.read())
    assert seen == ["before_reply", "mid_reply"]


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/withdraw"), ("POST", "/v1/other")])
async def test_only_answers_to_payouts_pass_fail_points(asking, method: str, path: str):
    client, seen = asking

    async with client.request(method, path) as answer:
        assert (answer.status, await answer.json()) == (200, {"said": "{}"})
    assert seen == []

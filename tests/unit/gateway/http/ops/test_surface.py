"""The operations listener from outside, through the socket."""

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Mapping

import pytest
from aiohttp import ClientSession

from gateway.http.ops.surface import OpsSurface, check_ops_address
from gateway.net.server.listener import Address, Listener
from gateway.telemetry.metrics import series
from gateway.telemetry.metrics.registry import MetricRegistry
from tests.world.metrics import INSTANCE, WORDS
from tests.world.raw_http import exchange
from tests.world.waiting import forever

PATHS = ["/livez", "/readyz", "/metrics", "/config/digest"]


class World:
    def __init__(self) -> None:
        self.checks: Mapping[str, bool] = {"store": True, "migrations": True}
        self.draining = False
        self.has_worker = True
        self.problem: Exception | None = None
        self.hangs = False
        self.second = 0.0
        self.metrics = MetricRegistry(INSTANCE, WORDS)

    async def ready(self) -> Mapping[str, bool]:
        if self.hangs:
            await forever()
        if self.problem:
            raise self.problem
        return self.checks

    def surface(self) -> OpsSurface:
        return OpsSurface(
            ready=self.ready,
            draining=lambda: self.draining,
            has_worker=lambda: self.has_worker,
            metrics=self.metrics,
            config_digest="abc",
            version="1.2.3",
            ready_deadline_s=0.1,
            clock=lambda: self.second,
        )


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def client(world: World) -> AsyncIterator[ClientSession]:
    """A client of the surface as it is served for real: behind the hardened listener."""
    listener = Listener(world.surface().application(), at=Address())
    await listener.start()
    async with ClientSession(f"http://127.0.0.1:{listener.port}") as client:
        yield client
    await listener.close(1.0)


async def test_livez_is_200_while_a_dependency_is_down(world: World, client: ClientSession):
    world.checks = {"store": False}

    answer = await client.get("/livez")

    assert (answer.status, await answer.json()) == (200, {"status": "alive", "version": "1.2.3"})


async def test_ready_when_every_check_passes(client: ClientSession):
    answer = await client.get("/readyz")

    assert answer.status == 200
    assert await answer.json() == {
        "status": "ready",
        "draining": False,
        "checks": {"store": True, "migrations": True},
        "worker": True,
    }


async def test_readyz_reports_an_absent_worker_and_stays_200(world: World, client: ClientSession):
    world.has_worker = False

    answer = await client.get("/readyz")

    assert (answer.status, (await answer.json())["worker"]) == (200, False)


async def test_readyz_is_503_while_draining(world: World, client: ClientSession):
    world.draining = True

    answer = await client.get("/readyz")

    assert answer.status == 503
    assert await answer.json() == {
        "status": "unready",
        "draining": True,
        "checks": {"store": True, "migrations": True},
        "worker": True,
    }


@pytest.mark.parametrize(
    "checks",
    [{"store": False, "migrations": True}, {"store": True, "migrations": False}, {}],
    ids=["store", "migrations", "no check at all"],
)
async def test_readyz_is_503_when_a_check_fails(world: World, client: ClientSession, checks):
    world.checks = checks

    answer = await client.get("/readyz")

    assert (answer.status, (await answer.json())["checks"]) == (503, checks)


async def test_a_ready_process_stays_ready_without_its_store_until_it_drains(
    world: World, client: ClientSession
):
    """All processes share one store. One that answers but takes no writes may be the wrong one."""
    seen = []
    for checks, draining in (
        ({"store": False, "migrations": True}, False),
        ({"store": True, "migrations": True}, False),
        ({"store": False, "writable": False}, False),
        ({"store": True, "writable": False}, False),
        ({"store": False, "migrations": True}, True),
    ):
        world.checks, world.draining = checks, draining
        answer = await client.get("/readyz")
        seen.append((answer.status, (await answer.json())["checks"] == checks))

    assert seen == [(503, True), (200, True), (200, True), (503, True), (503, True)]


async def test_a_check_that_raises_fails_and_its_text_is_hidden(
    world: World, client: ClientSession, caplog: pytest.LogCaptureFixture
):
    world.problem = OSError("canary")

    with caplog.at_level(logging.ERROR):
        answer = await client.get("/readyz")

    assert answer.status == 503
    assert "canary" not in await answer.text()
    assert "readiness" in caplog.text


async def test_a_hanging_check_fails_in_time(world: World, client: ClientSession):
    world.hangs = True

    answer = await client.get("/readyz")

    assert (answer.status, await answer.json()) == (
        503,
        {"status": "unready", "draining": False, "checks": {"readiness": False}, "worker": True},
    )


async def test_the_configuration_digest_is_served(client: ClientSession):
    answer = await client.get("/config/digest")

    assert await answer.json() == {"digest": "abc", "version": "1.2.3"}


@pytest.mark.parametrize(
    ("accept", "content_type", "end"),
    [
        ("", "text/plain; version=0.0.4; charset=utf-8", ""),
        ("text/html", "text/plain; version=0.0.4; charset=utf-8", ""),
        (
            "application/openmetrics-text; version=1.0.0",
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
            "# EOF\n",
        ),
    ],
    ids=["nothing asked", "a browser", "openmetrics"],
)
async def test_metrics_are_served_in_the_requested_format(
    client: ClientSession, accept, content_type, end
):
    answer = await client.get("/metrics", headers={"Accept": accept})

    text = await answer.text()
    assert answer.headers["Content-Type"] == content_type
    assert 'pixgate_config_info{digest="abc"} 1.0' in text
    assert text.endswith(end)


async def test_metrics_are_compressed_on_request(client: ClientSession):
    """A few thousand lines are twenty times as long as their gzip."""
    found = []
    for coding in ("gzip", "identity"):
        answer = await client.get("/metrics", headers={"Accept-Encoding": coding})
        found.append((answer.headers.get("Content-Encoding"), "pixgate_" in await answer.text()))

    assert found == [("gzip", True), (None, True)]


async def test_metrics_are_rendered_once_in_five_seconds(world: World, client: ClientSession):
    async def shed() -> bool:
        text = await (await client.get("/metrics")).text()
        return 'pixgate_shed_total{priority="pages",reason="loop_lag"} 1.0' in text

    before = await shed()
    world.metrics.child(series.SHED_REQUESTS, "pages", "loop_lag").value += 1
    world.second = 4.9
    soon = await shed()
    world.second = 5.0

    assert (before, soon, await shed()) == (False, False, True)


async def test_scrapes_at_once_share_one_rendering(
    world: World, client: ClientSession, monkeypatch
):
    renderings = []
    render = world.metrics.render

    def counted(*, as_openmetrics: bool, zipped: bool) -> tuple[bytes, str]:
        renderings.append((as_openmetrics, zipped))
        return render(as_openmetrics=as_openmetrics, zipped=zipped)

    monkeypatch.setattr(world.metrics, "render", counted)

    await asyncio.gather(*(client.get("/metrics") for _ in range(8)))

    assert renderings == [(False, True)]


@pytest.mark.parametrize("path", [*PATHS, "/nowhere"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
async def test_every_answer_carries_a_trace_id_and_is_not_stored(
    client: ClientSession, method: str, path: str
):
    """Contract part 1."""
    answer = await client.request(method, path)

    assert uuid.UUID(answer.headers["X-Trace-ID"])
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("sent", "echoed"), [("abc-1", True), ("a b", False), ("x" * 129, False)], ids=str
)
async def test_a_valid_trace_id_is_echoed(client: ClientSession, sent: str, echoed: bool):
    answer = await client.get("/livez", headers={"X-Trace-ID": sent})

    assert (answer.headers["X-Trace-ID"] == sent) is echoed


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"BAD\r\n\r\n", 400, "SVC.VAL.011"),
        (
            b"GET /livez HTTP/1.1\r\nHost: a\r\nX-A: " + b"a" * 9000 + b"\r\n\r\n",
            431,
            "SVC.GTW.007",
        ),
        (b"GET /livez HTTP/1.1\r\nHost: a\r\n" + b"X-A: 1\r\n" * 70 + b"\r\n", 431, "SVC.GTW.007"),
    ],
    ids=["no HTTP", "a long header", "many headers"],
)
async def test_an_invalid_request_gets_our_error_body(
    client: ClientSession, sent: bytes, status: int, code: str
):
    """With the limits of the public listener."""
    told = await exchange(client._base_url.port, sent)

    assert [(each.status, each.code) for each in told.answers] == [(status, code)]
    assert "x-trace-id" in told.answers[0].headers
    assert told.answers[0].headers["server"] == "pixgate"


async def test_a_slow_caller_does_not_block_the_operations_listener(client: ClientSession):
    """It occupies only its own connection."""
    _, writer = await asyncio.open_connection("127.0.0.1", client._base_url.port)
    writer.write(b"GET /livez HTT")

    found = [(await client.get(path)).status for path in (*PATHS, "/nowhere")]

    assert found == [200, 200, 200, 200, 404]
    writer.close()


@pytest.mark.parametrize("path", ["/", "/nowhere", "/metrics/", "/metrics//", "/config"])
async def test_an_unknown_path_gets_our_error_body(client: ClientSession, path: str):
    answer = await client.get(path)

    body = await answer.json()
    assert (answer.status, body["code"]) == (404, "SVC.GTW.001")
    assert body["trace_id"] == answer.headers["X-Trace-ID"]


@pytest.mark.parametrize("path", PATHS)
async def test_a_method_that_is_not_allowed_is_405_with_allow(client: ClientSession, path: str):
    answer = await client.post(path)

    assert (answer.status, (await answer.json())["code"]) == (405, "SVC.GTW.002")
    assert answer.headers["Allow"] == "GET, HEAD"


async def test_an_unexpected_error_is_a_500_without_its_text(
    world: World, client: ClientSession, monkeypatch, caplog: pytest.LogCaptureFixture
):
    def fail(**_form: bool) -> tuple[bytes, str]:
        problem = "canary"
        raise RuntimeError(problem)

    monkeypatch.setattr(world.metrics, "render", fail)

    with caplog.at_level(logging.ERROR):
        answer = await client.get("/metrics")

    assert (answer.status, (await answer.json())["code"]) == (500, "SVC.SYS.001")
    assert "canary" not in await answer.text()
    assert "X-Trace-ID" in answer.headers
    assert "failed" in caplog.text


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost", "::ffff:127.0.0.1"]
)
def test_a_loopback_operations_address_is_accepted(host: str):
    check_ops_address(host, allow_public=False)


@pytest.mark.parametrize(
    "host",
    [
        "0.0.0.0",  # noqa: S104 - refused
        "::",
        "",
        "10.0.0.1",
        "192.0.2.1",
        "example.com",
        "localhost.example.com",
        "::ffff:10.0.0.1",
    ],
)
def test_another_operations_address_must_be_allowed_explicitly(host: str):
    """The operations listener shows more than a partner may see."""
    with pytest.raises(ValueError, match="operations listener") as refused:
        check_ops_address(host, allow_public=False)

    assert "\n" not in str(refused.value)
    check_ops_address(host, allow_public=True)

"""The two listeners, made from settings."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import msgspec
import pytest

from gateway.app.assembly import assemble
from gateway.app.lifecycle import running
from gateway.config.listeners import Server, Trace
from gateway.http.documents import Page
from tests.world import raw_http
from tests.world.gateway.world import sandbox


async def status_of(port: int, path: str, **headers: str) -> tuple[int, str]:
    """Ask, and return status and trace id."""
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}{path}", headers=headers) as said,
    ):
        return said.status, said.headers["X-Trace-ID"]


@pytest.mark.parametrize(
    ("openapi", "accept", "status", "echoed"),
    [(True, "token", 200, True), (False, "uuid", 404, False)],
    ids=["open", "strict"],
)
async def test_openapi_and_trace_id_settings_reach_the_listener(
    tmp_path: Path, openapi: bool, accept: str, status: int, echoed: bool
):
    server = Server(port=0, openapi=openapi)
    trace = msgspec.convert({"accept": accept}, Trace)
    gateway = assemble(sandbox(tmp_path, server=server, trace=trace), {}, with_bank=False)
    async with running(gateway):
        found, _ = await status_of(gateway.public.port, "/openapi.json")
        headers = {"X-Trace-ID": "token-1"}
        _, trace_id = await status_of(gateway.public.port, "/baas/v1/health", **headers)

    assert (found, trace_id == "token-1") == (status, echoed)


@pytest.mark.parametrize("docs", [True, False])
async def test_the_site_is_served_and_linked_only_where_docs_are_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, docs: bool
):
    """Refusals of the application and of the listener alike; answers have no link."""
    page = Page("docs", "text/plain", b"what to do")
    codes = ("SVC.GTW.001", "SVC.VAL.011")
    site = {f"/docs/errors/{code}/": page for code in codes}
    monkeypatch.setattr("gateway.app.assembly.read_site", lambda: site)
    settings = sandbox(tmp_path, server=Server(port=0, docs=docs))
    gateway = assemble(settings, {}, with_bank=False)

    heads = [f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close" for path in PATHS]
    async with running(gateway):
        told = [
            await raw_http.exchange(gateway.public.port, f"{head}\r\n\r\n".encode())
            for head in (*heads, "GET / HTTP/1.1\r\nno header")
        ]

    answers = [one for each in told for one in each.answers]
    found = [(each.status, each.code, each.headers.get("link")) for each in answers]
    unknown, malformed = (
        (status, code, f'</docs/errors/{code}/>; rel="help"' if docs else None)
        for status, code in ((404, "SVC.GTW.001"), (400, "SVC.VAL.011"))
    )
    assert found == [(200, "", None), (200, "", None) if docs else unknown, unknown, malformed]


PATHS = ("/baas/v1/health", "/docs/errors/SVC.GTW.001/", "/nowhere")


async def test_request_size_limits_are_settings(tmp_path: Path):
    """The configured limits, not the defaults."""
    server = Server(port=0, request_line_bytes=100, header_line_bytes=50, headers=3)
    gateway = assemble(sandbox(tmp_path, server=server), {}, with_bank=False)
    requests = {
        "a line": f"GET /{'x' * 100} HTTP/1.1\r\nHost: a\r\n\r\n",
        "a header": f"GET / HTTP/1.1\r\nHost: a\r\nX-A: {'x' * 50}\r\n\r\n",
        "headers": "GET / HTTP/1.1\r\nHost: a\r\n" + "X-A: 1\r\n" * 3 + "\r\n",
        "within": "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    }
    async with running(gateway):
        told = {
            name: (await raw_http.exchange(gateway.public.port, text.encode())).statuses
            for name, text in requests.items()
        }

    assert told == {"a line": [431], "a header": [431], "headers": [431], "within": [404]}


async def test_operations_paths_are_on_their_own_port(tmp_path: Path):
    """The public port does not have them."""
    gateway = assemble(sandbox(tmp_path), {}, with_bank=False)
    async with running(gateway):
        public = [await status_of(gateway.public.port, path) for path in ("/metrics", "/readyz")]
        inside = [
            await status_of(gateway.operations.port, path)
            for path in ("/metrics", "/readyz", "/livez", "/config/digest")
        ]

    assert [status for status, _ in public] == [404, 404]
    assert [status for status, _ in inside] == [200, 200, 200, 200]

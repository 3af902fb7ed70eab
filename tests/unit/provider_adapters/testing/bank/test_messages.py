"""Every answer of the bank is JSON, also for what goes wrong."""

from __future__ import annotations

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from provider_adapters.testing.bank import messages
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from tests.world.tables import cases


async def raising(request: web.Request) -> web.Response:
    problems = {
        "refusal": Refusal(Code.DUPLICATE, "again"),
        "http": web.HTTPRequestEntityTooLarge(max_size=1, actual_size=2),
        "bug": RuntimeError("secret"),
    }
    raise problems[request.match_info["kind"]]


@cases(
    ("method", "path", "status", "code"),
    [
        ("GET", "/refusal", 409, "DUPLICATE"),
        ("GET", "/http", 413, "TOO_LARGE"),
        ("GET", "/bug", 500, "INTERNAL"),
        ("GET", "/no/such", 404, "NOT_FOUND"),
        ("POST", "/bug", 405, "METHOD_NOT_ALLOWED"),
    ],
)
async def test_a_problem_has_the_banks_shape(method, path, status, code):
    app = web.Application(middlewares=[messages.showing_refusals(messages.refusal)])
    app.router.add_get("/{kind}", raising)

    async with TestClient(TestServer(app)) as client:
        answer = await client.request(method, path)
        said = await answer.json()

    assert (answer.status, said["error"]["code"]) == (status, code)
    assert set(said) == {"error"}
    assert set(said["error"]) == {"code", "message"}
    assert "secret" not in said["error"]["message"]


def test_a_document_is_written_in_utf8():
    assert messages.Answer(document={"nome": "João"}).body() == '{"nome":"João"}'.encode()


def test_bytes_are_sent_as_they_are():
    assert messages.Answer(document=b"<html>").body() == b"<html>"

"""Every answer of the bank is JSON, also for what goes wrong."""

from __future__ import annotations

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from provider_adapters.sandbox.bank.http import messages
from provider_adapters.sandbox.bank.kernel.refusals import Code, Refusal


async def raising(request: web.Request) -> web.Response:
    problems = {
        "refusal": Refusal(Code.DUPLICATE, "again"),
        "http": web.HTTPRequestEntityTooLarge(max_size=1, actual_size=2),
        "bug": RuntimeError("secret"),
    }
    raise problems[request.match_info["kind"]]


@pytest.mark.parametrize(
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
    app = web.Application(middlewares=[messages.show_refusals])
    app.router.add_get("/{kind}", raising)

    async with TestClient(TestServer(app)) as client:
        answer = await client.request(method, path)
        said = await answer.json()

    assert (answer.status, said["error"]["code"]) == (status, code)
    assert set(said) == {"error"}
    assert set(said["error"]) == {"code", "message"}
    assert "secret" not in said["error"]["message"]
    assert ("Allow" in answer.headers) == (status == 405)


@pytest.mark.parametrize(
    ("status", "code"),
    [(500, "INTERNAL"), (503, "INTERNAL"), (429, "TOO_MANY_REQUESTS"), (418, "INVALID_REQUEST")],
)
def test_a_failure_is_named_by_its_status(status, code):
    answer = messages.failure(status)

    assert (answer.status, answer.document["error"]["code"]) == (status, code)


def test_a_document_is_written_in_utf8():
    assert messages.Answer(document={"nome": "João"}).body() == '{"nome":"João"}'.encode()

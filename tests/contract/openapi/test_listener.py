"""What the listener refuses before it knows a surface, against the documents of all three."""

from __future__ import annotations

import json

import pytest

from tests.contract.openapi.conformity import problems
from tests.world.documents import SURFACES
from tests.world.gateway.world import World
from tests.world.raw_http import HOST, exchange

pytestmark = pytest.mark.asyncio(loop_scope="module")

GET = b"GET / HTTP/1.1\r\n"
REFUSED = {
    "400": GET + HOST + b"no colon\r\n\r\n",
    "431": GET + HOST + b"X-A: " + b"a" * 9000 + b"\r\n\r\n",
}


@pytest.fixture(scope="module")
def world(described_world: World) -> World:
    return described_world


@pytest.mark.parametrize("status", REFUSED)
async def test_error_bodies_match_the_schema_of_every_operation(world: World, status: str):
    """docs/errors.md: only code, message and trace_id, on every surface."""
    told = await exchange(world.port, REFUSED[status])
    refusal = json.loads(told.answers[0].body)

    assert refusal.keys() == {"code", "message", "trace_id"}
    wrong = [
        (surface, operation["operationId"])
        for surface, described in SURFACES.items()
        for methods in described.document["paths"].values()
        for operation in methods.values()
        for answer in [operation["responses"][status]]
        if problems(surface, answer["content"]["application/json"]["schema"], refusal)
    ]
    assert wrong == []


@pytest.mark.parametrize("surface", ["identity", "backoffice"])
async def test_only_errors_of_the_listener_lack_field_and_reason(surface: str):
    """400, 408, 431 and 503; a 401 or a 409 is always answered by the surface."""
    document = SURFACES[surface].document
    schemas = {
        (status, answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2])
        for methods in document["paths"].values()
        for operation in methods.values()
        for status, answer in operation["responses"].items()
        if status >= "400"
    }

    bare = {status for status, name in schemas if name == "ListenerError"}
    assert bare == {"400", "408", "431", "503"}
    assert {status for status, name in schemas if name == "Error"}.isdisjoint(bare)

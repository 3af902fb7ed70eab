"""The client of the sandbox bank's control interface."""

import pytest
from aiohttp import web

from gateway.domain.kernel.money import Money
from provider_adapters.testing.bank.control.client import BankControl, ControlRefused
from provider_adapters.testing.sandbox.dialect import SandboxBank


@pytest.fixture
async def control(tmp_path):
    """The control interface of a bank with one account."""
    bank = SandboxBank(db_path=str(tmp_path / "bank.db"), port=0, control_port=0)
    await bank.start()
    async with BankControl(f"http://127.0.0.1:{bank.control_port}") as opened:
        await opened.post(
            "accounts", body={"id": "cc/1 ü", "name": "A", "tax_number": "52998224725"}
        )
        yield opened
    await bank.close()


@pytest.fixture
async def answering(aiohttp_server):
    """A server that answers whatever a test says."""

    async def start(body: bytes, status: int = 200) -> BankControl:
        async def answer(_request: web.Request) -> web.Response:
            return web.Response(body=body, status=status)

        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", answer)
        server = await aiohttp_server(app)
        return BankControl(f"http://127.0.0.1:{server.port}")

    return start


async def test_a_path_may_hold_any_character(control):
    assert (await control.get("accounts", "cc/1 ü"))["id"] == "cc/1 ü"


@pytest.mark.parametrize("centavos", [1, 10, 10_50, 999_999_999_999_999])
async def test_an_amount_arrives_to_the_centavo(control, centavos: int):
    """Money travels in reais, without ever being a float."""
    told = await control.post("accounts", "cc/1 ü", "top-up", body={"value": Money(centavos)})

    assert told["balance_centavos"] == centavos


async def test_an_amount_inside_something_else_arrives_too(control):
    await control.post("accounts", "cc/1 ü", "keys", body={"type": "email", "key": "a@b.c"})
    body = {"reference": "r", "payer": {"name": "M", "tax_number": "1"}, "value": Money(10)}

    made = await control.post("accounts", "cc/1 ü", "charges", body=body)

    assert "54040.10" in made["emv"]


async def test_a_query_is_sent(control):
    with pytest.raises(ControlRefused, match="not found"):
        await control.post("charges", "r", "pay", body={}, query={"account": "cc/1 ü"})


async def test_faults_are_cleared(control):
    await control.post("faults", body={"fault": "hang"})

    assert await control.delete("faults") == {"cleared": 1}


async def test_a_refusal_carries_status_and_code(control):
    with pytest.raises(ControlRefused, match="404 NOT_FOUND: account not found") as told:
        await control.get("accounts", "nobody")

    assert (told.value.status, told.value.code) == (404, "NOT_FOUND")


async def test_a_bank_that_is_not_there_is_named():
    async with BankControl("http://127.0.0.1:1") as control:
        with pytest.raises(
            ControlRefused, match=r"does not answer at http://127\.0\.0\.1:1"
        ) as told:
            await control.get("ledger")

    assert told.value.status == 0


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (b"<html>", 200, "no JSON"),
        (b"[]", 200, "no JSON"),
        (b"", 502, "no JSON"),
        (b"{}", 500, "500"),
        (b'{"error": "x"}', 500, "500"),
    ],
)
async def test_an_answer_of_somebody_else_is_refused(answering, body: bytes, status, told: str):
    async with await answering(body, status) as control:
        with pytest.raises(ControlRefused, match=told):
            await control.get("ledger")

"""The demo at the bank."""

from datetime import timedelta

import pytest
from aiohttp import ClientSession

from gateway.banks.port.refunds import refund_key
from gateway.core.account import Environment
from gateway.core.audit_context import RuleViolation
from provider_adapters.testing.bank.control_client import ControlRefused
from provider_adapters.testing.demo import contents, ensure

pytestmark = pytest.mark.slow


async def standings(control) -> dict[str, int]:
    """What every account owns, in centavos; the books balance."""
    ledger = await control.get("ledger")
    assert ledger["balanced"] is True
    return ledger["accounts"]


async def test_main_owns_a_hundred_thousand_reais(make, control, office):
    demo = await make()
    office.clock.passes(seconds=1)  # the refund settles

    held = await standings(control)

    assert held[demo["accounts"]["main"]["id"]] == 100_000_00


async def test_every_account_but_the_one_without_provider_is_at_the_bank(make, control):
    demo = await make()

    listed = await control.get("accounts")

    known = {each["id"] for each in listed["data"]}
    assert known == {
        thing["id"] for role, thing in demo["accounts"].items() if role != "no_provider"
    }


async def test_doing_it_again_moves_no_money(make, control, office):
    demo = await make()
    office.clock.passes(seconds=1)  # the refund settles
    before = await standings(control)
    office.clock.passes(hours=5)

    await ensure.ensure_at_bank(control, demo, office.clock)

    assert await standings(control) == before


async def test_a_taken_account_number_is_a_refusal(make, control):
    demo = await make()
    account = demo["accounts"]["main"]
    other = f"{account['id'][:8]}-0000-4000-8000-ffffffffffff"
    demo["accounts"]["main"] = {"id": other}

    with pytest.raises(ControlRefused, match="NOT_FOUND"):
        await ensure.ensure_at_bank(control, demo, lambda: None)


async def test_a_refusal_is_a_line_for_the_operator(bank):
    with pytest.raises(RuleViolation, match="404"):
        async with ensure.controlling(bank.control_url) as control:
            await control.get("accounts", "nobody")


async def test_the_statement_has_days(make, bank, office, control):
    demo = await make()
    account_id = demo["accounts"]["main"]["id"]
    token = contents.token(account_id)

    lines = await statement(bank.port, account_id, token, office.clock() - timedelta(days=20))

    days = {line["criado_em"][:10] for line in lines}
    assert len(days) > 3
    assert {line["tipo"] for line in lines} == {
        "PIX_RECEBIDO",
        "TARIFA",
        "TED_RECEBIDA",
        "TED_ENVIADA",
        "BOLETO_PAGO",
    }
    assert len(lines) == len(contents.HISTORY) + 2


async def test_one_payment_was_given_back_in_part(make, office, control):
    """Under the key by which the gateway finds it."""
    demo = await make()
    account_id = demo["accounts"]["main"]["id"]

    given = (await control.get("refunds"))["data"]

    key = refund_key(Environment.SANDBOX, account_id, contents.reference("refund", account_id))
    assert [(each["key"], each["centavos"]) for each in given] == [(key, 20_00)]


async def statement(port: int, account_id: str, token: str, since) -> list[dict[str, str]]:
    """Read the statement as the account's owner does."""
    url = f"http://127.0.0.1:{port}/v1/contas/{account_id}/extrato"
    query = {"de": f"{since:%Y-%m-%dT%H:%M:%SZ}", "ate": "2030-01-01T00:00:00Z"}
    headers = {"Authorization": f"Bearer {token}"}
    async with ClientSession() as session, session.get(url, params=query, headers=headers) as said:
        assert said.status == 200
        return (await said.json())["lancamentos"]

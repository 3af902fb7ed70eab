"""A CNPJ with letters: taken where the bank takes it, and the same from payout to report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import World, opened, order, sandbox

SENT, NORMAL = "12.abc.345/01DE-35", "12ABC34501DE35"
DESTINATION = {"name": "Loja Ltda", "tax_number": SENT, "key_type": "cnpj", "key": SENT}


def settings(folder: Path, *, bank_takes: bool) -> Any:
    """Settings of a bank that takes letters or digits only."""
    plain = sandbox(folder)
    provider = plain.providers["sandbox"]
    told = {**provider.settings, "alphanumeric_cnpj": bank_takes}
    providers = {**plain.providers, "sandbox": msgspec.structs.replace(provider, settings=told)}
    return msgspec.structs.replace(plain, providers=providers)


async def pay(world: World) -> Answer:
    return await world.pay(order("letters-1", world.today(), destination=DESTINATION))


async def test_a_cnpj_with_letters_is_refused_when_the_bank_takes_digits_alone(tmp_path: Path):
    async with opened(settings(tmp_path, bank_takes=False)) as world:
        answer = await pay(world)

        assert answer.verdict == (400, "SVC.VAL.011")
        assert answer.document["message"] == (
            "destination.tax_number is a CNPJ with letters, which the bank of this account does"
            " not take yet."
        )
        assert await world.executions("letters-1") == []


async def test_letters_of_a_cnpj_arrive_at_the_bank_as_capitals(tmp_path: Path):
    async with opened(settings(tmp_path, bank_takes=True)) as world:
        paid = await pay(world)
        settled = await world.settled("letters-1")
        client, day = BackofficeClient(world), world.today()
        listed = (await client.read(f"/transactions?init={day}&ends={day}")).document["data"]

    assert paid.status == 200
    assert settled["destination"] == DESTINATION
    [out] = [each for each in listed if each["operation"] == "Pix Out" and each["value"] == 10.5]
    assert out["counterparty"]["tax_number"] == NORMAL

"""A CNPJ with letters: taken where setting and bank agree, and the same from payout to report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from gateway.config.settings import Validation
from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.world import World, opened, order, patient, sandbox

SENT, NORMAL = "12.ABC.345/01DE-35", "12ABC34501DE35"
DESTINATION = {"name": "Loja Ltda", "tax_number": SENT, "key_type": "cnpj", "key": SENT}


def settings(folder: Path, *, switched: bool, bank_takes: bool) -> Any:
    """Settings with the switch, and a bank that declares letters or does not."""
    plain = patient(sandbox(folder, validation=Validation(alphanumeric_cnpj=switched)))
    provider = plain.providers["sandbox"]
    told = {**provider.settings, "alphanumeric_cnpj": bank_takes}
    providers = {**plain.providers, "sandbox": msgspec.structs.replace(provider, settings=told)}
    return msgspec.structs.replace(plain, providers=providers)


async def pay(world: World) -> str:
    answer = await world.pay(order("letters-1", world.today(), destination=DESTINATION))
    return f"{answer.status} {answer.document.get('code', '')}".strip()


@pytest.mark.parametrize(("switched", "bank_takes"), [(False, True), (True, False)])
async def test_without_the_setting_or_the_bank_letters_are_refused(
    tmp_path: Path, switched: bool, bank_takes: bool
):
    """Contract 2.6 says digits; the refusal is that of a number that is none."""
    async with opened(settings(tmp_path, switched=switched, bank_takes=bank_takes)) as world:
        assert await pay(world) == "400 SVC.VAL.011"
        assert await world.executions("letters-1") == []


async def test_with_both_the_letters_arrive_as_they_are(tmp_path: Path):
    async with opened(settings(tmp_path, switched=True, bank_takes=True)) as world:
        paid = await pay(world)
        settled = await world.settled("letters-1")
        client, day = BackofficeClient(world), world.today()
        listed = (await client.read(f"/transactions?init={day}&ends={day}")).document["data"]

    assert paid == "200"
    assert settled["destination"] == DESTINATION
    [out] = [each for each in listed if each["operation"] == "Pix Out" and each["value"] == 10.5]
    assert out["counterparty"]["tax_number"] == NORMAL

"""Callbacks of API Pix banks, proven by a secret segment of the address."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
import pytest_asyncio

from gateway.app.banks import path_of, secrets_of
from gateway.banks.port.provider_callbacks import CallbackOrder
from provider_adapters.apipix.callbacks import step_of
from provider_adapters.apipix.profiles import PROFILES, Name
from tests.surfaces.banks.every_bank import PREFIX, AtBank, EveryBank
from tests.surfaces.banks.matrix_cells import charge
from tests.surfaces.banks.paying import callbacks, done, told_at

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Addressed:
    """A bank, and the address that it has for the account's callbacks."""

    def __init__(self, name: Name, bank: AtBank) -> None:
        gateway = bank.office.world.gateway
        derivation = gateway.kernel.keys.derivation
        known = secrets_of(PREFIX + name, gateway.kernel.settings, derivation)
        self.bank = bank
        self.secret = known.shared_or_derived[0]
        self.path = path_of(PREFIX + name, derivation)
        self.step = step_of(self.secret)
        self.rest = f"/{self.step}{PROFILES[name].secret_address.adds}"

    async def tell(self, rest: str, subject: str, **more: Any) -> int:
        told = {"endToEndId": f"E{subject}", "txid": subject, "valor": "10.50"}
        body = json.dumps({"pix": [told | more]}).encode()
        return (await self.bank.office.world.call("POST", self.path + rest, data=body)).status


@pytest_asyncio.fixture(loop_scope="module", params=list(Name))
async def addressed(every_bank: EveryBank, request: pytest.FixtureRequest) -> Addressed:
    return Addressed(request.param, every_bank[request.param])


async def test_a_paid_charge_arrives_at_the_registered_callback_address(addressed: Addressed):
    """Sent by the bank itself, with its own suffix; a text of the payer has no effect."""
    bank, wanted = addressed.bank, charge(addressed.bank)
    url = f"http://127.0.0.1:{bank.office.world.port}{addressed.path}"
    async with told_at(bank, CallbackOrder(url=url, secret=addressed.secret)):
        without = {"value": 1.5, "reference": "typed by the payer"}
        await bank.control.post("accounts", bank.bank_account, "incoming", body=without)
        assert (await bank.person("POST", "/pix/qrcode", wanted)).status == 201
        await bank.pay_newest_charge()

        told = await done(bank, str(wanted["reference"]))

    assert (told["kind"], told["provider"]) == ("charge", bank.account.provider)


async def test_other_senders_are_refused_and_nothing_is_stored(addressed: Addressed):
    subject = "f" * 32
    answers = [
        await addressed.tell(rest, subject)
        for rest in ("", "/pix", f"/{'0' * 64}", f"/{'0' * 64}/pix", f"{addressed.rest}/pix")
    ]
    larger = await addressed.tell(addressed.rest, subject, infoPagador="x" * 64 * 1024)

    assert (answers, larger) == ([404] * 5, 413)
    assert await callbacks(addressed.bank, subject) == []


async def everything_told(addressed: Addressed) -> str:
    """Return metrics, request log, audit log, and what the bank's clients remember."""
    office = addressed.bank.office
    url = f"http://127.0.0.1:{office.world.gateway.operations.port}/metrics"
    async with office.world.session.get(url) as said:
        told = [await said.text()]
    for place in ("requests", "audit"):
        answer = await office.ask("GET", f"/backoffice/v1/{place}?limit=100", by="admin")
        assert answer.status == 200
        told.append(answer.body.decode())
    adapter = office.world.gateway.connections[addressed.bank.account.provider].adapter
    clients = adapter.checked.clients  # type: ignore[attr-defined]
    return "\n".join([*told, *(repr(each.transcript.shown()) for each in clients)])


async def test_no_secret_path_segment_is_shown(
    addressed: Addressed, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
):
    """In proven and unproven callbacks, with an unknown query, and when it is registered."""
    caplog.set_level(logging.DEBUG)
    for rest in (addressed.rest, f"{addressed.rest}/more", f"/{addressed.step}?a={addressed.step}"):
        await addressed.tell(rest, "e" * 32)
    world = addressed.bank.office.world
    url = f"http://127.0.0.1:{world.port}{addressed.path}"
    async with told_at(addressed.bank, CallbackOrder(url=url, secret=addressed.secret)):
        told = await everything_told(addressed)
    # The test's own client logs what it sends.
    ours = [each.getMessage() for each in caplog.records if not each.name.startswith("aiohttp")]
    told += "".join(capfd.readouterr()) + "\n".join(ours)

    assert "callbacks.take" in told
    assert "register_callback" in told
    token = addressed.path.rpartition("/")[2]
    assert [each for each in (addressed.step, token) if each in told] == []

"""Documents of the back office show a CPF in part; files say what they hold."""

from __future__ import annotations

import uuid

import pytest

from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.callbacks.model import Callback, CallbackState
from gateway.callbacks.store import CallbackRecords
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.operations import days, paid, today
from tests.world.gateway.world import order

pytestmark = pytest.mark.asyncio(loop_scope="module")

CPF = "52998224725"
PART = "***.982.247-**"


async def test_no_document_shows_a_whole_cpf(backoffice_client: BackofficeClient):
    """Of a payee, a payer, or a callback's text. A partner reads its own whole."""
    office, world = backoffice_client, backoffice_client.world
    reference = uuid.uuid4().hex
    await world.pay(order(reference, world.today()))
    await world.settled(reference)
    charge = await paid(office)
    told = Callback(
        id=uuid.uuid4().hex,
        provider="sandbox",
        event=reference,
        kind=CallbackKind.OTHER,
        subject="",
        received_at=world.gateway.kernel.now(),
        body=b'{"payer": "529.982.247-25", "document": 52998224725}',
        state=CallbackState.DONE,
    )
    await CallbackRecords(world.gateway.kernel.store.database).add(told)

    answers = {
        path: await office.ask(method, path, document)
        for method, path, document in (
            ("GET", office.at(f"/transactions{days(office)}&limit=100"), None),
            ("GET", office.at(f"/statement{days(office)}&limit=100"), None),
            ("GET", office.at(f"/pix/qrcode/{charge['reference']}"), None),
            ("POST", office.at("/pix/transactions/search"), today(office)),
            ("GET", office.at(f"/withdraw/{reference}/dossier"), None),
            ("GET", "/backoffice/v1/webhooks", None),
        )
    }
    whole = await world.ask("GET", world.at(f"/transactions{days(office)}&limit=100"))

    texts = {path: answer.body.decode() for path, answer in answers.items()}
    assert {answer.status for answer in answers.values()} == {200}
    assert [path for path, text in texts.items() if CPF in text or "529.982" in text] == []
    assert [path for path, text in texts.items() if PART not in text] == ["/backoffice/v1/webhooks"]
    assert CPF in whole.body.decode()

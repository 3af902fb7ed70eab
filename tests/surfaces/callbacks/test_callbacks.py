"""Callbacks over a socket: proven, stored once, looked into, and never believed."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any

import pytest

from gateway.payouts.model import PayoutState, provider_key
from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.callbacks import listed, summary
from tests.world.gateway.world import order
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

SLOW = 777.01


def payout(backoffice_client: BackofficeClient, **changed: object) -> dict[str, object]:
    return order(f"told-{uuid.uuid4()}", backoffice_client.world.today(), **changed)


def key_of(backoffice_client: BackofficeClient, reference: str) -> str:
    environment = backoffice_client.world.gateway.kernel.settings.environment
    return provider_key(
        environment, backoffice_client.world.demo["accounts"]["main"]["id"], reference
    )


async def handled(
    backoffice_client: BackofficeClient, event: str, states: frozenset[str]
) -> dict[str, Any]:
    """Wait until a callback has come to one of these states."""

    async def found() -> dict[str, Any] | None:
        those = [each for each in await listed(backoffice_client) if each["event"] == event]
        return those[0] if those and those[0]["state"] in states else None

    return dict(await until(found))


async def told_of(backoffice_client: BackofficeClient, reference: str) -> list[dict[str, Any]]:
    """Wait until the bank has sent a callback for a payout, and it was processed."""

    async def done() -> list[dict[str, Any]] | None:
        found = [
            each
            for each in await listed(backoffice_client, "provider=sandbox&kind=payout")
            if each["subject"] == key_of(backoffice_client, reference)
        ]
        return found if found and found[0]["state"] == "done" else None

    return list(await until(done))


async def test_a_callback_settles_a_payout(backoffice_client: BackofficeClient):
    """Sent and signed by the sandbox bank itself, and shown to operators."""
    sent = payout(backoffice_client)
    await backoffice_client.world.pay(sent)
    await backoffice_client.world.settled(str(sent["reference"]))

    mine = await told_of(backoffice_client, str(sent["reference"]))

    assert len(mine) == 1
    assert json.loads(mine[0]["body"])["tipo"] == "transferencia"


async def test_a_false_callback_changes_no_payout(backoffice_client: BackofficeClient):
    """Correctly signed: whatever it claims, the payout is read at the bank."""
    sent = payout(backoffice_client, value=SLOW)
    await backoffice_client.world.pay(sent)
    reference = str(sent["reference"])
    lie = {
        "tipo": "transferencia",
        "conta": "x",
        "chave": key_of(backoffice_client, reference),
        "estado": "settled",
        "valor": 1,
    }

    said = await summary(backoffice_client, lie, event="evt_lie")
    await backoffice_client.world.run_task("callbacks")

    account = backoffice_client.world.demo["accounts"]["main"]["id"]
    stored = await backoffice_client.world.gateway.kernel.store.payouts.find(account, reference)
    assert said.status == 200
    assert stored is not None
    assert stored.state in {PayoutState.ACCEPTED, PayoutState.UNKNOWN}


async def test_a_final_payout_stays_final(backoffice_client: BackofficeClient):
    """Late and out of order: a callback repeated after the end, even one of a failure."""
    sent = payout(backoffice_client)
    await backoffice_client.world.pay(sent)
    reference = str(sent["reference"])
    await backoffice_client.world.settled(reference)

    late = {
        "tipo": "transferencia",
        "chave": key_of(backoffice_client, reference),
        "estado": "failed",
    }
    await summary(backoffice_client, late, event="evt_late")
    await handled(backoffice_client, "evt_late", frozenset({"done"}))

    found = await backoffice_client.world.ask(
        "GET", backoffice_client.world.at(f"/withdraw/{reference}")
    )
    assert found.document["status"] == "paid"


@pytest.mark.parametrize(
    "forged",
    [
        {"secret": b"another secret"},
        {"token": "0" * 32},
        {"token": "%FF"},
        {"provider": "nobody"},
        {"late_s": 360},
        {"body": b'{"tipo": "outra"}'},
        {"headers": {"Webhook-Signature": ""}},
    ],
    ids=str,
)
async def test_an_unproven_callback_is_not_stored(
    backoffice_client: BackofficeClient, forged: dict[str, Any]
):
    """One answer for every mistake, and nothing is stored."""
    event = f"evt_{uuid.uuid4()}"

    said = await summary(
        backoffice_client, {"tipo": "transferencia", "chave": "0" * 32}, event=event, **forged
    )

    assert said.verdict == (401, "SVC.AUT.010")
    assert said.headers["WWW-Authenticate"] == 'Signature realm="callbacks"'
    events = {each["event"] for each in await listed(backoffice_client)}
    assert event not in events


@pytest.mark.parametrize("rest", ["/", "/pix", "/a/b", "/%2F", "//"])
async def test_a_callback_to_a_wrong_path_is_refused(
    backoffice_client: BackofficeClient, rest: str
):
    """Correctly signed; a caller without the address learns nothing about its path."""
    event = f"evt_{uuid.uuid4()}"
    said = await summary(backoffice_client, {"tipo": "outra"}, event=event, rest=rest)
    stranger = await summary(
        backoffice_client, {"tipo": "outra"}, event=event, rest="/pix", token="0" * 32
    )

    assert said.verdict == (404, "SVC.GTW.001")
    assert stranger.verdict == (401, "SVC.AUT.010")
    assert event not in {each["event"] for each in await listed(backoffice_client)}


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"\xff\xfe", b"{", b'{"tipo": 7}'])
async def test_a_proven_callback_of_unknown_form_is_stored_and_ignored(
    backoffice_client: BackofficeClient, body: bytes
):
    event = f"evt_{uuid.uuid4()}"

    said = await summary(backoffice_client, body, event=event)

    assert said.status == 200
    found = await handled(backoffice_client, event, frozenset({"ignored"}))
    assert found["kind"] == "other"


async def test_a_repeated_event_is_accepted_and_stored_once(backoffice_client: BackofficeClient):
    event = f"evt_{uuid.uuid4()}"

    said = await asyncio.gather(
        *(summary(backoffice_client, {"tipo": "outra", "n": n}, event=event) for n in range(10))
    )

    assert [each.status for each in said] == [200] * 10
    assert sum(each["event"] == event for each in await listed(backoffice_client)) == 1


@pytest.mark.parametrize("rest", ["", "/pix"])
async def test_a_callback_body_above_the_maximum_is_refused(
    backoffice_client: BackofficeClient, rest: str
):
    event = f"evt_{uuid.uuid4()}"
    said = await summary(backoffice_client, b"x" * (64 * 1024 + 1), event=event, rest=rest)

    assert said.verdict == (413, "SVC.GTW.003")
    assert event not in {each["event"] for each in await listed(backoffice_client)}

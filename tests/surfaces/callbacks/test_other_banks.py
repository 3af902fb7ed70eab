"""Banks that prove themselves otherwise: from the socket to the store, with nothing in between."""

from __future__ import annotations

import base64
import json
import logging
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from yarl import URL

from gateway.banks.port.provider_callbacks import (
    CallbackKind,
    CallbackProof,
    Delivery,
    NamedBy,
    Notice,
)
from gateway.callbacks.model import Callback, CallbackSearch
from gateway.callbacks.reception import CallbackAddress, Reception
from gateway.callbacks.store import CallbackRecords
from gateway.callbacks.surface import callback_surface
from gateway.core.account import Environment
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.windows import Paging
from gateway.http.server import Serving, application
from gateway.http.table import Table
from gateway.net.server.listener import Address, Listener
from gateway.net.server.peer import ServerLimits
from provider_adapters.apipix.callbacks import ApiPixProof, step_of
from provider_adapters.apipix.profiles import SecretAddress
from provider_adapters.kit.client import ProviderClient, client_of
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.proofs import KeySignature, PeerCertificate, only_value
from provider_adapters.kit.public_keys import FetchedKeys
from provider_adapters.kit.requests import get
from provider_adapters.kit.settings import ClientLimits
from tests.world import registers
from tests.world.banks.authority import Authority
from tests.world.banks.signers import Signer, ecdsa
from tests.world.banks.witness import Witness
from tests.world.gateway.listener_client import Witness as RequestWitness
from tests.world.gateway.listener_client import admission
from tests.world.registers import Registers

CANARIES = ("Oscar Canary", "529.982.247-25", "canary@example.com", "canary-reference")
NAME, TAX_NUMBER, KEY, REFERENCE = CANARIES
TOKEN = "canary" + "0" * 26
SECRET = b"canary-secret-of-the-address"
STEP = step_of(SECRET)
HEADER = "Client-Cert"
OUR_LOGGERS = ("gateway", "pixgate", "policies", "provider_adapters")


def notices_of(body: bytes) -> Sequence[Notice]:
    """Read a list of payments, each of one key of ours."""
    return [
        Notice(
            event=each["id"],
            kind=CallbackKind.CHARGE,
            subject=each["reference"],
            account=each["key"],
            named_by=NamedBy.KEY,
            part=json.dumps(each).encode(),
        )
        for each in json.loads(body)["pix"]
    ]


@dataclass
class Signed:
    """Proves by a key pair of the bank; like Stark Bank and Woovi."""

    signature: KeySignature
    rests = frozenset({""})

    async def check(self, came: Delivery) -> Sequence[Notice] | None:
        given = only_value(came.headers, "X-Signature")
        return notices_of(came.body) if await self.signature.proves(given, came.body) else None


@dataclass
class Certified:
    """Proves by the certificate of the connection, and adds a step to the address; like Efí."""

    certificate: PeerCertificate
    rests = frozenset({"pix"})

    async def check(self, came: Delivery) -> Sequence[Notice] | None:
        return notices_of(came.body) if self.certificate.proves(came.certificate) else None


@dataclass
class KeyServer:
    keys: list[Signer] = field(default_factory=lambda: [ecdsa()])
    asked: int = 0

    async def show(self, _request: web.Request) -> web.Response:
        self.asked += 1
        return web.json_response({"keys": [each.pem for each in self.keys]})


@dataclass
class Stage:
    """A listener with two providers, and what it took."""

    port: int
    office: Registers
    bank: KeyServer
    client: ProviderClient
    authority: Authority
    counted: Counter[str]

    async def tell(
        self, provider: str, body: bytes, rest: str | None = None, **headers: str
    ) -> int:
        if rest is None:
            rest = "/pix" if provider == "certified" else ""
        url = f"http://127.0.0.1:{self.port}/callbacks/{provider}/{TOKEN}{rest}"
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        async with (
            aiohttp.ClientSession() as session,
            session.post(URL(url, encoded=True), data=body, headers=sent) as answer,
        ):
            said = await answer.text()
        assert not any(canary in said for canary in CANARIES)
        return answer.status

    async def kept(self) -> list[Callback]:
        store = CallbackRecords(self.office.store.database)
        return list(
            (await store.search(CallbackSearch(paging=Paging(1, 100)), EVERY_COMPANY)).items
        )

    def certificate(self, authority: Authority | None = None) -> str:
        pem = (authority or self.authority).sign("bank").read_text()
        leaf = pem[: pem.index("-----BEGIN PRIVATE")]
        return f":{base64.b64encode(ssl.PEM_cert_to_DER_cert(leaf)).decode()}:"


def body(*events: str) -> bytes:
    payments = [
        {"id": each, "reference": REFERENCE, "key": KEY, "payer": NAME, "document": TAX_NUMBER}
        for each in events
    ]
    return json.dumps({"pix": payments}).encode()


@pytest.fixture
def trusted() -> str:
    """Where our proxies are: here, unless a test says otherwise."""
    return "127.0.0.0/8"


@pytest.fixture
async def stage(tmp_path: Path, trusted: str) -> AsyncIterator[Stage]:
    bank, application = KeyServer(), web.Application()
    application.router.add_get("/keys", bank.show)
    async with TestServer(application) as served, registers.opened(tmp_path) as office:
        context = AdapterContext(name="signed", environment=Environment.SANDBOX, observer=Witness())
        client = client_of(context, f"http://127.0.0.1:{served.port}", (), ClientLimits())
        await client.start()
        authority, counted = Authority(tmp_path), Counter[str]()
        made = Stage(0, office, bank, client, authority, counted)
        listener = _listener(_reception(made), trusted)
        await listener.start()
        made.port = listener.port
        yield made
        await listener.close(1)
        await client.close()


def _reception(stage: Stage) -> Reception:
    keys = FetchedKeys(
        stage.client,
        get("public_keys", "/keys", {}),
        lambda said: [("", pem) for pem in json.loads(said)["keys"]],
        lambda: 0.0,
    )
    certificate = PeerCertificate(stage.authority.file.read_text(), lambda: datetime.now(UTC))
    proofs: dict[str, CallbackProof] = {
        "signed": Signed(KeySignature(keys)),
        "certified": Certified(certificate),
        "stepped": ApiPixProof(None, [SECRET], SecretAddress(), lists_keys=True),
    }
    return Reception(
        store=CallbackRecords(stage.office.store.database),
        addresses={
            name: CallbackAddress(proof=proof, tokens=(TOKEN,)) for name, proof in proofs.items()
        },
        now=stage.office.clock,
        new_id=stage.office.new_id,
        note=lambda _provider, result: stage.counted.update([result]),
        wake=lambda: None,
    )


def _listener(reception: Reception, trusted: str) -> Listener:
    witness = RequestWitness()
    serving = Serving(
        table=Table([callback_surface(reception)]),
        pages={},
        admission=admission(witness.count),
        observer=witness,
        body_deadline_s=1.0,
        uuid_traces=False,
    )
    limits = ServerLimits(
        trusted_peers=(ip_network(trusted),),
        client_address="forwarded",
        certificate_header=HEADER,
    )
    return Listener(application(serving), at=Address(), limits=limits)


async def test_a_signature_is_proven_with_the_key_that_the_bank_shows(stage: Stage):
    """Proven, repeated, altered by a byte, forged; the key is read once for all of them."""
    sent = body("e1")
    right = stage.bank.keys[0].sign(sent)

    assert await stage.tell("signed", sent, X_Signature=right) == 200
    assert await stage.tell("signed", sent, X_Signature=right) == 200
    assert stage.bank.asked == 1
    assert await stage.tell("signed", sent + b" ", X_Signature=right) == 401
    assert await stage.tell("signed", sent, X_Signature=ecdsa().sign(sent)) == 401
    assert await stage.tell("signed", sent) == 401

    assert stage.counted == {"taken": 1, "repeated": 1, "forged": 3}
    assert [each.event for each in await stage.kept()] == ["e1"]
    assert stage.bank.asked == 2


async def test_a_key_that_the_bank_has_replaced_is_fetched_in_the_same_callback(stage: Stage):
    first, second = body("e1"), body("e2")
    assert await stage.tell("signed", first, X_Signature=stage.bank.keys[0].sign(first)) == 200
    stage.bank.keys = [ecdsa()]

    assert await stage.tell("signed", second, X_Signature=stage.bank.keys[0].sign(second)) == 200
    assert stage.bank.asked == 2


async def test_a_bank_that_cannot_be_asked_for_its_keys_is_told_to_repeat(stage: Stage):
    """Nobody is told of a forgery, and nothing is kept."""
    await stage.client.close()
    sent = body("e1")

    assert await stage.tell("signed", sent, X_Signature=stage.bank.keys[0].sign(sent)) == 401
    assert (stage.counted, await stage.kept()) == ({"unproven": 1}, [])


async def test_a_certificate_from_our_proxy_is_proven(stage: Stage, tmp_path: Path):
    """Efí calls once without a certificate, and wants to be refused."""
    (tmp_path / "stranger").mkdir()
    stranger = Authority(tmp_path / "stranger")
    ours = {HEADER: stage.certificate()}

    assert await stage.tell("certified", body("e0")) == 401
    assert await stage.tell("certified", body("e1"), **ours) == 200
    assert await stage.tell("certified", body("e2"), **{HEADER: stage.certificate(stranger)}) == 401

    assert [each.event for each in await stage.kept()] == ["e1"]


@pytest.mark.parametrize("trusted", ["10.0.0.0/8"])
async def test_a_certificate_from_a_stranger_proves_nothing(stage: Stage):
    assert await stage.tell("certified", body("e1"), **{HEADER: stage.certificate()}) == 401
    assert await stage.kept() == []


async def test_a_secret_step_before_the_bank_s_own_proves_a_callback(stage: Stage):
    """The standard's banks add ``/pix`` to whatever address they were given."""
    paid = json.dumps({"pix": [{"endToEndId": "e1", "txid": "t1", "chave": KEY}]}).encode()

    assert await stage.tell("stepped", paid, f"/{STEP}/pix") == 200
    assert [each.event for each in await stage.kept()] == ["e1:received"]


@pytest.mark.parametrize(
    "rest",
    [
        "",
        "/pix",
        f"/{STEP}",
        f"/{STEP}/",
        f"/{STEP}//pix",
        f"/{STEP}/pix/",
        f"/{STEP}/pix/pix",
        f"/{STEP}/rec",
        f"/pix/{STEP}",
        f"/{STEP}%2Fpix",
        f"/{STEP.upper()}/pix",
        f"/{step_of(b'another')}/pix",
        "/%FF/pix",
    ],
)
async def test_any_other_rest_of_the_path_is_nowhere(stage: Stage, rest: str):
    """Nothing is stored, and nothing is counted as a forgery."""
    assert await stage.tell("stepped", body("e1"), rest) == 404
    assert (stage.counted, await stage.kept()) == ({}, [])


async def test_several_things_in_one_body_are_kept_apart(stage: Stage):
    """Sent again with one more, only that one is new."""
    ours: dict[str, Any] = {HEADER: stage.certificate()}

    assert await stage.tell("certified", body("e1", "e2"), **ours) == 200
    assert await stage.tell("certified", body("e2", "e3", "e1"), **ours) == 200

    kept = {each.event: each for each in await stage.kept()}
    assert sorted(kept) == ["e1", "e2", "e3"]
    assert {each.account for each in kept.values()} == {KEY}
    assert json.loads(kept["e2"].body)["id"] == "e2"


async def test_nothing_of_a_callback_is_logged_or_in_a_transcript(
    stage: Stage, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
):
    """Names, tax numbers, keys, references, signatures, certificates, the address's token."""
    caplog.set_level(logging.DEBUG)
    sent = body("e1")
    right, shown = stage.bank.keys[0].sign(sent), stage.certificate()

    await stage.tell("signed", sent, X_Signature=right)
    await stage.tell("signed", sent, X_Signature=ecdsa().sign(sent))
    await stage.tell("certified", body("e2"), **{HEADER: shown})
    await stage.tell("certified", body("e3"))
    await stage.tell("stepped", body("e4"), f"/{STEP}/pix")
    await stage.client.close()
    await stage.tell("signed", sent, X_Signature=ecdsa().sign(sent))

    ours = [each for each in caplog.records if each.name.startswith(OUR_LOGGERS)]
    told = "\n".join(each.getMessage() for each in ours) + "".join(capfd.readouterr())
    told += repr(stage.client.transcript.shown()) + repr(stage.counted)
    secrets = (
        *CANARIES,
        right,
        shown.strip(":"),
        TOKEN,
        STEP,
        stage.bank.keys[0].pem.splitlines()[1],
    )
    assert "public_keys" in told
    assert [each for each in secrets if each in told] == []

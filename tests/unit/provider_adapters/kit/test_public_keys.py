"""Public keys of banks: which are taken, and how often the bank is asked for them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gateway.banks.client.messages import ProviderAnswer, ProviderRequest
from gateway.banks.port.provider_callbacks import ProofRefused
from gateway.banks.port.providers import BadReply, ProviderError, Unavailable
from provider_adapters.kit.proofs import KeySignature
from provider_adapters.kit.public_keys import FetchedKeys, GivenKeys, PublicKey
from tests.world.banks.signers import WOOVI, Signer, ecdsa, rsa_of
from tests.world.leaping import leaping
from tests.world.standing import Clock
from tests.world.tables import cases
from tests.world.waiting import forever

ASK = ProviderRequest(operation="keys", method="GET", template="/keys", path="/keys")
BODY = b'{"evento": "teste"}'
HOUR_S = 3600


@dataclass
class KeyServer:
    """A bank that shows its keys; a client of it."""

    keys: list[Signer] = field(default_factory=list)
    problem: ProviderError | None = None
    status: int = 200
    body: bytes | None = None
    asked: int = 0

    async def read(
        self, request: ProviderRequest, translate: Callable[[ProviderAnswer], Any]
    ) -> Any:
        self.asked += 1
        await asyncio.sleep(0)
        if self.problem:
            raise self.problem
        shown = json.dumps([[f"k{n}", each.pem] for n, each in enumerate(self.keys)]).encode()
        body = shown if self.body is None else self.body
        return translate(ProviderAnswer(status=self.status, headers={}, body=body))


def read(body: bytes) -> list[tuple[str, str]]:
    return [(each[0], each[1]) for each in json.loads(body)]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server() -> KeyServer:
    return KeyServer([ecdsa()])


@pytest.fixture
def keys(server: KeyServer, clock: Clock) -> FetchedKeys:
    return FetchedKeys(server, ASK, read, clock.monotonic)


async def test_keys_are_fetched_once_an_hour_for_any_number_of_callers(
    server: KeyServer, keys: FetchedKeys, clock: Clock
):
    proof = KeySignature(keys)
    signature = server.keys[0].sign(BODY)

    assert all(await asyncio.gather(*(proof.proves(signature, BODY) for _ in range(50))))
    clock.passes(HOUR_S - 1)
    assert await proof.proves(signature, BODY)
    assert server.asked == 1

    clock.passes(1)
    assert await proof.proves(signature, BODY)
    assert server.asked == 2


@pytest.mark.parametrize("named", [True, False])
async def test_a_new_key_is_fetched_at_once(server: KeyServer, keys: FetchedKeys, named: bool):
    """The bank has rotated its key within the hour."""
    proof = KeySignature(keys)
    assert await proof.proves(server.keys[0].sign(BODY), BODY)
    server.keys.append(ecdsa())

    assert await proof.proves(server.keys[1].sign(BODY), BODY, "k1" if named else "")
    assert server.asked == 2


async def test_forgeries_cause_at_most_one_fetch_a_minute(
    server: KeyServer, keys: FetchedKeys, clock: Clock
):
    proof, forged = KeySignature(keys), ecdsa().sign(BODY)

    proven = await asyncio.gather(*(proof.proves(forged, BODY, "nobody") for _ in range(100)))
    assert (any(proven), server.asked) == (False, 2)

    clock.passes(60)
    assert not await proof.proves(forged, BODY)
    assert server.asked == 3


async def test_old_keys_are_used_for_a_day_while_the_bank_is_unavailable(
    server: KeyServer, keys: FetchedKeys, clock: Clock
):
    proof, signature = KeySignature(keys), server.keys[0].sign(BODY)
    assert await proof.proves(signature, BODY)
    server.problem = Unavailable("timeout")

    clock.passes(24 * HOUR_S - 1)
    assert await proof.proves(signature, BODY)

    clock.passes(1)
    with pytest.raises(ProviderError):
        await proof.proves(signature, BODY)


async def test_an_unavailable_bank_is_asked_once_for_all_callers(
    server: KeyServer, keys: FetchedKeys, clock: Clock
):
    """The result is unknown, not a forgery; it is tried again five seconds later."""
    server.problem = Unavailable("timeout")
    proof = KeySignature(keys)

    outcomes = await asyncio.gather(
        *(proof.proves(server.keys[0].sign(BODY), BODY) for _ in range(20)), return_exceptions=True
    )
    assert [type(each) for each in outcomes] == [Unavailable] * 20
    assert server.asked == 1

    server.problem = None
    clock.passes(5)
    assert await proof.proves(server.keys[0].sign(BODY), BODY)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, b"[]"),
        (200, b"[]"),
        (200, b"{}"),
        (200, b"<html>"),
        (200, b"[" * 60_000),
        (200, b'[["k", 7]]'),
        (200, b'[["k", "no key"]]'),
        (200, b'[["k", "' + b"x" * 65_536 + b'"]]'),
    ],
    ids=["status", "none", "object", "html", "deep", "number", "no-key", "large"],
)
async def test_an_answer_in_another_format_is_a_bad_reply(
    server: KeyServer, keys: FetchedKeys, status: int, body: bytes
):
    server.status, server.body = status, body

    with pytest.raises(BadReply):
        await keys.known()


@leaping
async def test_fetching_keys_has_a_time_limit(clock: Clock):
    class Hanging:
        async def read(self, _request: object, _translate: object) -> Any:
            await forever()

    with pytest.raises(Unavailable):
        await FetchedKeys(Hanging(), ASK, read, clock.monotonic).known()


@cases("made", [ecdsa, rsa_of, lambda: rsa_of(4096)])
def test_keys_of_both_kinds_are_accepted(made: Callable[[], Signer]):
    assert PublicKey.read(made().pem).verifies(b"", b"") is False


def _public(key: Any) -> str:
    made = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return str(made.decode())


@cases(
    "pem",
    [
        "",
        "not a key",
        WOOVI["public_key_pem"][:100],
        _public(ec.generate_private_key(ec.SECP256R1())),
        _public(ed25519.Ed25519PrivateKey.generate()),
    ],
)
def test_an_unsupported_key_is_refused_without_being_quoted(pem: str):
    with pytest.raises(ProofRefused) as refused:
        GivenKeys([pem])

    assert "BEGIN" not in str(refused.value)
    assert not pem or pem not in str(refused.value)


def test_an_empty_list_of_keys_is_refused():
    with pytest.raises(ProofRefused, match="needs a public key"):
        GivenKeys([])


async def test_verifying_a_signature_logs_nothing(
    server: KeyServer, keys: FetchedKeys, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)

    await KeySignature(keys).proves(ecdsa().sign(BODY), BODY)

    assert [each for each in caplog.records if each.name.startswith(("gateway", "provider"))] == []

"""Callbacks assembled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from multidict import CIMultiDict

from gateway.app.banks import connect, make_address, make_addresses, path_of
from gateway.banks.port.provider_callbacks import (
    CallbackKind,
    CallbackProof,
    CallbackSecrets,
    Delivery,
    Notice,
)
from gateway.callbacks.reception import CallbackAddress
from gateway.config.settings import Settings
from gateway.config.upstream import Callbacks, Provider
from gateway.config.values import Secret
from gateway.core.account import Environment
from gateway.security.keys import Derivation
from provider_adapters.kit.factory import AdapterRefused
from provider_adapters.kit.proofs import PeerCertificate
from provider_adapters.sandbox.callbacks import SandboxProof
from provider_adapters.testing.embedded import listener_of
from provider_adapters.testing.sandbox import sign
from tests.world.banks.witness import Witness
from tests.world.standing import NOON, Clock

KEYS = Derivation({"k": b"k" * 32}, "k")
REPLACED = Derivation({"n": b"n" * 32, "k": b"k" * 32}, "n")
BODY = b'{"tipo": "cobranca", "conta": "c", "referencia": "r"}'
OURS, FORMER = Secret("the bank's own secret"), Secret("the bank's former secret")


def settings(callbacks: Callbacks | None = None, **changed: Any) -> Settings:
    provider = Provider(adapter="sandbox", callbacks=callbacks or Callbacks())
    return Settings(providers=dict.fromkeys(("one", "two"), provider), **changed)


class Prover:
    """The sandbox's adapter, as far as callbacks are concerned, at the clock of the test."""

    def callback_proof(self, secrets: CallbackSecrets) -> SandboxProof:
        return SandboxProof(secrets.shared_or_derived, Clock().now)


def addresses(given: Settings, keys: Derivation = KEYS) -> Mapping[str, CallbackAddress]:
    adapters: Any = dict.fromkeys(given.providers, Prover())
    return make_addresses(given, keys, adapters)


async def told(
    given: Settings, name: str, secret: bytes, keys: Derivation = KEYS
) -> Sequence[Notice] | None:
    """Tell a provider something, signed with a secret."""
    headers = CIMultiDict(sign(secret, "evt", NOON, BODY))
    return await addresses(given, keys)[name].proof.check(Delivery(headers=headers, body=BODY))


async def test_the_embedded_bank_is_accepted_only_at_its_own_address():
    listener = listener_of(settings(), KEYS, lambda: "http://127.0.0.1:8080")
    assert listener is not None
    made = addresses(settings())

    address = listener.url()
    signed = sign(bytes.fromhex(listener.secret), "evt", NOON, BODY)
    delivery = Delivery(headers=CIMultiDict(signed), body=BODY)
    token = address.rpartition("/")[2]

    assert address == f"http://127.0.0.1:8080{path_of('one', KEYS)}"
    assert (made["one"].knows(token), made["two"].knows(token)) == (True, False)
    notices = await made["one"].proof.check(delivery)
    assert notices is not None
    assert [(each.kind, each.subject) for each in notices] == [(CallbackKind.CHARGE, "r")]
    assert await made["two"].proof.check(delivery) is None


def test_without_a_sandbox_provider_the_bank_sends_no_callbacks():
    assert listener_of(Settings(), KEYS, str) is None
    assert make_addresses(Settings(), KEYS, {}) == {}


async def test_a_configured_callback_secret_replaces_the_derived_one():
    given = settings(Callbacks(secret=OURS))

    assert await told(given, "one", OURS.encode()) is not None
    assert await told(given, "one", KEYS.key("callbacks one")) is None


def test_the_address_depends_only_on_the_sealing_key():
    """Not on the bank's proof, which may be public, such as a public key."""
    given = addresses(settings(Callbacks(secret=OURS)))

    assert given["one"].tokens == addresses(settings())["one"].tokens
    assert path_of("one", KEYS) != path_of("two", KEYS) != path_of("two", REPLACED)


def test_the_address_of_a_retired_sealing_key_is_still_accepted():
    former = path_of("one", KEYS).rpartition("/")[2]
    current = path_of("one", REPLACED).rpartition("/")[2]
    after = addresses(settings(), REPLACED)["one"]

    assert after.tokens == (current, former)
    assert after.knows(former)
    assert not addresses(settings())["one"].knows(current)


def test_a_wrong_callback_address_is_refused():
    wrong = [
        token
        for token in ["", "0" * 32, "é", "\udcff"]
        if addresses(settings())["one"].knows(token)
    ]

    assert wrong == []


async def test_a_retired_callback_secret_is_accepted_while_configured():
    given = settings(Callbacks(secret=OURS, retired_secrets={"2026": FORMER}))

    assert await told(given, "one", FORMER.encode()) is not None
    assert await told(settings(Callbacks(secret=OURS)), "one", FORMER.encode()) is None


async def test_a_callback_secret_derived_from_a_retired_sealing_key_is_accepted():
    """A sandbox bank in another process may have started before the rotation."""
    assert await told(settings(), "one", KEYS.key("callbacks one"), REPLACED) is not None


@pytest.mark.parametrize(
    "given", [Callbacks(), Callbacks(retired_secrets={"2026": FORMER})], ids=["none", "former"]
)
def test_without_a_secret_no_callback_is_accepted_outside_the_sandbox(given: Callbacks):
    with pytest.raises(AdapterRefused, match=r"providers\.one\.callbacks: needs a secret"):
        addresses(settings(given, environment=Environment.PRODUCTION))


def test_a_proof_that_cannot_be_created_is_refused_without_its_value():
    class Wrong:
        def callback_proof(self, _secrets: CallbackSecrets) -> CallbackProof:
            return PeerCertificate("canary", Clock().now)  # type: ignore[return-value]

    adapter: Any = Wrong()
    with pytest.raises(
        AdapterRefused, match=r"^providers\.one\.callbacks: is no certif"
    ) as refused:
        make_address("one", settings(), KEYS, adapter)

    assert "canary" not in str(refused.value)


def test_a_proof_that_raises_is_refused_in_one_line():
    class Wrong:
        def callback_proof(self, _secrets: CallbackSecrets) -> CallbackProof:
            raise KeyError(OURS)

    adapter: Any = Wrong()
    with pytest.raises(AdapterRefused) as refused:
        make_address("one", settings(), KEYS, adapter)

    assert str(refused.value).startswith("providers.one.callbacks: the proof raised KeyError at ")
    assert str(OURS) not in str(refused.value)


def test_a_callback_secret_for_a_bank_without_callbacks_is_refused():
    silent: Any = object()

    assert make_addresses(settings(), KEYS, {"one": silent}) == {}
    for given in (Callbacks(secret=OURS), Callbacks(retired_secrets={"2026": FORMER})):
        with pytest.raises(AdapterRefused, match=r"providers\.one\.callbacks: .* takes no"):
            make_address("one", settings(given), KEYS, silent)


def test_the_sandbox_adapter_creates_its_own_proof():
    adapter = connect("one", settings(), Witness()).adapter

    made = make_address("one", settings(), KEYS, adapter)

    assert made is not None
    assert made.proof.rests == {""}

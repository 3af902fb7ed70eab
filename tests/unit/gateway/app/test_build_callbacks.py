"""Callbacks assembled."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict

from gateway.app.build_callbacks import listener_of, make_proofs, paths
from gateway.config.settings import Settings
from gateway.config.upstream import Callbacks, Provider
from gateway.config.values import Secret
from gateway.domain.backoffice.callbacks import CallbackKind, Notice
from gateway.security.keys import Derivation
from provider_adapters._shared.factory import AdapterRefused
from provider_adapters.sandbox.callbacks import sign, token_of
from tests.unit.standing import NOON, Clock

KEYS = Derivation({"k": b"k" * 32}, "k")


BODY = b'{"tipo": "cobranca", "conta": "c", "referencia": "r"}'
OURS, FORMER = Secret("the bank's own secret"), Secret("the bank's former secret")


def settings(callbacks: Callbacks | None = None) -> Settings:
    provider = Provider(adapter="sandbox", callbacks=callbacks or Callbacks())
    return Settings(providers=dict.fromkeys(("one", "two"), provider))


def told(given: Settings, name: str, secret: bytes, address: bytes = b"") -> Notice | None:
    """Tell a provider something, signed with a secret, at the address of this or of another."""
    headers = CIMultiDict(sign(secret, "evt", NOON, BODY))
    proof = make_proofs(given, KEYS, Clock().now)[name]
    return proof.check(headers, BODY, token_of(address or secret))


def test_the_embedded_bank_is_believed_at_its_own_address_alone():
    listener = listener_of(settings(), KEYS, lambda: "http://127.0.0.1:8080")
    assert listener is not None
    proofs = make_proofs(settings(), KEYS, Clock().now)

    address = listener.url()
    headers = CIMultiDict(listener.sign("evt", NOON, BODY))
    token = address.rpartition("/")[2]

    assert address.startswith("http://127.0.0.1:8080/callbacks/one/")
    notice = proofs["one"].check(headers, BODY, token)
    assert notice is not None
    assert (notice.kind, notice.subject) == (CallbackKind.CHARGE, "r")
    assert proofs["two"].check(headers, BODY, token) is None


def test_where_no_provider_is_the_banks_it_tells_nobody():
    assert listener_of(Settings(), KEYS, str) is None
    assert make_proofs(Settings(), KEYS, Clock().now) == {}


def test_a_bank_s_own_secret_takes_the_place_of_the_derived_one():
    given = settings(Callbacks(secret=OURS))

    assert told(given, "one", OURS.encode()) is not None
    assert told(given, "one", KEYS.key("callbacks one")) is None
    assert paths(given, KEYS)["one"] == f"/callbacks/one/{token_of(OURS.encode())}"


def test_a_former_secret_is_believed_as_well_while_it_is_named():
    """At either address: the bank may change one before the other."""
    given = settings(Callbacks(secret=OURS, retired_secrets={"2026": FORMER}))

    assert told(given, "one", FORMER.encode()) is not None
    assert told(given, "one", OURS.encode(), FORMER.encode()) is not None
    assert told(settings(Callbacks(secret=OURS)), "one", FORMER.encode()) is None


def test_a_secret_for_what_a_bank_does_not_send_is_a_mistake(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gateway.app.build_callbacks.find", lambda _adapter: object())

    assert make_proofs(settings(), KEYS, Clock().now) == {}
    for given in (Callbacks(secret=OURS), Callbacks(retired_secrets={"2026": FORMER})):
        with pytest.raises(AdapterRefused, match=r"providers\.one\.callbacks: sandbox sends no"):
            make_proofs(settings(given), KEYS, Clock().now)

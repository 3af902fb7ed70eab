"""Callbacks assembled."""

from __future__ import annotations

from multidict import CIMultiDict

from gateway.app.callbacks import listener_of, make_proofs
from gateway.config.settings import Settings
from gateway.config.upstream import Provider
from gateway.domain.callbacks import CallbackKind
from gateway.security.derivation import Derivation
from tests.unit.standing import NOON, Clock

KEYS = Derivation({"k": b"k" * 32}, "k")


def settings() -> Settings:
    return Settings(providers={name: Provider(adapter="sandbox") for name in ("one", "two")})


def test_the_embedded_bank_is_believed_at_its_own_address_alone():
    listener = listener_of(settings(), KEYS, lambda: 8080)
    assert listener is not None
    proofs = make_proofs(settings(), KEYS, Clock().now)

    address = listener.url()
    body = b'{"tipo": "cobranca", "conta": "c", "referencia": "r"}'
    headers = CIMultiDict(listener.sign("evt", NOON, body))
    token = address.rpartition("/")[2]

    assert address.startswith("http://127.0.0.1:8080/callbacks/one/")
    notice = proofs["one"].check(headers, body, token)
    assert notice is not None
    assert (notice.kind, notice.subject) == (CallbackKind.CHARGE, "r")
    assert proofs["two"].check(headers, body, token) is None


def test_where_no_provider_is_the_banks_it_tells_nobody():
    assert listener_of(Settings(), KEYS, lambda: 1) is None
    assert make_proofs(Settings(), KEYS, Clock().now) == {}

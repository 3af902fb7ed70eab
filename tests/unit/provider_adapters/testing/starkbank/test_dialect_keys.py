"""The keys of the bank's curve."""

from __future__ import annotations

from ellipticcurve import PrivateKey

from provider_adapters.kit.signing import EcdsaSigner
from provider_adapters.testing.bank.kernel import state
from provider_adapters.testing.bank.messages import Fields
from provider_adapters.testing.starkbank.dialect import STARKBANK, public_key, rotate


def test_a_key_that_is_drawn_is_one_to_the_bank_s_own_library(books, account):
    first, second = (STARKBANK.admit(books, account, Fields({})) for _ in range(2))
    drawn = first.credentials["private_key"]
    kept = state.find(books, "public key", first.token)

    assert PrivateKey.fromPem(drawn).publicKey().toPem().split() == kept.value.split()
    assert EcdsaSigner(drawn).sign(b"1")
    assert second.credentials["private_key"] != drawn


def test_the_bank_keeps_its_key_until_it_takes_another(books):
    first = public_key(books)

    assert public_key(books) == first
    rotate(books)
    assert public_key(books) != first

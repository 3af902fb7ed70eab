"""The keys of the bank's curve."""

from __future__ import annotations

import pytest
from ellipticcurve import PrivateKey

from provider_adapters.kit.signing import EcdsaSigner
from provider_adapters.testing.starkbank import signing_keys
from tests.world.banks.authority import Authority


def test_a_key_that_is_drawn_is_one_to_the_bank_s_own_library(books):
    drawn = signing_keys.new_key(books)

    assert PrivateKey.fromPem(drawn).publicKey().toPem().split() == (
        signing_keys.public_of(drawn).split()
    )
    assert EcdsaSigner(drawn).sign(b"1")
    assert signing_keys.new_key(books) != drawn


def test_the_bank_keeps_its_key_until_it_takes_another(books):
    first = signing_keys.public_key(books)

    assert signing_keys.public_key(books) == first
    signing_keys.rotate(books)
    assert signing_keys.public_key(books) != first


def test_a_key_of_another_kind_is_none(tmp_path):
    with pytest.raises(TypeError):
        signing_keys.private(Authority(tmp_path).pair("we").key)

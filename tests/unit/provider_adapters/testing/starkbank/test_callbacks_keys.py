"""The keys of the bank's curve."""

from __future__ import annotations

import pytest
from ellipticcurve import PrivateKey

from provider_adapters.kit.signing import EcdsaSigner
from provider_adapters.testing.starkbank import callbacks
from tests.world.banks.authority import Authority


def test_a_key_that_is_drawn_is_one_to_the_bank_s_own_library(books):
    drawn = callbacks.new_key(books)

    assert PrivateKey.fromPem(drawn).publicKey().toPem().split() == (
        callbacks.public_of(drawn).split()
    )
    assert EcdsaSigner(drawn).sign(b"1")
    assert callbacks.new_key(books) != drawn


def test_the_bank_keeps_its_key_until_it_takes_another(books):
    first = callbacks.public_key(books)

    assert callbacks.public_key(books) == first
    callbacks.rotate(books)
    assert callbacks.public_key(books) != first


def test_a_key_of_another_kind_is_none(tmp_path):
    with pytest.raises(TypeError):
        callbacks.private(Authority(tmp_path).pair("we").key)

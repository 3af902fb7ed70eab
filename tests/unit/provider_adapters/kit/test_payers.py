"""Who paid, as far as a bank says it."""

from __future__ import annotations

from gateway.domain.bank.charges import Payer
from provider_adapters.kit.payers import payer_of


def test_nobody_is_no_payer():
    assert [payer_of(None, None), payer_of("", "", "")] == [None, None]


def test_what_is_said_of_a_payer_is_kept():
    assert payer_of("Maria", None) == Payer(name="Maria")
    assert payer_of(None, "52998224725", "Obrigada") == Payer(
        tax_number="52998224725", message="Obrigada"
    )

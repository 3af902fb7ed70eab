"""The tables: a state means one thing, and doubt is no failure."""

from __future__ import annotations

from gateway.banks.port.payout_orders import AccountType
from gateway.banks.port.statements import MovementKind
from provider_adapters.apipix.inter import words


def test_ambiguous_states_are_not_in_the_table():
    doubted = {"NAO_DEBITADO", "PARCIALMENTE_DEBITADO", "PARCIALMENTE_PAGO"}

    assert not doubted & words.STATES.keys()


def test_only_pix_is_listed_as_pix():
    kinds = [word for word, kind in words.KINDS.items() if kind is MovementKind.PIX]

    assert kinds == ["PIX"]
    assert words.KINDS["ESTORNO"] is MovementKind.OTHER


def test_every_account_type_has_a_word():
    assert set(words.ACCOUNT_TYPES) == set(AccountType)

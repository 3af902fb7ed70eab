"""Which movements are money of our payouts that came back."""

from gateway.banks.port.providers import PixReturn
from gateway.banks.port.statements import Direction, MovementKind
from gateway.payouts.matching import is_return, is_return_id, returns_in
from tests.world.movements import movement
from tests.world.payouts import VALUE
from tests.world.standing import NOON

KEY = "0" * 32
RETURN_ID = "D9999999920261122134011ABCDEFGHIJ"[:32]
BACK = {
    "provider_key": KEY,
    "direction": Direction.CREDIT,
    "kind": MovementKind.PIX_RETURN,
    "e2e_id": RETURN_ID,
}


def test_a_credit_under_our_key_is_a_return():
    found = returns_in([movement(**BACK)], KEY)

    assert found == (PixReturn(id=RETURN_ID, value=VALUE, at=NOON),)


def test_other_movements_are_no_returns():
    """Without an id the same money might be stored twice."""
    cases = [
        {"direction": Direction.DEBIT},
        {"kind": MovementKind.PIX},
        {"provider_key": ""},
        {"e2e_id": "E" + RETURN_ID[1:]},
        {"e2e_id": ""},
    ]

    for other in cases:
        assert not is_return(movement(**{**BACK, **other}))
        assert returns_in([movement(**{**BACK, **other})], KEY) == ()


def test_a_return_of_another_payout_is_not_matched():
    assert returns_in([movement(**BACK)], "1" * 32) == ()


def test_a_return_s_id_has_the_central_bank_s_form():
    cases = [(RETURN_ID, True), ("E" + RETURN_ID[1:], False), ("D1", False), ("", False)]

    wrong = [(text, is_one) for text, is_one in cases if is_return_id(text) is not is_one]

    assert wrong == []

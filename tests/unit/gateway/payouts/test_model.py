"""Payouts: fingerprints, provider keys, and which state may follow which."""

import hashlib
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    PayoutMethod,
    PayoutOrder,
    PixDestination,
)
from gateway.banks.port.pix_keys import PixKeyType
from gateway.core.account import Environment
from gateway.core.money import Money
from gateway.payouts.model import (
    FINAL_STATES,
    SUCCESSORS,
    PayoutRequest,
    PayoutState,
    Verdict,
    hidden_key,
    is_same_place,
    normal_destination,
    provider_key,
    restored_destination,
)
from tests.world.payouts import PIX, asking

ACCOUNT = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
BANK = BankDestination(
    name="Maria",
    tax_number="52998224725",
    bank_number="341",
    branch="0001",
    account="123456-7",
    account_type=AccountType.CHECKING,
)
REQUEST = replace(asking(), description="")


@pytest.mark.parametrize(
    "same",
    [
        replace(REQUEST, date=date(2026, 11, 21)),
        replace(REQUEST, destination_sent={"tax_number": "52998224725"}),
        replace(REQUEST, reference="order-2"),
    ],
    ids=["date", "spelling", "reference"],
)
def test_optional_fields_and_the_date_do_not_change_the_fingerprint(same: PayoutRequest):
    """A retry after midnight is the same payout."""
    assert same.fingerprint() == REQUEST.fingerprint()


def test_every_other_field_changes_the_fingerprint():
    cases = [
        replace(REQUEST, value=Money(1051)),
        replace(REQUEST, description="x"),
        replace(REQUEST, destination=replace(PIX, name="Mario")),
        replace(REQUEST, destination=replace(PIX, tax_number="11144477735")),
        replace(REQUEST, destination=replace(PIX, key="mario@example.com")),
        replace(REQUEST, destination=replace(PIX, key_type=PixKeyType.EVP)),
        replace(REQUEST, method=PayoutMethod.BANK_ACCOUNT, destination=BANK),
        replace(REQUEST, method=PayoutMethod.BANK_ACCOUNT),
    ]

    wrong = [other for other in cases if other.fingerprint() == REQUEST.fingerprint()]

    assert wrong == []


def test_moving_text_between_fields_changes_the_fingerprint():
    one = replace(REQUEST, destination=replace(BANK, branch="1", account="23"))
    other = replace(REQUEST, destination=replace(BANK, branch="12", account="3"))

    assert one.fingerprint() != other.fingerprint()


def test_the_fingerprint_is_stable_across_releases():
    """Stored rows are compared with it: a change would turn retries into conflicts."""
    pinned = "02f603cf334fd0d8eb127f95a0d97da38ae4811c0f04ca69b6babf1825c692f9"

    assert REQUEST.fingerprint() == pinned


@pytest.mark.parametrize(
    ("method", "destination"),
    [
        (PayoutMethod.PIX, PIX),
        (PayoutMethod.BANK_ACCOUNT, BANK),
        (PayoutMethod.BANK_ACCOUNT, replace(BANK, account_type=AccountType.PAYMENT)),
    ],
)
def test_a_destination_is_restored_unchanged(
    method: PayoutMethod, destination: PixDestination | BankDestination
):
    assert restored_destination(method, normal_destination(destination)) == destination


def test_the_provider_key_is_a_hash_of_environment_account_and_reference():
    """Hex of the first 16 bytes of SHA-256 over v1, environment, account and reference."""
    parts = b"v1\0sandbox\0" + ACCOUNT.encode() + b"\0" + "ação/1".encode()

    key = provider_key(Environment.SANDBOX, ACCOUNT, "ação/1")

    assert key == hashlib.sha256(parts).hexdigest()[:32]


@given(st.text(min_size=1).filter(lambda text: text.encode("utf-8", "ignore").decode() == text))
def test_a_provider_key_is_32_hex_digits_and_does_not_reveal_the_reference(reference: str):
    keys = {provider_key(each, ACCOUNT, reference) for each in Environment}

    assert len(keys) == len(Environment)
    assert all(len(key) == 32 and set(key) <= set("0123456789abcdef") for key in keys)


@pytest.mark.parametrize("centavos", [0, -1])
def test_a_payout_order_must_be_above_zero(centavos: int):
    with pytest.raises(ValueError, match="above zero"):
        PayoutOrder(
            provider_key="k",
            method=PayoutMethod.PIX,
            value=Money(centavos),
            destination=PIX,
            description="",
        )


# The table of states, written out.
MAY_FOLLOW = {
    "held": {"sending", "unknown", "failed"},
    "sending": {"unknown", "not_sent", "accepted", "paid", "rejected", "failed"},
    "unknown": {"not_sent", "accepted", "paid", "rejected", "failed"},
    "not_sent": {"sending", "unknown", "failed"},
    "accepted": {"paid", "failed"},
    "paid": set(),
    "rejected": set(),
    "failed": set(),
}


def test_each_state_has_its_allowed_successors():
    wrong = [
        state
        for state in PayoutState
        if {after.value for after in SUCCESSORS[state]} != MAY_FOLLOW[state.value]
    ]

    assert wrong == []


def test_only_final_states_have_no_successor():
    for state in PayoutState:
        reached, rest = {state}, [state]
        while rest:
            for after in SUCCESSORS[rest.pop()] - reached:
                reached.add(after)
                rest.append(after)

        assert (reached == {state}) == (state in FINAL_STATES)
        assert reached & FINAL_STATES


def test_only_payouts_proven_unsent_or_held_are_sent():
    """An unknown outcome is never followed by another attempt."""
    assert [s for s in PayoutState if PayoutState.SENDING in SUCCESSORS[s]] == [
        PayoutState.HELD,
        PayoutState.NOT_SENT,
    ]


def test_a_destination_is_the_same_with_another_name_and_not_with_another_key():
    """Names are typed, and so are tax numbers, so the key or bank account counts too."""
    paid = PIX

    assert is_same_place(paid, replace(paid, name="Maria S."))
    assert not is_same_place(paid, replace(paid, key="other@example.com"))
    assert not is_same_place(paid, replace(paid, tax_number="11222333000181"))


@pytest.mark.parametrize(
    ("verdict", "state"),
    [(Verdict.PAID, PayoutState.PAID), (Verdict.FAILED, PayoutState.FAILED)],
)
def test_each_verdict_has_a_final_state(verdict: Verdict, state: PayoutState):
    assert verdict.state is state
    assert verdict.state in FINAL_STATES


def test_there_are_two_verdicts():
    assert len(Verdict) == 2


def test_a_key_with_personal_data_is_masked():
    cases = [
        ("cpf", "529.982.247-25", "***.982.247-**"),
        ("cnpj", "11222333000181", "11222333000181"),
        ("email", "maria@example.com.br", "m•••••@e•••••.com.br"),
        ("phone", "+5511995514821", "+55 •••••4821"),
        ("evp", ACCOUNT, ACCOUNT),
    ]

    wrong = [(kind, key) for kind, key, hidden in cases if hidden_key(kind, key) != hidden]

    assert wrong == []

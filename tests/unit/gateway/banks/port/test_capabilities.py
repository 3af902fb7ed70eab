"""What an adapter declares: the words, what contradicts itself, and how it is shown."""

from __future__ import annotations

import dataclasses
import re
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from gateway.banks.port.capabilities import (
    CONTRACT_CALLS,
    OPTIONAL_CALLS,
    Capabilities,
    EntryField,
    Hosts,
    Lookup,
    PortCall,
    ProofKind,
    contradictions,
    described,
)
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.core.money import Money

WHOLE = Capabilities(
    calls=frozenset(PortCall),
    destinations=frozenset(PayoutMethod),
    lookup=frozenset(Lookup),
    absent_after=timedelta(seconds=5),
    max_value=Money(100),
    entry_fields=frozenset(EntryField),
    blocked_known=True,
    callback_proofs=frozenset({ProofKind.HMAC}),
    hosts=Hosts(production=frozenset({"bank.example"})),
)


def test_no_capability_is_declared_by_default():
    """A missing declaration must never allow a call."""
    empty = Capabilities()

    assert (empty.calls, empty.payouts, empty.operations) == (frozenset(), False, frozenset())
    assert not any(empty.finds(known) for known in ("", "p-1"))
    assert list(contradictions(empty)) == []


def test_every_port_call_is_a_contract_call_or_optional():
    assert frozenset(CONTRACT_CALLS) | OPTIONAL_CALLS == frozenset(PortCall)
    assert not frozenset(CONTRACT_CALLS) & OPTIONAL_CALLS


def test_full_capabilities_have_no_contradiction():
    assert list(contradictions(WHOLE)) == []


def test_contradictory_capabilities_are_named():
    cases = [
        ({"calls": WHOLE.calls | {"fly"}}, "calls: the port knows no 'fly'"),
        ({"destinations": frozenset({"cash"})}, "destinations: the port knows no 'cash'"),
        ({"lookup": frozenset({"name"})}, "lookup: the port knows no 'name'"),
        ({"entry_fields": frozenset({"mood"})}, "entry_fields: the port knows no 'mood'"),
        ({"charge_states": frozenset({"Lost"})}, "charge_states: the port knows no 'Lost'"),
        ({"callback_proofs": frozenset({"oath"})}, "callback_proofs: the port knows no 'oath'"),
        ({"calls": ["get_balance"]}, "calls: is no frozenset"),
        ({"repeat": "sometimes"}, "repeat: the port knows no 'sometimes'"),
        ({"destinations": frozenset()}, "destinations: create_payout is declared and none is"),
        ({"lookup": frozenset()}, "lookup: find_payout is declared and none is"),
        (
            {"calls": WHOLE.calls - {PortCall.CREATE_PAYOUT}},
            "destinations: means nothing without create_payout",
        ),
        (
            {"calls": WHOLE.calls - {PortCall.LIST_STATEMENT}},
            "entry_fields: means nothing without list_statement",
        ),
        (
            {"calls": WHOLE.calls - {PortCall.GET_BALANCE}},
            "blocked_known: means nothing without get_balance",
        ),
    ]

    wrong = [
        (changed, reason)
        for changed, reason in cases
        if reason not in list(contradictions(dataclasses.replace(WHOLE, **changed)))
    ]

    assert wrong == []


@pytest.mark.parametrize(
    ("by", "without_id", "with_id"),
    [
        ({Lookup.KEY}, True, True),
        ({Lookup.BANK_ID}, False, True),
        ({Lookup.KEY, Lookup.BANK_ID}, True, True),
    ],
)
def test_a_payout_is_found_by_its_known_ids(by: set[Lookup], without_id: bool, with_id: bool):
    declared = dataclasses.replace(WHOLE, lookup=frozenset(by))

    assert (declared.finds(), declared.finds("p-1")) == (without_id, with_id)


@pytest.mark.parametrize("declared", [WHOLE, Capabilities()])
def test_every_declaration_is_shown_and_can_be_json(declared: Capabilities):
    """The matrix is printed, documented and served, always with all fields."""
    shown = described(declared)

    assert list(shown) == [each.name for each in dataclasses.fields(Capabilities)]
    assert msgspec.json.decode(msgspec.json.encode(shown)) == shown


def test_capabilities_show_times_in_seconds_and_money_in_centavos():
    shown = described(WHOLE)

    assert (shown["absent_after"], shown["max_value"]) == (5.0, 100)
    assert shown["hosts"] == {"production": ["bank.example"], "sandbox": []}


def test_the_page_lists_every_call_and_every_capability():
    """So that authors find everything they can declare."""
    page = (Path(__file__).parents[5] / "docs/providers/capabilities.md").read_text()
    told = set(re.findall(r"`([a-z_]+)`", page))

    facts = {each.name for each in dataclasses.fields(Capabilities)} - {"calls"}
    assert sorted((facts | {call.value for call in PortCall}) - told) == []

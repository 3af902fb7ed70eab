"""The matrix of adapters: each word of the port has its line."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

from gateway.banks.port.capabilities import (
    Capabilities,
    EntryField,
    Hosts,
    Lookup,
    PortCall,
    ProofKind,
    Repeat,
)
from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.core.money import Money
from provider_adapters.kit.matrix import markdown, matrix
from tests.world.tables import cases

NOTHING = Capabilities()
PAYS = Capabilities(calls=frozenset({PortCall.CREATE_PAYOUT}))
DECLARED = {
    "calls": [frozenset({call}) for call in PortCall],
    "destinations": [frozenset({word}) for word in PayoutMethod],
    "repeat": [word for word in Repeat if word is not PAYS.repeat],
    "lookup": [frozenset({word}) for word in Lookup],
    "absent_after": [timedelta(seconds=0), timedelta(hours=2)],
    "max_value": [Money(1)],
    "account_credentials": [True],
    "entry_fields": [frozenset({word}) for word in EntryField],
    "blocked_known": [True],
    "charge_states": [frozenset({word}) for word in ChargeStatus],
    "callback_proofs": [frozenset({word}) for word in ProofKind],
    "hosts": [Hosts(production=frozenset({"a"})), Hosts(sandbox=frozenset({"a"}))],
    "alphanumeric_cnpj": [False],
    "largest_page": [10],
}


def test_every_capability_has_an_example():
    assert set(DECLARED) == {each.name for each in dataclasses.fields(Capabilities)}


@cases(
    ("field", "number"),
    [(field, number) for field, values in DECLARED.items() for number in range(len(values))],
)
def test_each_capability_changes_exactly_one_cell(field: str, number: int):
    """Every declaration is shown, and only once."""
    before = PAYS if field == "repeat" else NOTHING
    after = dataclasses.replace(before, **{field: DECLARED[field][number]})

    lines = matrix([before, after])

    changed = [line.word for line in lines if line.cells[0] != line.cells[1]]
    # A bank that pays out does something with a key that it has seen, declared or not.
    beside = ["repeat"] if after.payouts and field == "calls" else []
    assert len(changed) == 1 + len(beside)


def test_the_matrix_page_has_a_column_for_each_adapter():
    page = list(markdown({"one": NOTHING, "two": PAYS}))

    assert "| `create_payout` | - | yes |" in page
    assert page.count("|  | one | two |") == len({line.part for line in matrix([NOTHING])})

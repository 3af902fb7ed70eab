"""What each bank offers, in a table."""

import pytest

from gateway.http.panel.screens.operations.providers import matrix

CAPABILITIES = {
    "destinations": ["pix"],
    "repeat": "same_answer",
    "lookup": ["key"],
    "absent_after": 60,
    "calls": ["get_balance"],
    "callback_proofs": [],
}


@pytest.mark.parametrize(
    ("read_only", "by_key", "by_account"), [(False, True, False), (True, "read_only", False)]
)
def test_a_bank_that_is_read_only_pays_in_no_way(read_only, by_key, by_account):
    """Its adapter could; the configuration forbids it."""
    table = dict(matrix([{"capabilities": CAPABILITIES, "read_only": read_only}]))

    assert (table["pay_pix"], table["pay_bank_account"]) == ([by_key], [by_account])
    assert table["get_balance"] == [True]

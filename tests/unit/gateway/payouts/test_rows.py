"""A payout as columns: the request, its state, and what a step changes."""

from gateway.payouts.rows import (
    evidence_document,
    payout_row,
    restored_evidence,
)
from gateway.store.tables.core import payouts
from tests.world.stores.samples import EVIDENCE, payout

LATER = {"check_owner", "check_until", "moved_centavos", "absence", "exception"}


def test_a_row_has_every_column_except_planned_checks() -> None:
    row = payout_row(payout())

    assert row.keys() == set(payouts.c.keys()) - LATER


def test_a_provider_code_of_any_characters_is_stored() -> None:
    """PostgreSQL refuses NUL and lone surrogates; an outcome must not be lost over them."""
    document = evidence_document(EVIDENCE)

    assert document.isascii()
    assert "\x00" not in document
    assert restored_evidence(document) == EVIDENCE

"""Evidence as a document."""

import pytest

from gateway.domain.providers import Evidence, Phase
from gateway.store.attempts import evidence_document, restored_evidence
from tests.contract.stores.samples import EVIDENCE


@pytest.mark.parametrize("phase", Phase)
def test_evidence_is_read_as_it_was_written(phase: Phase) -> None:
    evidence = Evidence(phase=phase, bytes_left=False, reason="refused")

    assert restored_evidence(evidence_document(evidence)) == evidence


def test_a_bank_s_code_is_kept_whatever_its_characters() -> None:
    """NUL and half a pair are no text for PostgreSQL; an outcome must not be lost over them."""
    document = evidence_document(EVIDENCE)

    assert document.isascii()
    assert "\x00" not in document
    assert restored_evidence(document) == EVIDENCE

"""What comes with a callback."""

from __future__ import annotations

from gateway.domain.bank.provider_callbacks import ProofRefused


def test_a_refused_proof_says_why():
    assert str(ProofRefused("needs a secret")) == "needs a secret"

"""What several tests of payouts share."""

from __future__ import annotations

from tests.world.banks.harness import KEY

E2E = "E99999999202611201340abcDEF12345"
PAYOUT = {
    "id": "trf_1", "chave_idempotencia": KEY, "situacao": "EM_PROCESSAMENTO",
    "valor_centavos": 1050, "e2e": E2E, "liquidada_em": None, "falha": None,
}  # fmt: skip

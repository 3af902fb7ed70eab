"""What several tests of refunds share."""

from __future__ import annotations

from tests.unit.offering import E2E_ID
from tests.unit.provider_adapters.sandbox.translate import AT
from tests.world.banks.harness import KEY

RETURN_ID = "D" + E2E_ID[1:]
REFUND = {
    "id": "dev_1", "chave_idempotencia": KEY, "referencia": "r-1", "situacao": "EM_PROCESSAMENTO",
    "valor_centavos": 1050, "id_devolucao": RETURN_ID, "descricao": "oops",
    "recebimento": {"e2e": E2E_ID, "referencia": "order-1"}, "criada_em": AT,
    "liquidada_em": None, "falha": None,
}  # fmt: skip

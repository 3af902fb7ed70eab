"""
The words of API Pix and of Efí, as tables; readers decide about unlisted words.

Sources: API Pix 2.9.0 of the Banco Central (2025-09-05), "Tratamento de erros"; Efí's pages "Envio
e Pagamento Pix", "Gestão de Pix", "Cobranças imediatas" and "Endpoints exclusivos Efí" (read on
2026-11-22). Where a word is known from integrations of others alone, its line says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    CHARGE_PAID,
    IN_USE,
    NOT_ALLOWED,
    CredentialsRefused,
    NotFound,
    Reason,
    Refused,
)
from gateway.banks.port.refunds import RefundStatus
from provider_adapters.kit.answers import Errors
from provider_adapters.kit.outcomes import RefusedBefore

CHARGE_STATUSES: Final[Mapping[str, ChargeStatus]] = {
    "ATIVA": ChargeStatus.ACTIVE,
    "CONCLUIDA": ChargeStatus.PAID,
    "REMOVIDA_PELO_USUARIO_RECEBEDOR": ChargeStatus.CANCELED,
    "REMOVIDA_PELO_PSP": ChargeStatus.CANCELED,
}
REMOVED: Final = "REMOVIDA_PELO_USUARIO_RECEBEDOR"
REFUND_STATUSES: Final[Mapping[str, RefundStatus]] = {
    "EM_PROCESSAMENTO": RefundStatus.PROCESSING,
    "DEVOLVIDO": RefundStatus.PAID,
    "NAO_REALIZADO": RefundStatus.FAILED,
}
ERRORS: Final[Errors] = {
    (403, "AcessoNegado"): (CredentialsRefused, Reason.CREDENTIALS_REFUSED),
    (403, "insufficient_scope"): (CredentialsRefused, Reason.CREDENTIALS_REFUSED),
    (404, "CobNaoEncontrado"): (NotFound, Reason.NOT_FOUND),
    (404, "CobVNaoEncontrada"): (NotFound, Reason.NOT_FOUND),
    (404, "NaoEncontrado"): (NotFound, Reason.NOT_FOUND),
    (404, "PixDevolucaoNaoEncontrada"): (NotFound, Reason.NOT_FOUND),
    (404, "PixEnviadoNaoEncontrado"): (NotFound, Reason.NOT_FOUND),
    (404, "PixNaoEncontrado"): (NotFound, Reason.NOT_FOUND),
    (404, "WebhookNaoEncontrado"): (NotFound, Reason.NOT_FOUND),
    (404, "cobranca_nao_encontrada"): (NotFound, Reason.NOT_FOUND),  # of others
    (400, "cobranca_nao_encontrada"): (NotFound, Reason.NOT_FOUND),  # of others
    (400, "chave_nao_encontrada"): (NotFound, Reason.NOT_FOUND),
    (400, "devolucao_nao_encontrada"): (NotFound, Reason.NOT_FOUND),
    (400, "pix_nao_encontrado"): (NotFound, Reason.NOT_FOUND),
    (400, "limite_criacao_chave_atingido"): (Refused, NOT_ALLOWED),
    (400, "documento_bloqueado"): (Refused, NOT_ALLOWED),
    (400, "status_cobranca_invalido"): (Refused, CHARGE_PAID),  # of others
    (409, "txid_duplicado"): (Refused, IN_USE),
}
"""What the bank's errors mean for every call but one that moves money; else the status decides."""

REFUSED_BEFORE: Final[RefusedBefore] = {
    (403, "AcessoNegado"): Reason.CREDENTIALS_REFUSED,  # API Pix 2.9.0: "regra de autorização"
    (403, "insufficient_scope"): Reason.CREDENTIALS_REFUSED,  # Efí, "Endpoints exclusivos"
    (429, "balde_fichas_vazio"): Reason.RATE_LIMITED,  # Efí, "Limites de consumo"
    (429, "BaldeFichasVazio"): Reason.RATE_LIMITED,  # the same, as a problem document
}
"""Answers before the bank looks at an order of money."""

REFUND_REJECTIONS: Final[Mapping[tuple[int, str], FailureCode]] = {
    (400, "pix_nao_encontrado"): FailureCode.OTHER,
    (400, "valor_invalido"): FailureCode.OTHER,
}
"""Answers that prove that an order of a refund moved nothing."""

REFUND_KNOWN: Final = frozenset(
    {
        # Also for an id that was used before: then the refund is there.
        (400, "PixDevolucaoInvalida"),
        (409, "devolucao_id_duplicado"),
    }
)
"""Answers after which the refund is read by our key: it may be there from an earlier request."""

"""The bank's words and ours, as tables; what an unlisted word means is decided in ``translate``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gateway.banks.port.charges import ChargeStatus, ChargeType
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.pix_keys import PixKeyStatus, PixKeyType
from gateway.banks.port.providers import Accepted, Rejected, Settled
from gateway.banks.port.refunds import RefundStatus
from gateway.banks.port.statements import BlockKind, Direction, MovementKind
from provider_adapters.kit.outcomes import State

KEY_TYPES: Final[Mapping[str, PixKeyType]] = {
    "cpf": PixKeyType.CPF,
    "cnpj": PixKeyType.CNPJ,
    "email": PixKeyType.EMAIL,
    "telefone": PixKeyType.PHONE,
    "aleatoria": PixKeyType.EVP,
}
KEY_STATUSES: Final[Mapping[str, PixKeyStatus]] = {
    "ATIVA": PixKeyStatus.ACTIVE,
    "PENDENTE": PixKeyStatus.PENDING,
    "CANCELADA": PixKeyStatus.CANCELED,
}
CHARGE_TYPES: Final[Mapping[str, ChargeType]] = {
    "DINAMICA": ChargeType.DYNAMIC,
    "ESTATICA": ChargeType.STATIC,
}
EXPIRED: Final = "EXPIRADA"
CHARGE_STATUSES: Final[Mapping[str, ChargeStatus]] = {
    "ATIVA": ChargeStatus.ACTIVE,
    "PAGA": ChargeStatus.PAID,
    "CANCELADA": ChargeStatus.CANCELED,
    EXPIRED: ChargeStatus.ACTIVE,  # ours is active, with an expiry in the past
}
BLOCK_KINDS: Final[Mapping[str, BlockKind]] = {
    "MED": BlockKind.MED,
    "JUDICIAL": BlockKind.COURT,
    "BANCO": BlockKind.BANK,
    "CONTRATO": BlockKind.CONTRACT,
}
DIRECTIONS: Final[Mapping[str, Direction]] = {"C": Direction.CREDIT, "D": Direction.DEBIT}
KINDS: Final[Mapping[str, MovementKind]] = {
    "PIX_RECEBIDO": MovementKind.PIX,
    "PIX_ENVIADO": MovementKind.PIX,
    "DEVOLUCAO_RECEBIDA": MovementKind.PIX_RETURN,
    "DEVOLUCAO_ENVIADA": MovementKind.PIX_RETURN,
    "TARIFA": MovementKind.FEE,
    "TED_RECEBIDA": MovementKind.TED,
    "TED_ENVIADA": MovementKind.TED,
    "BOLETO_RECEBIDO": MovementKind.BOLETO,
    "BOLETO_PAGO": MovementKind.BOLETO,
}
PIX_KINDS: Final = frozenset({MovementKind.PIX, MovementKind.PIX_RETURN})
STATES: Final[Mapping[str, State]] = {
    "EM_PROCESSAMENTO": Accepted,
    "EM_ANALISE": Accepted,  # ordered, and looked into before it settles
    "LIQUIDADA": Settled,
    "DEVOLVIDA": Settled,  # a returned payout had arrived; its return is money in
    "FALHOU": Rejected,
}
REFUND_STATUSES: Final[Mapping[str, RefundStatus]] = {
    "EM_PROCESSAMENTO": RefundStatus.PROCESSING,
    "DEVOLVIDO": RefundStatus.PAID,
    "NAO_REALIZADO": RefundStatus.FAILED,
}
FAILURES: Final[Mapping[str, FailureCode]] = {
    "ACCOUNT_INVALID": FailureCode.ACCOUNT_INVALID,
    "INSUFFICIENT_FUNDS": FailureCode.INSUFFICIENT_FUNDS,
    "KEY_NOT_FOUND": FailureCode.KEY_NOT_FOUND,
    "LIMIT_EXCEEDED": FailureCode.LIMIT_EXCEEDED,
    "NOT_ALLOWED": FailureCode.REJECTED,
    "OWNER_MISMATCH": FailureCode.OWNER_MISMATCH,
    "REJECTED": FailureCode.REJECTED,
}
"""Why a payout failed."""

"""
Inter's own words, as tables; readers decide about unlisted words.

Sources: the enumerations of inter-co/pj-sdk-python 594744c (2025-02-11) for the words; what others
do about them (edusouza/inter-pj-cli and generated types, searched on 2026-11-23) for their sense.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta, timezone
from typing import Final

from gateway.banks.port.payout_orders import AccountType, FailureCode
from gateway.banks.port.providers import Accepted, Rejected, Settled
from gateway.banks.port.statements import MovementKind
from provider_adapters.kit.outcomes import State

ZONE: Final = timezone(timedelta(hours=-3))
"""Of its days and times, which name none: the bank's own, without summer time since 2019."""

ORDERED: Final = frozenset({"PROCESSADO", "APROVACAO", "AGENDADO"})
"""An order was taken. What became of it, only a look-up tells: the answer has no amount."""

FAILURES: Final[Mapping[str, FailureCode]] = {
    "REPROVADO": FailureCode.REJECTED,
    "EXPIRADO": FailureCode.REJECTED,
    "CANCELADO": FailureCode.OTHER,
    "CANCELADO_SEM_SALDO": FailureCode.INSUFFICIENT_FUNDS,
    "AGENDAMENTO_CANCELADO": FailureCode.OTHER,
    "FALHA": FailureCode.OTHER,
}
"""
States in which nothing was paid and nothing will be.

``FALHA`` is among them: the bank's SDKs call it failed, and all but one of those who read it end
there; that one has a person look. ``NAO_DEBITADO``, which the bank's SDKs only call not debited,
has the same one against it and is left in doubt. So are ``PARCIALMENTE_DEBITADO`` and
``PARCIALMENTE_PAGO``: of a Pix no source says what they mean.
"""

STATES: Final[Mapping[str, State]] = {
    "CRIADO": Accepted,
    "AGUARDANDO_APROVACAO": Accepted,
    "APROVADO": Accepted,
    "AGENDADO": Accepted,
    "ENVIADO": Accepted,
    "DEBITADO": Accepted,
    "TRANSACAO_CRIADA": Accepted,
    "TRANSACAO_APROVADA": Accepted,
    "PIX_ENVIADO": Accepted,
    "PAGO": Settled,
    "PIX_PAGO": Settled,
    **dict.fromkeys(FAILURES, Rejected),
}

KINDS: Final[Mapping[str, MovementKind]] = {
    "PIX": MovementKind.PIX,
    "TRANSFERENCIA": MovementKind.TED,
    "BOLETO_COBRANCA": MovementKind.BOLETO,
    "DEPOSITO_BOLETO": MovementKind.BOLETO,
    "PAGAMENTO": MovementKind.BOLETO,
    "TARIFA": MovementKind.FEE,
} | dict.fromkeys(
    (
        "ANTECIPACAO_RECEBIVEIS",
        "ANTECIPACAO_RECEBIVEIS_CARTAO",
        "CAMBIO",
        "CASHBACK",
        "CHEQUE",
        "COMPRA_DEBITO",
        "DEBITO_AUTOMATICO",
        "DEBITO_EM_CONTA",
        "DOMICILIO_CARTAO",
        "ESTORNO",
        "FINANCIAMENTO",
        "IMPOSTO",
        "INTERPAG",
        "INVESTIMENTO",
        "JUROS",
        "MAQUININHA_GRANITO",
        "MULTA",
        "OUTROS",
        "PROVENTOS",
        "SAQUE",
        "SEGURO",
    ),
    MovementKind.OTHER,
)
"""What a movement is. An ``ESTORNO`` may be of anything, so that it does not count as Pix."""

ACCOUNT_TYPES: Final[Mapping[AccountType, str]] = {
    AccountType.CHECKING: "CONTA_CORRENTE",
    AccountType.SAVINGS: "CONTA_POUPANCA",
    AccountType.SALARY: "CONTA_SALARIO",
    AccountType.PAYMENT: "CONTA_PAGAMENTO",
}

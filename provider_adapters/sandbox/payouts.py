"""
Payouts in the bank's words, and its answers as outcomes.

What is not listed here is not returned but raised, and the client makes
Unknown of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from gateway.domain.bank.payout_orders import AccountType, FailureCode, PayoutOrder, PixDestination
from gateway.domain.bank.providers import Accepted, Evidence, Outcome, Rejected, Settled, Unknown
from gateway.domain.kernel.money import Money
from gateway.net.client.messages import ProviderAnswer
from gateway.net.client.reasons import Reason
from provider_adapters._shared import integrity
from provider_adapters._shared.documents import understood
from provider_adapters.sandbox import documents as said
from provider_adapters.sandbox import translate

FAILURES: Final[Mapping[str, FailureCode]] = {
    "ACCOUNT_INVALID": FailureCode.ACCOUNT_INVALID,
    "INSUFFICIENT_FUNDS": FailureCode.INSUFFICIENT_FUNDS,
    "KEY_NOT_FOUND": FailureCode.KEY_NOT_FOUND,
    "LIMIT_EXCEEDED": FailureCode.LIMIT_EXCEEDED,
    "NOT_ALLOWED": FailureCode.REJECTED,
    "OWNER_MISMATCH": FailureCode.OWNER_MISMATCH,
    "REJECTED": FailureCode.REJECTED,
}
REJECTIONS: Final = frozenset(
    {
        (400, "ACCOUNT_INVALID"),
        (400, "INSUFFICIENT_FUNDS"),
        (400, "KEY_NOT_FOUND"),
        (400, "OWNER_MISMATCH"),
        (400, "REJECTED"),
        (403, "LIMIT_EXCEEDED"),
        (403, "NOT_ALLOWED"),
    }
)
"""
The only answers that prove that nothing moved and nothing will.

INVALID_REQUEST is not among them: it is also what a status of 400 carries that
came after the payout was carried out.
"""
DUPLICATES: Final = frozenset({(409, "DUPLICATE")})
"""The bank knows our key already: the payout is ours, and ordered."""

_FORBIDDEN: Final = 403
_CREATED: Final = frozenset({200, 201})
_KEY_WORDS: Final = {kind: word for word, kind in translate.KEY_TYPES.items()}
_ACCOUNT_WORDS: Final = {
    AccountType.CHECKING: "corrente",
    AccountType.SAVINGS: "poupanca",
    AccountType.SALARY: "salario",
    AccountType.PAYMENT: "pagamento",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What an answer must agree with; the amount is not known when a payout is looked up."""

    provider_key: str
    value: Money | None


def body(order: PayoutOrder) -> bytes:
    """Write an order; raises ``ValueError`` for text that is no Unicode."""
    document = {
        "valor_centavos": order.value.centavos,
        "descricao": order.description,
        "destino": _destination(order),
    }
    return msgspec.json.encode(document)


def created(answer: ProviderAnswer, asked: Asked, unseen: translate.Unseen) -> Outcome:
    """
    Read what the bank says to an order.

    Raises:
        ProviderError: for all that is not listed.
    """
    code = translate.error_code(answer)
    if (answer.status, code) in REJECTIONS:
        return Rejected(
            evidence=answer.evidence(Reason.REFUSED, code),
            failure=FAILURES[code],
            forbidden=answer.status == _FORBIDDEN,
        )
    if (answer.status, code) in DUPLICATES:
        return Accepted(evidence=answer.evidence(Reason.DUPLICATE, code))

    def shape(payout: said.Transferencia) -> Outcome:
        return _outcome(answer, payout, asked) or _processing(answer, payout, unseen)

    return understood(answer, said.TRANSFERENCIA, shape, _CREATED)


def found(answer: ProviderAnswer, asked: Asked, unseen: translate.Unseen) -> Outcome:
    """
    Read a payout that was looked up; an unknown state is Unknown.

    Raises:
        ProviderError: NotFound only for the bank's own word for it.
    """
    if answer.status >= 300:  # noqa: PLR2004 - not a payout
        raise translate.failure(answer)

    def shape(payout: said.Transferencia) -> Outcome:
        outcome = _outcome(answer, payout, asked)
        if outcome is None:
            unseen()
            return Unknown(answer.evidence(Reason.UNKNOWN_STATUS))
        return outcome

    return understood(answer, said.TRANSFERENCIA, shape)


def _outcome(answer: ProviderAnswer, payout: said.Transferencia, asked: Asked) -> Outcome | None:
    """Read a payout's state; None when it is not known, Unknown when the payout is not ours."""
    problem = _contradiction(payout, asked)
    if problem is not None:
        return Unknown(answer.evidence(problem))
    evidence = answer.evidence(Reason.ANSWERED)
    match payout.situacao:
        case "EM_PROCESSAMENTO":
            return _accepted(payout, evidence)
        case "LIQUIDADA" | "DEVOLVIDA":  # what came back had arrived; it shows as money in
            return Settled(
                evidence=evidence,
                value=Money(payout.valor_centavos),
                provider_id=integrity.provider_id(payout.id),
                e2e_id=payout.e2e or "",
                settled_at=translate.utc(payout.liquidada_em),
            )
        case "FALHOU":
            code = "" if payout.falha is None else payout.falha.code
            return Rejected(
                evidence=answer.evidence(Reason.REFUSED, code),
                failure=FAILURES.get(code, FailureCode.OTHER),
            )
    return None


def _contradiction(payout: said.Transferencia, asked: Asked) -> Reason | None:
    """Say in what a payout differs from what was asked."""
    if payout.chave_idempotencia != asked.provider_key:
        return Reason.KEY_MISMATCH
    if asked.value is not None and payout.valor_centavos != asked.value.centavos:
        return Reason.AMOUNT_MISMATCH
    if payout.e2e is not None and not integrity.is_e2e_id(payout.e2e):
        return Reason.E2E_ID_MALFORMED
    return None


def _processing(
    answer: ProviderAnswer, payout: said.Transferencia, unseen: translate.Unseen
) -> Outcome:
    """Take an unknown word, said to an order that was taken, for still processing."""
    unseen()
    return _accepted(payout, answer.evidence(Reason.UNKNOWN_STATUS))


def _accepted(payout: said.Transferencia, evidence: Evidence) -> Accepted:
    return Accepted(
        evidence=evidence,
        provider_id=integrity.provider_id(payout.id),
        e2e_id=payout.e2e or "",
    )


def _destination(order: PayoutOrder) -> dict[str, str]:
    to = order.destination
    who = {"nome": to.name, "documento": to.tax_number}
    if isinstance(to, PixDestination):
        where = {"forma": "chave", "tipo_chave": _KEY_WORDS[to.key_type], "chave": to.key}
    else:
        where = {
            "forma": "conta",
            "banco": to.bank_number,
            "agencia": to.branch,
            "conta": to.account,
            "tipo_conta": _ACCOUNT_WORDS[to.account_type],
        }
    return {name: text for name, text in (where | who).items() if text}

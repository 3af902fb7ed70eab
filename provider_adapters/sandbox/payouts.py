"""
The bank's answers about payouts, as outcomes.

Only listed answers are returned. All others are raised, and the client turns
them into Unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Final, Self

from gateway.domain.bank.payout_orders import FailureCode, PayoutOrder
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import (
    Accepted,
    Evidence,
    Outcome,
    PixReturn,
    Rejected,
    Settled,
    Unknown,
)
from gateway.domain.kernel.money import Money
from provider_adapters.kit.answers import (
    ProviderAnswer,
    is_e2e_id,
    provider_id,
    read_document,
)
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.outcomes import RefusedBefore, refused_before
from provider_adapters.sandbox import documents, translate
from provider_adapters.sandbox.requests import destination
from provider_adapters.sandbox.words import FAILURES

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
The only answers that prove that no money moved or will move.

INVALID_REQUEST is not among them: the bank also sends it with a 400 after the
payout was executed.
"""
REFUSED_BEFORE: Final[RefusedBefore] = {
    (401, "UNAUTHORIZED"): Reason.CREDENTIALS_REFUSED,
    (403, "WRONG_ACCOUNT"): Reason.CREDENTIALS_REFUSED,
    (429, "TOO_MANY_REQUESTS"): Reason.RATE_LIMITED,
}
"""
Answers before the bank looks at the order. Source: the table of errors in the README.

The bank says the same of refunds.
"""
DUPLICATES: Final = frozenset({(409, "DUPLICATE")})
"""The bank knows our key already: whether it is for this order is to be read back."""

_FORBIDDEN: Final = 403
_PLACE: Final = ("forma", "chave", "banco", "agencia", "conta", "documento")


@dataclass(frozen=True, slots=True)
class ExpectedPayout:
    """
    What an answer must agree with; a lookup knows neither amount nor destination.

    Attributes:
        must_show: An answer that does not show the destination agrees with nothing.
    """

    provider_key: str
    value: Money | None = None
    destination: Mapping[str, str] | None = None
    must_show: bool = False

    @classmethod
    def of(cls, order: PayoutOrder, *, must_show: bool = False) -> Self:
        """Expect what was ordered."""
        return cls(order.provider_key, order.value, destination(order), must_show)


def created(answer: ProviderAnswer, expected: ExpectedPayout, unknown: UnknownWord) -> Outcome:
    """
    Read the answer to an order; a known key is still to be read back.

    Raises:
        ProviderError: The answer is none of those listed.
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
    refused = refused_before(answer, code, REFUSED_BEFORE)
    if refused is not None:
        return refused

    def shape(payout: documents.Transferencia) -> Outcome:
        return _outcome(answer, payout, expected) or _processing(answer, payout, unknown)

    return read_document(answer, documents.TRANSFERENCIA, shape, translate.CHANGED)


def found(answer: ProviderAnswer, expected: ExpectedPayout, unknown: UnknownWord) -> Outcome:
    """
    Read the answer to a lookup; an unknown state is Unknown.

    Raises:
        ProviderError: NotFound only for the bank's own error code for it.
    """
    if answer.status >= 300:  # noqa: PLR2004 - not a payout
        raise translate.failure(answer)

    def shape(payout: documents.Transferencia) -> Outcome:
        outcome = _outcome(answer, payout, expected)
        if outcome is None:
            unknown()
            return Unknown(answer.evidence(Reason.UNKNOWN_STATUS))
        return outcome

    return read_document(answer, documents.TRANSFERENCIA, shape)


def _outcome(
    answer: ProviderAnswer, payout: documents.Transferencia, expected: ExpectedPayout
) -> Outcome | None:
    """Read a payout's state: None for an unknown one, Unknown for a payout that is not ours."""
    problem = _contradiction(payout, expected)
    if problem is not None:
        return Unknown(answer.evidence(problem))
    evidence = answer.evidence(Reason.ANSWERED)
    match payout.situacao:
        case "EM_PROCESSAMENTO":
            return _accepted(payout, evidence)
        case "EM_ANALISE":  # ordered, and looked into before it settles
            until = translate.utc(payout.em_analise_ate)
            return replace(_accepted(payout, evidence), held_until=until)
        case "LIQUIDADA" | "DEVOLVIDA":  # a returned payout had arrived; its return is money in
            return _settled(payout, evidence)
        case "FALHOU":
            code = "" if payout.falha is None else payout.falha.code
            return Rejected(
                evidence=answer.evidence(Reason.REFUSED, code),
                failure=FAILURES.get(code, FailureCode.OTHER),
                provider_key=expected.provider_key,
            )
    return None


def _contradiction(payout: documents.Transferencia, expected: ExpectedPayout) -> Reason | None:
    """Return in what a payout differs from the one expected, if in anything."""
    if payout.chave_idempotencia != expected.provider_key:
        return Reason.KEY_MISMATCH
    if expected.value is not None and payout.valor_centavos != expected.value.centavos:
        return Reason.AMOUNT_MISMATCH
    if not _goes_there(payout.destino, expected):
        return Reason.DESTINATION_MISMATCH
    if payout.e2e is not None and not is_e2e_id(payout.e2e):
        return Reason.E2E_ID_MALFORMED
    return None


def _goes_there(shown: Mapping[str, str] | None, expected: ExpectedPayout) -> bool:
    """Say whether a payout goes where it was ordered to; names are not compared."""
    ordered = expected.destination
    if ordered is None or shown is None:
        return not expected.must_show
    return all(shown.get(name) == ordered.get(name) for name in _PLACE)


def _processing(
    answer: ProviderAnswer, payout: documents.Transferencia, unknown: UnknownWord
) -> Outcome:
    """Treat an accepted order of unknown state as still processing."""
    unknown()
    return _accepted(payout, answer.evidence(Reason.UNKNOWN_STATUS))


def _settled(payout: documents.Transferencia, evidence: Evidence) -> Settled:
    return Settled(
        evidence=evidence,
        value=Money(payout.valor_centavos),
        provider_id=provider_id(payout.id),
        e2e_id=payout.e2e or "",
        provider_key=payout.chave_idempotencia or "",
        settled_at=translate.utc(payout.liquidada_em),
        returns=tuple(map(_return, payout.devolucoes)),
    )


def _accepted(payout: documents.Transferencia, evidence: Evidence) -> Accepted:
    return Accepted(
        evidence=evidence,
        provider_id=provider_id(payout.id),
        e2e_id=payout.e2e or "",
        provider_key=payout.chave_idempotencia or "",
        value=Money(payout.valor_centavos),
    )


def _return(found: documents.Retorno) -> PixReturn:
    """Read money that came back; raises ``ValueError`` for what is none."""
    return PixReturn(
        id=found.id,
        value=translate.above_zero(found.valor_centavos),
        at=found.devolvida_em.astimezone(UTC),
    )

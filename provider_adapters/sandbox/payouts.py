"""
The bank's answers about payouts, as outcomes.

Only listed answers are returned. All others are raised, and the client turns
them into Unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Final

from gateway.banks.port.payout_orders import FailureCode, PayoutOrder
from gateway.banks.port.providers import Outcome, PixReturn, Reason
from gateway.core.money import Money
from provider_adapters.kit.answers import ProviderAnswer, read_document
from provider_adapters.kit.money import above_zero
from provider_adapters.kit.outcomes import (
    Expected,
    RefusedBefore,
    Shown,
    listed_refusal,
    outcome_of,
)
from provider_adapters.kit.times import utc
from provider_adapters.sandbox import documents, mapping
from provider_adapters.sandbox.mapping import FAILURES, STATES
from provider_adapters.sandbox.requests import destination

FORBIDDEN: Final = ("LIMIT_EXCEEDED", "NOT_ALLOWED")
"""Refusals that are about the account, and not about the order."""
REJECTIONS: Final[Mapping[tuple[int, str], FailureCode]] = {
    (403 if code in FORBIDDEN else 400, code): failure for code, failure in FAILURES.items()
}
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

_HELD: Final = "EM_ANALISE"
_PLACE: Final = ("forma", "chave", "banco", "agencia", "conta", "documento")


def expected(order: PayoutOrder, *, must_show: bool = False) -> Expected:
    """Expect the order; names are not compared."""
    written = destination(order)
    place = {name: written.get(name) for name in _PLACE}
    return Expected(order.provider_key, order.value, place, must_show)


def created(answer: ProviderAnswer, ordered: Expected) -> Outcome:
    """
    Read the answer to an order; a known key is still to be read back.

    Raises:
        ProviderError: The answer is none of those listed.
    """
    refused = listed_refusal(
        answer,
        mapping.error_code(answer),
        REJECTIONS,
        REFUSED_BEFORE,
        duplicates=DUPLICATES,
        forbidden=FORBIDDEN,
    )
    if refused is not None:
        return refused

    def shape(payout: documents.Transferencia) -> Outcome:
        return outcome_of(answer, _shown(payout, ordered), ordered, ordered=True)

    return read_document(answer, documents.TRANSFERENCIA, shape, mapping.CHANGED)


def found(answer: ProviderAnswer, wanted: Expected) -> Outcome:
    """
    Read the answer to a lookup.

    Raises:
        ProviderError: NotFound only for the bank's own error code for it.
    """
    if answer.status >= 300:  # noqa: PLR2004 - not a payout
        raise mapping.failure(answer)

    def shape(payout: documents.Transferencia) -> Outcome:
        return outcome_of(answer, _shown(payout, wanted), wanted, ordered=False)

    return read_document(answer, documents.TRANSFERENCIA, shape)


def _shown(payout: documents.Transferencia, wanted: Expected) -> Shown:
    """Read a payout, with the end of the bank's analysis while it lasts."""
    code = "" if payout.falha is None else payout.falha.code
    return Shown(
        state=STATES.get(payout.situacao),
        provider_key=payout.chave_idempotencia or "",
        value=Money(payout.valor_centavos),
        provider_id=payout.id,
        e2e_id=payout.e2e,
        problem=wanted.misled(payout.destino),
        settled_at=utc(payout.liquidada_em),
        held_until=utc(payout.em_analise_ate) if payout.situacao == _HELD else None,
        returns=tuple(map(_return, payout.devolucoes)),
        failure=FAILURES.get(code, FailureCode.OTHER),
        code=code,
    )


def _return(found: documents.Retorno) -> PixReturn:
    """Read money that came back; raises ``ValueError`` for an invalid return."""
    return PixReturn(
        id=found.id, value=above_zero(found.valor_centavos), at=found.devolvida_em.astimezone(UTC)
    )

"""
Payouts of Efí: orders in its words, and its answers as outcomes.

Only listed answers are returned. All others are raised, and the client turns them into Unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC
from typing import Final

from gateway.domain.bank.payout_orders import (
    AccountType,
    BankDestination,
    FailureCode,
    PayoutOrder,
    PixDestination,
)
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import (
    Accepted,
    Evidence,
    Outcome,
    Rejected,
    Settled,
    Unknown,
)
from gateway.domain.kernel.money import Money
from provider_adapters.apipix import documents
from provider_adapters.apipix.access import CHANGED, amount, error_code
from provider_adapters.apipix.efi import documents as efi_documents
from provider_adapters.apipix.words import REFUSED_BEFORE
from provider_adapters.kit import banks
from provider_adapters.kit.answers import ProviderAnswer, is_e2e_id, read_document
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.outcomes import NeverSendable, refused_before

REJECTIONS: Final[Mapping[tuple[int, str], FailureCode]] = {
    (400, "chave_invalida"): FailureCode.REJECTED,
    (400, "chave_nao_pertence_ao_documento"): FailureCode.OWNER_MISMATCH,
    (400, "documento_bloqueado"): FailureCode.REJECTED,
    (400, "valor_invalido"): FailureCode.OTHER,
    (404, "chave_favorecido_nao_encontrada"): FailureCode.KEY_NOT_FOUND,  # of others
    (422, "pagamento_negado"): FailureCode.REJECTED,
}
"""
The only answers that prove that no money moved or will move.

Source: "Envio e Pagamento Pix" (read on 2026-11-22), but for the line that says otherwise.
"""
FORBIDDEN: Final = frozenset({"documento_bloqueado"})
"""Refusals that are about the account, and not about the order."""
DUPLICATE: Final = (409, "id_envio_duplicado")

Shape = Callable[[efi_documents.Enviado], Outcome]

_ACCOUNT_TYPES: Final[Mapping[AccountType, str]] = {
    AccountType.CHECKING: "cacc",
    AccountType.SAVINGS: "svgs",
    AccountType.PAYMENT: "tran",
}
"""The words of ``tipoConta``; there is none for a salary account."""
_CPF_DIGITS: Final = 11
_ISPB_DIGITS: Final = 8
_LONGEST_NAME: Final = 199
LONGEST_INFO: Final = 140
_BRANCH: Final = re.compile(r"\d{1,4}", re.ASCII)
_ACCOUNT: Final = re.compile(r"\d{1,19}[\dXx]", re.ASCII)


def recipient(order: PayoutOrder) -> Mapping[str, object]:
    """
    Write who is paid; with a key Efí checks that it is the tax number's.

    Raises:
        NeverSendable: There is no such bank, or no such word for the account.
    """
    to = order.destination
    if isinstance(to, PixDestination):
        return {"chave": to.key, _tax_field(to.tax_number): to.tax_number}
    return {"contaBanco": _bank_account(to)}


def _bank_account(to: BankDestination) -> Mapping[str, str]:
    branch, account = _place(to)
    kind, ispb = _ACCOUNT_TYPES.get(to.account_type), _ispb(to.bank_number)
    if not ispb or kind is None or not to.name or len(to.name) > _LONGEST_NAME:
        raise NeverSendable(FailureCode.ACCOUNT_INVALID)
    if _BRANCH.fullmatch(branch) is None or _ACCOUNT.fullmatch(account) is None:
        raise NeverSendable(FailureCode.ACCOUNT_INVALID)
    return {
        "nome": to.name,
        _tax_field(to.tax_number): to.tax_number,
        "codigoBanco": ispb,
        "agencia": branch,
        "conta": account,
        "tipoConta": kind,
    }


def _place(to: BankDestination) -> tuple[str, str]:
    """Return the branch without its check digit, and the account with its own, without dashes."""
    return to.branch.partition("-")[0], to.account.replace("-", "")


def _ispb(number: str) -> str:
    """Return the ISPB of a bank number in either form; empty where nobody has it."""
    found = banks.by_ispb(number) if len(number) == _ISPB_DIGITS else banks.by_compe(number)
    return found.ispb if found else ""


def _tax_field(tax_number: str) -> str:
    return "cpf" if len(tax_number) == _CPF_DIGITS else "cnpj"


def created(answer: ProviderAnswer, order: PayoutOrder, unknown: UnknownWord) -> Outcome:
    """Read the answer to an order; what is not listed is raised, and becomes Unknown."""
    code = error_code(answer)
    if (answer.status, code) in REJECTIONS:
        return Rejected(
            evidence=answer.evidence(Reason.REFUSED, code),
            failure=REJECTIONS[answer.status, code],
            forbidden=code in FORBIDDEN,
        )
    if (answer.status, code) == DUPLICATE:
        return Accepted(evidence=answer.evidence(Reason.DUPLICATE, code))
    refused = refused_before(answer, code, REFUSED_BEFORE)
    if refused is not None:
        return refused

    def shape(made: efi_documents.Ordenado) -> Outcome:
        seen = efi_documents.Enviado(
            valor=made.valor,
            status=made.status,
            horario=documents.Horarios(),
            e2e=made.e2e_id,
            key=made.id_envio,
        )
        problem = _contradiction(seen, order.provider_key, order.value)
        if problem is not None:
            return Unknown(answer.evidence(problem))
        return _outcome(answer, seen) or _processing(answer, seen, unknown)

    return read_document(answer, efi_documents.ORDENADO, shape, CHANGED)


def shown(
    answer: ProviderAnswer,
    sent: efi_documents.Enviado,
    provider_key: str,
    order: PayoutOrder | None,
    unknown: UnknownWord,
) -> Outcome:
    """Read a payout that was looked up; an unknown state is Unknown."""
    problem = _contradiction(sent, provider_key, order.value if order else None)
    if problem is None and order is not None and not _goes_there(sent.favorecido, order):
        problem = Reason.DESTINATION_MISMATCH
    if problem is not None:
        return Unknown(answer.evidence(problem))
    outcome = _outcome(answer, sent)
    if outcome is None:
        unknown()
        return Unknown(answer.evidence(Reason.UNKNOWN_STATUS))
    return outcome


def _outcome(answer: ProviderAnswer, sent: efi_documents.Enviado) -> Outcome | None:
    """Read a payout's state; None for one that we do not know."""
    match sent.status:
        case "EM_PROCESSAMENTO":
            return _accepted(answer.evidence(Reason.ANSWERED), sent)
        case "REALIZADO":
            settled = sent.horario.liquidacao
            return Settled(
                evidence=answer.evidence(Reason.ANSWERED),
                value=amount(sent.valor),
                provider_id=sent.e2e or "",
                e2e_id=sent.e2e or "",
                provider_key=sent.key or "",
                settled_at=None if settled is None else settled.astimezone(UTC),
            )
        case "NAO_REALIZADO":  # why, Efí tells in its callback alone
            return Rejected(
                evidence=answer.evidence(Reason.REFUSED),
                failure=FailureCode.OTHER,
                provider_key=sent.key or "",
            )
    return None


def _processing(
    answer: ProviderAnswer, sent: efi_documents.Enviado, unknown: UnknownWord
) -> Outcome:
    """Treat an accepted order of unknown state as still processing."""
    unknown()
    return _accepted(answer.evidence(Reason.UNKNOWN_STATUS), sent)


def _accepted(evidence: Evidence, sent: efi_documents.Enviado) -> Accepted:
    return Accepted(
        evidence=evidence,
        provider_id=sent.e2e or "",
        e2e_id=sent.e2e or "",
        provider_key=sent.key or "",
        value=amount(sent.valor),
    )


def _contradiction(
    sent: efi_documents.Enviado, provider_key: str, value: Money | None
) -> Reason | None:
    """Return in what a payout differs from the one expected, if in anything."""
    if sent.key != provider_key:
        return Reason.KEY_MISMATCH
    if value is not None and amount(sent.valor) != value:
        return Reason.AMOUNT_MISMATCH
    if sent.e2e is not None and not is_e2e_id(sent.e2e):
        return Reason.E2E_ID_MALFORMED
    return None


def _goes_there(shown: efi_documents.Favorecido | None, order: PayoutOrder) -> bool:
    """
    Say whether a payout goes where it was ordered to, as far as Efí shows it.

    Of a bank account it shows branch and account, and not the bank; tax numbers are masked.
    """
    to = order.destination
    if shown is None:
        return False
    if isinstance(to, PixDestination):
        return shown.chave == to.key
    place = shown.conta_banco
    branch, account = _place(to)
    return (
        place is not None
        and place.agencia.lstrip("0") == branch.lstrip("0")
        and place.conta == account
    )

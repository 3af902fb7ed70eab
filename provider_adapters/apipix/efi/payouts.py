"""
Payouts of Efí: orders in its words, and its answers as outcomes.

Only listed answers are returned. All others are raised, and the client turns them into Unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    FailureCode,
    PayoutOrder,
    PixDestination,
)
from gateway.banks.port.providers import Accepted, Outcome, Rejected, Settled
from provider_adapters.apipix.access import CHANGED, amount, error_code, reading
from provider_adapters.apipix.efi import documents as efi_documents
from provider_adapters.apipix.words import REFUSED_BEFORE
from provider_adapters.kit import banks
from provider_adapters.kit.answers import ProviderAnswer, read_document
from provider_adapters.kit.outcomes import (
    Expected,
    NeverSendable,
    Shown,
    State,
    listed_refusal,
    outcome_of,
)
from provider_adapters.kit.times import utc

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
STATES: Final[Mapping[str, State]] = {
    "EM_PROCESSAMENTO": Accepted,
    "REALIZADO": Settled,
    "NAO_REALIZADO": Rejected,  # why, Efí tells in its callback alone
}

_ACCOUNT_TYPES: Final[Mapping[AccountType, str]] = {
    AccountType.CHECKING: "cacc",
    AccountType.SAVINGS: "svgs",
    AccountType.PAYMENT: "tran",
}
"""The words of ``tipoConta``; there is none for a salary account."""
_CPF_DIGITS: Final = 11
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
    kind, ispb = _ACCOUNT_TYPES.get(to.account_type), banks.ispb_of(to.bank_number)
    if kind is None or not to.name or len(to.name) > _LONGEST_NAME:
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


def _tax_field(tax_number: str) -> str:
    return "cpf" if len(tax_number) == _CPF_DIGITS else "cnpj"


def expected(order: PayoutOrder) -> Expected:
    """
    Expect the order, as far as Efí shows it when it is looked up.

    Of a bank account it shows branch and account, and not the bank; tax numbers are masked.
    """
    to = order.destination
    if isinstance(to, PixDestination):
        place = {"chave": to.key}
    else:
        branch, account = _place(to)
        place = {"agencia": branch.lstrip("0"), "conta": account}
    return Expected(order.provider_key, order.value, place, must_show=True)


def created(answer: ProviderAnswer, ordered: Expected) -> Outcome:
    """Read the answer to an order; an unlisted one is raised, and becomes Unknown."""
    refused = listed_refusal(
        answer,
        error_code(answer),
        REJECTIONS,
        REFUSED_BEFORE,
        duplicates=(DUPLICATE,),
        forbidden=FORBIDDEN,
    )
    if refused is not None:
        return refused

    def shape(made: efi_documents.Ordenado) -> Outcome:
        shown = Shown(
            state=STATES.get(made.status),
            provider_key=made.id_envio,
            value=amount(made.valor),
            provider_id=made.e2e_id or "",
            e2e_id=made.e2e_id,
        )
        return outcome_of(answer, shown, ordered, ordered=True)

    return read_document(answer, efi_documents.ORDENADO, shape, CHANGED)


def found(answer: ProviderAnswer, wanted: Expected) -> Outcome:
    """Read a payout that was looked up; raises ``NotFound`` for Efí's own word for it."""

    def shape(sent: efi_documents.Enviado) -> Outcome:
        shown = Shown(
            state=STATES.get(sent.status),
            provider_key=sent.key or "",
            value=amount(sent.valor),
            provider_id=sent.e2e or "",
            e2e_id=sent.e2e,
            problem=wanted.misled(_shown_place(sent.favorecido)),
            settled_at=utc(sent.horario.liquidacao),
        )
        return outcome_of(answer, shown, wanted, ordered=False)

    return reading(efi_documents.ENVIADO, shape)(answer)


def _shown_place(to: efi_documents.Favorecido | None) -> Mapping[str, str | None]:
    """Write where a payout goes, as ``expected`` does; empty if not shown."""
    place = None if to is None else to.conta_banco
    if to is None or place is None:
        return {"chave": to.chave} if to else {}
    return {"agencia": place.agencia.lstrip("0"), "conta": place.conta}

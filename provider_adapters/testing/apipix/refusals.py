"""How the simulators say no: Efí by a name, the standard by a problem document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import Final

from provider_adapters.testing.apipix.documents import problem
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.messages import Answer, Document

Words = tuple[int, str]
"""Status and name."""

_EFI: Final[Mapping[Code, Words]] = {
    Code.INVALID_REQUEST: (400, "valor_invalido"),
    Code.ACCOUNT_INVALID: (400, "valor_invalido"),
    Code.KEY_NOT_FOUND: (404, "chave_favorecido_nao_encontrada"),
    Code.OWNER_MISMATCH: (400, "chave_nao_pertence_ao_documento"),
    # No document of Efí names it; whatever it says, the adapter does not know it.
    Code.INSUFFICIENT_FUNDS: (400, "saldo_insuficiente"),
    Code.LIMIT_EXCEEDED: (422, "pagamento_negado"),
    Code.NOT_ALLOWED: (422, "pagamento_negado"),
    Code.REJECTED: (422, "pagamento_negado"),
    Code.DUPLICATE: (409, "id_envio_duplicado"),
    Code.REFERENCE_IN_USE: (409, "txid_duplicado"),
    Code.TOO_MANY_REQUESTS: (429, "balde_fichas_vazio"),
    Code.INTERNAL: (500, "erro_aplicacao"),
}
_STANDARD: Final[Mapping[Code, Words]] = {
    Code.INVALID_REQUEST: (400, "RequisicaoInvalida"),
    Code.REFERENCE_IN_USE: (400, "CobOperacaoInvalida"),
    Code.CHARGE_PAID: (400, "CobOperacaoInvalida"),
    Code.CHARGE_CANCELED: (400, "CobOperacaoInvalida"),
    Code.ABOVE_PAYMENT: (400, "PixDevolucaoInvalida"),
    Code.PAYMENT_TOO_OLD: (400, "PixDevolucaoInvalida"),
    Code.KEY_REUSED: (400, "PixDevolucaoInvalida"),
    Code.WRONG_ACCOUNT: (403, "AcessoNegado"),
    Code.NOT_FOUND: (404, "NaoEncontrado"),
    Code.INTERNAL: (500, "ErroInternoDoServidor"),
}


class Problem(StrEnum):
    """What is refused in words of its own: names of the standard, then Efí's."""

    CHARGE_ABSENT = "CobNaoEncontrado"
    DUE_CHARGE_ABSENT = "CobVNaoEncontrada"
    PAYMENT_ABSENT = "PixNaoEncontrado"
    REFUND_ABSENT = "PixDevolucaoNaoEncontrada"
    WEBHOOK_ABSENT = "WebhookNaoEncontrado"
    WEBHOOK_WRONG = "WebhookOperacaoInvalida"
    PAYOUT_ABSENT = "PixEnviadoNaoEncontrado"
    KEY_ABSENT = "chave_nao_encontrada"
    PAYER_KEY_WRONG = "chave_invalida"


class Worded(Refusal):
    """A refusal whose document, sent as it is, is known where it is raised."""

    def __init__(self, code: Code, status: int, document: Document) -> None:
        """Carry the document."""
        super().__init__(code, "refused", status=status)
        self.document = document


def standard(kind: Problem, status: int = 404) -> Worded:
    """Refuse as the standard does."""
    code = Code.NOT_FOUND if status == 404 else Code.INVALID_REQUEST  # noqa: PLR2004 - not found
    return Worded(code, status, problem(kind, kind, status, "refused by the simulator"))


def of_efi(name: Problem, status: int = 400) -> Worded:
    """Refuse as Efí does."""
    document = {"nome": name, "mensagem": "refused by the simulator"}
    return Worded(Code.INVALID_REQUEST, status, document)


@contextmanager
def absent(kind: Problem) -> Iterator[None]:
    """Say what is not found in the standard's words for it."""
    try:
        yield
    except Refusal as refused:
        if refused.code is not Code.NOT_FOUND:
            raise
        raise standard(kind) from refused


def shown_by_efi(refused: Refusal) -> Answer:
    """Show a refusal in Efí's words, where it has any; else in the standard's."""
    if isinstance(refused, Worded) or refused.code not in _EFI:
        return shown_by_standard(refused)
    status, name = _EFI[refused.code]
    document = {"nome": name, "mensagem": refused.message}
    return Answer(document=document, status=_status(refused, status))


def shown_by_standard(refused: Refusal) -> Answer:
    """Show a refusal in the words of the standard."""
    if isinstance(refused, Worded):
        return Answer(document=refused.document, status=refused.status)
    status = int(refused.status)
    if refused.code is Code.UNAUTHORIZED:
        document: Document = {"error": "invalid_token", "error_description": refused.message}
        return Answer(document=document, status=status)
    listed, kind = _STANDARD.get(refused.code, (status, "RequisicaoInvalida"))
    shown = _status(refused, listed)
    return Answer(document=problem(kind, kind, shown, refused.message), status=shown)


def _status(refused: Refusal, listed: int) -> int:
    return int(refused.status) if refused.code is Code.INTERNAL else listed

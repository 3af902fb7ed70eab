"""The documents of API Pix and of Efí, as their simulators write them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.clock import show, shown
from provider_adapters.testing.bank.kernel.paging import Slice
from provider_adapters.testing.bank.kernel.refusals import Refusal
from provider_adapters.testing.bank.messages import Document, fields
from provider_adapters.testing.bank.pix import charges, received_payments, refunds
from provider_adapters.testing.bank.pix.charges import Charge
from provider_adapters.testing.bank.pix.payouts import Payout
from provider_adapters.testing.bank.pix.received_payments import Payer, Payment
from provider_adapters.testing.bank.pix.refunds import Refund

_CHARGE_STATES: Final = {
    "active": "ATIVA",
    "paid": "CONCLUIDA",
    "canceled": "REMOVIDA_PELO_USUARIO_RECEBEDOR",
}
PAYOUT_STATES: Final = {
    "processing": "EM_PROCESSAMENTO",
    "settled": "REALIZADO",
    "returned": "REALIZADO",
    "failed": "NAO_REALIZADO",
}
_REFUND_STATES: Final = {
    "processing": "EM_PROCESSAMENTO",
    "settled": "DEVOLVIDO",
    "failed": "NAO_REALIZADO",
}
_CPF_DIGITS: Final = 11
_SECOND: Final = 1_000_000
_DEFAULT_S: Final = 86_400
_TXID: Final = re.compile(r"[A-Za-z0-9]{26,35}")


def reais(centavos: int) -> str:
    """Write an amount as text with two decimals."""
    return f"{centavos // 100}.{centavos % 100:02d}"


def charge(books: Books, record: Charge) -> Document:
    """Show a charge with its payments; an expired one is still ``ATIVA``."""
    paid = received_payments.latest(books, record.account_id, record.reference)
    document: dict[str, object] = {
        "calendario": {"criacao": show(record.created_at), "expiracao": _seconds(record)},
        "txid": txid(record),
        "revisao": 0,
        "status": _CHARGE_STATES[record.status],
        "valor": {"original": reais(record.centavos or 0)},
        **fields(record, chave="key", pixCopiaECola="emv"),
    }
    if record.payer is not None:
        document["devedor"] = _person(record.payer)
    if record.description:
        document["solicitacaoPagador"] = record.description
    if paid is not None:
        document["pix"] = [pix(books, paid)]
    return document


def txid(record: Charge) -> str:
    """Return what a charge is known by: its reference, unless that is no txid."""
    return record.reference if _TXID.fullmatch(record.reference) else record.txid


def pix(books: Books, record: Payment) -> Document:
    """Show a payment received, with its refunds."""
    document: dict[str, object] = {
        "endToEndId": record.e2e_id,
        "valor": reais(record.centavos),
        "horario": show(record.at),
    }
    if record.reference:
        document["txid"] = _txid_of(books, record.account_id, record.reference)
    if record.payer is not None and record.payer.message:
        document["infoPagador"] = record.payer.message
    if record.payer is not None and record.payer.name:
        document["pagador"] = _person(record.payer)
    given_back = [refund(each) for each in refunds.of_payment(books, record)]
    return {**document, "devolucoes": given_back} if given_back else document


def refund(record: Refund) -> Document:
    """Show a refund."""
    document: dict[str, object] = {
        **fields(record, id="idempotency_key", rtrId="return_id"),
        "valor": reais(record.centavos),
        "natureza": "ORIGINAL",
        "horario": _times(record),
        "status": _REFUND_STATES[record.state],
    }
    if record.description:
        document["descricao"] = record.description
    if record.failure:
        document["motivo"] = "the refund failed"
    return document


def page(
    shown: Sequence[Document], asked: Mapping[str, str], wanted: Slice, total: int
) -> Document:
    """Show a page of payments, received or sent."""
    counts = {
        "paginaAtual": wanted.skip // wanted.limit,
        "itensPorPagina": wanted.limit,
        "quantidadeDePaginas": max(1, -(-total // wanted.limit)),
        "quantidadeTotalDeItens": total,
    }
    window = {"inicio": asked["inicio"], "fim": asked["fim"]}
    return {"parametros": {**window, "paginacao": counts}, "pix": list(shown)}


def ordered(record: Payout) -> Document:
    """Show a payout as Efí answers its order."""
    return {
        **fields(record, e2eId="e2e_id", idEnvio="idempotency_key"),
        "valor": reais(record.paid),
        "horario": _times(record),
        "status": PAYOUT_STATES[record.state],
    }


def sent(record: Payout) -> Document:
    """Show a payout as Efí does when it is looked up: without the bank of an account."""
    order = json.loads(record.to.sent)
    return {
        **fields(record, endToEndId="e2e_id", idEnvio="idempotency_key"),
        "valor": reais(record.paid),
        "chave": order["pagador"],
        "status": PAYOUT_STATES[record.state],
        "infoPagador": record.description,
        "horario": _times(record),
        "favorecido": _recipient(order["favorecido"]),
    }


def problem(kind: str, title: str, status: int, detail: str) -> Document:
    """Write a refusal as the standard does (RFC 7807)."""
    return {
        "type": f"https://pix.bcb.gov.br/api/v2/error/{kind}",
        "title": title,
        "status": status,
        "detail": detail,
    }


def sent_event(record: Payout) -> Document:
    """Show what became of a payout as Efí's callback does."""
    order = json.loads(record.to.sent)
    return {
        "endToEndId": record.e2e_id,
        "chave": order["pagador"],
        "tipo": "SOLICITACAO",
        "status": PAYOUT_STATES[record.state],
        "valor": reais(record.paid),
        "horario": shown(record.settled_at),
        "gnExtras": {"idEnvio": record.idempotency_key},
    }


def _txid_of(books: Books, account_id: str, reference: str) -> str:
    try:
        return txid(charges.get(books, account_id, reference))
    except Refusal:  # paid to a static code, which is no charge here
        return reference


def _seconds(record: Charge) -> int:
    if record.expires_at is None:
        return _DEFAULT_S
    return max(1, (record.expires_at - record.created_at) // _SECOND)


def _person(payer: Payer) -> Document:
    field = "cpf" if len(payer.tax_number) == _CPF_DIGITS else "cnpj"
    return {field: payer.tax_number, "nome": payer.name}


def _times(record: Payout | Refund) -> Document:
    times = {"solicitacao": show(record.created_at)}
    return times if record.settled_at is None else {**times, "liquidacao": show(record.settled_at)}


def _recipient(to: Mapping[str, str]) -> Document:
    """Show a recipient; persons' tax numbers are masked."""
    owner = {"nome": to.get("nome") or "Cliente de Outro Banco"}
    for field in ("cpf", "cnpj"):
        if field in to:
            owner[field] = _masked(to[field])
    if "chave" in to:
        return {"chave": to["chave"], "identificacao": owner}
    place = {name: to[name] for name in ("agencia", "conta")}
    return {"contaBanco": {**owner, **place, "tipoConta": "corrente"}}


def _masked(tax_number: str) -> str:
    if len(tax_number) != _CPF_DIGITS:
        return tax_number
    return f"***.{tax_number[3:6]}.{tax_number[6:9]}-**"

"""Inter's own calls: balance, statement and payouts, with the field names of its SDKs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from provider_adapters.testing.apipix.standard import dashed, matching, reais, short
from provider_adapters.testing.bank.dialect import BankRequest, Row, execute, one
from provider_adapters.testing.bank.kernel import accounts, blocks, statement
from provider_adapters.testing.bank.kernel.clock import day_of, local_time, midnight, read_day
from provider_adapters.testing.bank.kernel.paging import Slice, read_number
from provider_adapters.testing.bank.kernel.refusals import require
from provider_adapters.testing.bank.kernel.statement import Entry, number
from provider_adapters.testing.bank.messages import Answer, Document, Fields
from provider_adapters.testing.bank.pix import payouts
from provider_adapters.testing.bank.pix.destinations import Destination
from provider_adapters.testing.bank.pix.payouts import Order, Payout

_SOMEBODY: Final = "Cliente de Outro Banco"
_KEY: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_DIGITS: Final = re.compile(r"\d{1,20}[\dXx]?", re.ASCII)
_ISPB: Final = re.compile(r"\d{8}", re.ASCII)
_ACCOUNT_TYPES: Final = ("CONTA_CORRENTE", "CONTA_POUPANCA", "CONTA_SALARIO", "CONTA_PAGAMENTO")
_LONGEST_TEXT: Final = 140
_LONGEST: Final = timedelta(days=90)
_LARGEST_PAGE: Final = 10_000
_USUAL_PAGE: Final = 50
_KINDS: Final = {
    "fee": "TARIFA",
    "ted_in": "TRANSFERENCIA",
    "ted_out": "TRANSFERENCIA",
    "boleto_in": "BOLETO_COBRANCA",
    "boleto_out": "PAGAMENTO",
}
_STATES: Final = {
    "processing": "ENVIADO",
    "settled": "PAGO",
    "returned": "PAGO",
    "failed": "FALHA",
}


def _balance(request: BankRequest) -> Document:
    """Show a balance; amounts of two decimals and at most 15 digits are exact in JSON."""
    held, court = accounts.balance(*request.own), blocks.total(*request.own, "court")
    return {
        "disponivel": held.available / 100,
        "bloqueadoCheque": 0,
        "bloqueadoJudicialmente": court / 100,
        "bloqueadoAdministrativo": (held.blocked - court) / 100,
    }


def _statement(request: BankRequest) -> Document:
    query = request.query
    first, last = (read_day(query.get(name, "")) for name in ("dataInicio", "dataFim"))
    require(first <= last < first + _LONGEST, "a period has 90 days at most")
    place, size = read_number(query, "pagina", 0), read_number(query, "tamanhoPagina", _USUAL_PAGE)
    require(1 <= size <= _LARGEST_PAGE, "tamanhoPagina is 10000 at most")
    wanted = Slice(since=midnight(first), until=midnight(last, 1), limit=size, skip=place * size)
    found = statement.read(*request.own, wanted)
    pages = max(1, -(-found.total // size))
    return {
        "totalPaginas": pages,
        "totalElementos": found.total,
        "transacoes": [_entry(each) for each in found.items],
    }


def _pay_out(request: BankRequest) -> Answer:
    books, account, body = request.books, request.account, request.body
    key = request.headers.get("x-id-idempotente", "")
    require(_KEY.fullmatch(key), "x-id-idempotente is a UUID")
    order = Order(
        centavos=body.reais("valor"),
        to=_recipient(body.inside("destinatario")),
        description=short(body, "descricao", _LONGEST_TEXT, ""),
        idempotency_key=UUID(key).hex,
    )

    def accept() -> Document:
        """Answer the order, without the amount."""
        known = payouts.repeated(books, account, order)
        made = known or payouts.accept(books, account, order)
        day = day_of(made.created_at)
        days = {"dataPagamento": day, "dataOperacao": day}
        return {"tipoRetorno": "PROCESSADO", "codigoSolicitacao": made.id, **days}

    return execute(order.centavos, accept)


def _recipient(to: Fields) -> Destination:
    if to.choice("tipo", ("CHAVE", "DADOS_BANCARIOS")) == "CHAVE":
        key = to.text("chave")
        return Destination(tax_number="", sent=json.dumps({"chave": key}), key=key)
    account = matching(to, "contaCorrente", _DIGITS)
    to.choice("tipoConta", _ACCOUNT_TYPES)
    shown = {
        "codIspb": matching(to.inside("instituicaoFinanceira"), "ispb", _ISPB),
        "codAgencia": matching(to, "agencia", _DIGITS),
        "nroConta": account,
        "cpfCnpj": to.text("cpfCnpj"),
        "nome": to.text("nome"),
    }
    return Destination(
        tax_number=shown["cpfCnpj"],
        sent=json.dumps(shown),
        name=shown["nome"],
        bank=shown["codIspb"],
        branch=shown["codAgencia"],
        account=dashed(account),
    )


def payout(record: Payout) -> Document:
    """Show a payout when it is looked up; our key is not told."""
    status = _STATES[record.state]
    shown: dict[str, object] = {
        "codigoSolicitacao": record.id,
        "valor": record.paid / 100,
        "status": status,
        "endToEnd": record.e2e_id,
        "recebedor": {"nome": record.to.name or _SOMEBODY, **json.loads(record.to.sent)},
        "erros": [{"codigoErro": "FALHA"}] if record.failure else [],
    }
    if record.settled_at is not None:
        shown["dataHoraMovimento"] = local_time(record.settled_at)
    if record.to.key is not None:
        shown["chave"] = record.to.key
    told = [{"status": status, "dataHoraEvento": local_time(record.created_at)}]
    return {"transacaoPix": shown, "historico": told}


def _entry(line: Entry) -> Document:
    shown: dict[str, object] = {
        "idTransacao": number(line.seq),
        "dataTransacao": day_of(line.at),
        "tipoTransacao": _KINDS.get(line.kind, "PIX"),
        "tipoOperacao": "D" if line.centavos < 0 else "C",
        "valor": reais(abs(line.centavos)),
        "descricao": line.description,
    }
    if line.kind in _KINDS:
        return shown
    side = "Recebedor" if line.centavos < 0 else "Pagador"
    details = {
        "endToEndId": line.e2e_id,
        f"nome{side}": line.name or _SOMEBODY,
        f"cpfCnpj{side}": line.tax_number,
    }
    if line.kind == "pix_out":
        details["codigoSolicitacao"] = line.payout_id
    return {**shown, "detalhes": details}


_PAYOUT: Final = one(payouts.get, "codigoSolicitacao", payout)
ROWS: Final[Sequence[Row]] = (
    Row("GET", "/banking/v2/saldo", "balance", _balance),
    Row("GET", "/banking/v2/extrato/completo", "statement", _statement),
    Row("POST", "/banking/v2/pix", "payout", _pay_out),
    Row("GET", "/banking/v2/pix/{codigoSolicitacao:[^/]+}", "payout_read", _PAYOUT),
)

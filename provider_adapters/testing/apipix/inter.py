"""Inter's own calls: balance, statement and payouts, with the field names of its SDKs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from provider_adapters.testing.apipix.standard import (
    LONGEST_MESSAGE,
    dashed,
    matching,
    reais,
    short,
)
from provider_adapters.testing.bank import accounts, payouts
from provider_adapters.testing.bank.books import Slice, read_number
from provider_adapters.testing.bank.clock import day_of, local_time, midnight, read_day
from provider_adapters.testing.bank.dialect import BankRequest, Row, execute, one
from provider_adapters.testing.bank.keys import Destination
from provider_adapters.testing.bank.messages import Answer, Document, Fields, require

_SOMEBODY: Final = "Cliente de Outro Banco"
_KEY: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_DIGITS: Final = r"\d{1,20}[\dXx]?"
_ACCOUNT_TYPES: Final = ("CONTA_CORRENTE", "CONTA_POUPANCA", "CONTA_SALARIO", "CONTA_PAGAMENTO")
_LARGEST_PAGE: Final = 10_000
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
    held, court = accounts.balance(*request.own), accounts.blocked(*request.own, "court")
    return {
        "disponivel": held.available / 100,
        "bloqueadoCheque": 0,
        "bloqueadoJudicialmente": court / 100,
        "bloqueadoAdministrativo": (held.blocked - court) / 100,
    }


def _statement(request: BankRequest) -> Document:
    query = request.query
    first, last = (read_day(query.get(name, "")) for name in ("dataInicio", "dataFim"))
    require(first <= last < first + timedelta(days=90), "a period has 90 days at most")
    place, size = read_number(query, "pagina", 0), read_number(query, "tamanhoPagina", 50)
    require(1 <= size <= _LARGEST_PAGE, "tamanhoPagina is 10000 at most")
    wanted = Slice(since=midnight(first), until=midnight(last, 1), limit=size, skip=place * size)
    found = accounts.statement(*request.own, wanted)
    pages = max(1, -(-found.total // size))
    return {
        "totalPaginas": pages,
        "totalElementos": found.total,
        "transacoes": [_entry(each) for each in found.items],
    }


def _pay_out(request: BankRequest) -> Answer:
    """Take an order; the answer lacks the amount."""
    books, account, body = request.books, request.account, request.body
    key = request.headers.get("x-id-idempotente", "")
    require(_KEY.fullmatch(key), "x-id-idempotente is a UUID")
    order = payouts.Order(
        centavos=body.reais("valor"),
        to=_recipient(body.inside("destinatario")),
        description=short(body, "descricao", LONGEST_MESSAGE, ""),
        idempotency_key=UUID(key).hex,
    )

    def accept() -> Document:
        made = payouts.accept(books, account, order)
        said = {"tipoRetorno": "PROCESSADO", "dataPagamento": day_of(made.created_at)}
        return {**said, "codigoSolicitacao": made.id}

    return execute(order.centavos, accept)


def _recipient(to: Fields) -> Destination:
    if to.choice("tipo", ("CHAVE", "DADOS_BANCARIOS")) == "CHAVE":
        key = to.text("chave")
        return Destination(tax_number="", sent=json.dumps({"chave": key}), key=key)
    account, tax_number = matching(to, "contaCorrente", _DIGITS), to.text("cpfCnpj")
    to.choice("tipoConta", _ACCOUNT_TYPES)
    return Destination(
        tax_number=tax_number,
        sent=json.dumps({"nroConta": account, "cpfCnpj": tax_number}),
        name=to.text("nome"),
        bank=matching(to.inside("instituicaoFinanceira"), "ispb", r"\d{8}"),
        branch=matching(to, "agencia", _DIGITS),
        account=dashed(account),
    )


def payout(record: payouts.Payout) -> Document:
    """Show a payout when it is looked up; without our key."""
    shown: dict[str, object] = {
        "codigoSolicitacao": record.id,
        "valor": record.paid / 100,
        "status": _STATES[record.state],
        "endToEnd": record.e2e_id,
        "recebedor": {"nome": record.to.name or _SOMEBODY, **json.loads(record.to.sent)},
    }
    if record.settled_at is not None:
        shown["dataHoraMovimento"] = local_time(record.settled_at)
    return {"transacaoPix": shown}


def _entry(line: accounts.Entry) -> Document:
    shown: dict[str, object] = {
        "idTransacao": accounts.line_number(line.seq),
        "dataTransacao": day_of(line.at),
        "tipoTransacao": _KINDS.get(line.kind, "PIX"),
        "tipoOperacao": "D" if line.centavos < 0 else "C",
        "valor": reais(abs(line.centavos)),
        "descricao": line.description,
    }
    if line.kind in _KINDS:
        return shown
    side = "Recebedor" if line.centavos < 0 else "Pagador"
    party = {f"nome{side}": line.name or _SOMEBODY, f"cpfCnpj{side}": line.tax_number}
    return {**shown, "detalhes": {"endToEndId": line.e2e_id, **party}}


_FIND: Final = one(payouts.get, "codigoSolicitacao", payout)
ROWS: Final[Sequence[Row]] = (
    Row("GET", "/banking/v2/saldo", "balance", _balance),
    Row("GET", "/banking/v2/extrato/completo", "statement", _statement),
    Row("POST", "/banking/v2/pix", "payout", _pay_out),
    Row("GET", "/banking/v2/pix/{codigoSolicitacao:[^/]+}", "payout_read", _FIND),
)

"""Inter's own calls: balance, statement and payouts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from uuid import UUID

from provider_adapters.apipix.inter.words import ZONE
from provider_adapters.testing.apipix import inter_documents
from provider_adapters.testing.apipix.requests import matching, short
from provider_adapters.testing.bank.dialect import BankRequest, Row
from provider_adapters.testing.bank.kernel import accounts, blocks, clock, statement
from provider_adapters.testing.bank.kernel.paging import Slice
from provider_adapters.testing.bank.kernel.refusals import invalid
from provider_adapters.testing.bank.messages import Answer, Fields
from provider_adapters.testing.bank.pix import magic_values, payouts
from provider_adapters.testing.bank.pix.destinations import Destination
from provider_adapters.testing.bank.pix.payouts import Order

_KEY: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_DIGITS: Final = re.compile(r"\d{1,20}[\dXx]?", re.ASCII)
_ISPB: Final = re.compile(r"\d{8}", re.ASCII)
_ACCOUNT_TYPES: Final = ("CONTA_CORRENTE", "CONTA_POUPANCA", "CONTA_SALARIO", "CONTA_PAGAMENTO")
_LONGEST_TEXT: Final = 140
_LONGEST: Final = timedelta(days=90)
_LARGEST_PAGE: Final = 10_000
_USUAL_PAGE: Final = 50


def _balance(request: BankRequest) -> Answer:
    held = accounts.balance(request.books, request.account.id)
    court = sum(
        each.centavos
        for each in blocks.listed(request.books, request.account.id)
        if each.kind == "court"
    )
    return Answer(document=inter_documents.balance(held.available, court, held.blocked - court))


def _statement(request: BankRequest) -> Answer:
    query, books, account = request.query, request.books, request.account.id
    first, last = _day(query, "dataInicio"), _day(query, "dataFim")
    if not first <= last < first + _LONGEST:
        problem = "a period has 90 days at most"
        raise invalid(problem)
    number, size = _number(query, "pagina", 0), _number(query, "tamanhoPagina", _USUAL_PAGE)
    if not 1 <= size <= _LARGEST_PAGE:
        problem = "tamanhoPagina is 10000 at most"
        raise invalid(problem)
    wanted = Slice(
        since=_midnight(first),
        until=_midnight(last + timedelta(days=1)),
        limit=size,
        skip=number * size,
    )
    found = statement.read(books, account, wanted)
    return Answer(document=inter_documents.page(found.items, number, size, found.total))


def _pay_out(request: BankRequest) -> Answer:
    key = request.headers.get("x-id-idempotente", "")
    if not _KEY.fullmatch(key):
        problem = "x-id-idempotente is a UUID"
        raise invalid(problem)
    body = request.body
    order = Order(
        centavos=body.reais("valor"),
        to=_recipient(body.inside("destinatario")),
        description=short(body, "descricao", _LONGEST_TEXT, ""),
        idempotency_key=UUID(key).hex,
    )
    fault = magic_values.on_the_wire(order.centavos)
    if fault and not fault.executes:
        return Answer(document={}, fault=fault)
    known = payouts.repeated(request.books, request.account, order)
    made = known or payouts.accept(request.books, request.account, order)
    return Answer(document=inter_documents.ordered(made), fault=fault)


def _payout(request: BankRequest) -> Answer:
    code = request.path["codigoSolicitacao"]
    found = payouts.get(request.books, request.account.id, code)
    return Answer(document=inter_documents.payout(found))


def _recipient(to: Fields) -> Destination:
    kind = to.choice("tipo", {"CHAVE": "chave", "DADOS_BANCARIOS": "dados"})
    if kind == "chave":
        key = to.text("chave")
        return Destination(tax_number="", sent=json.dumps({"chave": key}), key=key)
    account = matching(to, "contaCorrente", _DIGITS)
    to.choice("tipoConta", dict.fromkeys(_ACCOUNT_TYPES, ""))
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
        # The books have accounts with a dash before the check digit.
        account=f"{account[:-1]}-{account[-1]}",
    )


def _day(query: Mapping[str, str], name: str) -> date:
    try:
        return date.fromisoformat(query.get(name, ""))
    except ValueError as problem:
        message = f"{name} is YYYY-MM-DD"
        raise invalid(message) from problem


def _number(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name, str(default))
    if not (text.isascii() and text.isdigit()):
        problem = f"{name} is a number"
        raise invalid(problem)
    return int(text)


def _midnight(day: date) -> int:
    """Return the first instant of a day in the bank's zone."""
    return clock.to_micros(datetime.combine(day, time(), ZONE).astimezone(UTC))


ROWS: Final[Sequence[Row]] = (
    Row("GET", "/banking/v2/saldo", "balance", _balance),
    Row("GET", "/banking/v2/extrato/completo", "statement", _statement),
    Row("POST", "/banking/v2/pix", "payout", _pay_out),
    Row("GET", "/banking/v2/pix/{codigoSolicitacao:[^/]+}", "payout_read", _payout),
)

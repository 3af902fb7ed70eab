"""Customers' requests, read as strictly as the documents of API Pix and Efí have them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from provider_adapters.testing.apipix import documents
from provider_adapters.testing.bank.dialect import BankRequest
from provider_adapters.testing.bank.kernel import clock
from provider_adapters.testing.bank.kernel.paging import Slice
from provider_adapters.testing.bank.kernel.refusals import invalid
from provider_adapters.testing.bank.messages import Fields
from provider_adapters.testing.bank.pix.charges import NewCharge
from provider_adapters.testing.bank.pix.destinations import Destination
from provider_adapters.testing.bank.pix.payouts import Order
from provider_adapters.testing.bank.pix.received_payments import Payer
from provider_adapters.testing.bank.pix.refunds import RefundOrder

TXID: Final = re.compile(r"[A-Za-z0-9]{26,35}")
OWN_ID: Final = re.compile(r"[A-Za-z0-9]{1,35}")
_AMOUNT: Final = re.compile(r"\d{1,10}\.\d{2}", re.ASCII)
_BRANCH: Final = re.compile(r"\d{1,4}", re.ASCII)
_ISPB: Final = re.compile(r"[0-9A-Z]{8}")
_ACCOUNT: Final = re.compile(r"\d{1,19}[\dXx]", re.ASCII)
_NUMBER: Final = re.compile(r"\d{1,9}", re.ASCII)
_ACCOUNT_TYPES: Final = frozenset({"cacc", "svgs", "tran"})
_LONGEST_MESSAGE: Final = 140
_LARGEST_PAGE: Final = 1000
_DEFAULT_PAGE: Final = 100
_EVERYTHING: Final = 1_000_000
"""Rows of one account: more than any test has."""
_SECOND: Final = 1_000_000
_MILLISECOND: Final = 1_000


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Which part of a list is asked for; both instants are inside (API Pix 2.9.0)."""

    since: int
    until: int
    page: int
    size: int

    @property
    def page_alone(self) -> Slice:
        """What the books have of the page."""
        skip = self.page * self.size
        return Slice(since=self.since, until=self.until, limit=self.size, skip=skip)

    @property
    def everything(self) -> Slice:
        """What the books have between the instants, to be filtered."""
        return Slice(since=self.since, until=self.until, limit=_EVERYTHING)


def list_query(request: BankRequest) -> ListQuery:
    """Read the query of a list; raises ``INVALID_REQUEST``."""
    query = request.query
    if "inicio" not in query or "fim" not in query:
        problem = "inicio and fim are required"
        raise invalid(problem)
    since, until = clock.read(query["inicio"]), clock.read(query["fim"])
    if until < since:
        problem = "fim is before inicio"
        raise invalid(problem)
    size = _number(query, "paginacao.itensPorPagina", _DEFAULT_PAGE)
    if not 1 <= size <= _LARGEST_PAGE:
        problem = "itensPorPagina is 1 to 1000"
        raise invalid(problem)
    number = _number(query, "paginacao.paginaAtual", 0)
    return ListQuery(since, until + _MILLISECOND, number, size)


def charge(request: BankRequest) -> NewCharge:
    """Read the order of an immediate charge."""
    body, txid = request.body, request.path["txid"]
    if not TXID.fullmatch(txid):
        problem = "txid is 26 to 35 letters and digits"
        raise invalid(problem)
    expires_in = body.inside("calendario").whole("expiracao", 86_400)
    if expires_in <= 0:
        problem = "calendario.expiracao is above zero"
        raise invalid(problem)
    return NewCharge(
        reference=txid,
        txid=txid,
        type="dynamic",
        key=short(body, "chave", 77),
        centavos=amount(body.inside("valor"), "original"),
        expires_in=expires_in * _SECOND,
        description=short(body, "solicitacaoPagador", _LONGEST_MESSAGE, ""),
        payer=_debtor(body.inside("devedor")) if "devedor" in body else None,
    )


def refund(request: BankRequest) -> RefundOrder:
    """Read the order of a refund."""
    body, key = request.body, request.path["id"]
    if not OWN_ID.fullmatch(key):
        problem = "id is 1 to 35 letters and digits"
        raise invalid(problem)
    body.choice("natureza", {"ORIGINAL": "", "RETIRADA": ""}, "ORIGINAL")
    return RefundOrder(
        payment_e2e_id=request.path["e2eid"],
        centavos=amount(body, "valor"),
        idempotency_key=key,
        description=short(body, "descricao", _LONGEST_MESSAGE, ""),
    )


def payout(request: BankRequest) -> Order:
    """Read the order of a payout at Efí; what was sent is kept for its answers."""
    body, key = request.body, request.path["idEnvio"]
    if not OWN_ID.fullmatch(key):
        problem = "idEnvio is 1 to 35 letters and digits"
        raise invalid(problem)
    payer = body.inside("pagador")
    to = _recipient(body.inside("favorecido"), short(payer, "chave", 77))
    return Order(
        centavos=amount(body, "valor"),
        to=to,
        description=short(payer, "infoPagador", _LONGEST_MESSAGE, ""),
        idempotency_key=key,
    )


def amount(body: Fields, name: str) -> int:
    """Read an amount, a text with two decimals, above zero; return centavos."""
    text = body.text(name)
    value = documents.centavos(text) if _AMOUNT.fullmatch(text) else 0
    if not value:
        problem = f"{name} is an amount above zero"
        raise invalid(problem)
    return value


def _recipient(to: Fields, payer_key: str) -> Destination:
    if "chave" in to:
        named = {"chave": short(to, "chave", 77), **_tax_number(to)}
        return _destination(named, payer_key)
    place = to.inside("contaBanco")
    found = {
        "nome": short(place, "nome", 199),
        "codigoBanco": matching(place, "codigoBanco", _ISPB),
        "agencia": matching(place, "agencia", _BRANCH),
        "conta": matching(place, "conta", _ACCOUNT),
        **_tax_number(place),
    }
    place.choice("tipoConta", dict.fromkeys(_ACCOUNT_TYPES, ""))
    return _destination(found, payer_key)


def _destination(to: Mapping[str, str], payer_key: str) -> Destination:
    account = to.get("conta")
    return Destination(
        tax_number=to.get("cpf") or to.get("cnpj") or "",
        sent=json.dumps({"pagador": payer_key, "favorecido": to}),
        name=to.get("nome", ""),
        key=to.get("chave"),
        bank=to.get("codigoBanco"),
        branch=to.get("agencia"),
        # The books have accounts with a dash before the check digit.
        account=None if account is None else f"{account[:-1]}-{account[-1]}",
    )


def _tax_number(of: Fields) -> Mapping[str, str]:
    given = {name: of.text(name) for name in ("cpf", "cnpj") if name in of}
    if len(given) > 1:
        problem = "one of cpf and cnpj"
        raise invalid(problem)
    return given


def _debtor(of: Fields) -> Payer:
    given = _tax_number(of)
    if not given:
        problem = "devedor has cpf or cnpj"
        raise invalid(problem)
    return Payer(name=short(of, "nome", 200), tax_number=next(iter(given.values())))


def short(body: Fields, name: str, longest: int, default: str | None = None) -> str:
    """Read a text of so many characters at most."""
    text = body.text(name, default)
    if len(text) > longest:
        problem = f"{name} has {longest} characters at most"
        raise invalid(problem)
    return text


def matching(body: Fields, name: str, form: re.Pattern[str]) -> str:
    """Read a text of a form."""
    text = body.text(name)
    if not form.fullmatch(text):
        problem = f"{name} has another form"
        raise invalid(problem)
    return text


def _number(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name, str(default))
    if not _NUMBER.fullmatch(text):
        problem = f"{name} is a number"
        raise invalid(problem)
    return int(text)

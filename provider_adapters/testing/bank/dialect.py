"""
A dialect: how one bank's interface looks over the books that all simulated banks share.

docs/providers/simulators.md shows how to write one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, TypeVar

import msgspec
from multidict import CIMultiDictProxy, MultiMapping

from provider_adapters.testing.bank import (
    accounts,
    magic_values,
    messages,
    payouts,
    received_payments,
    refunds,
)
from provider_adapters.testing.bank.accounts import Account, PayoutKind
from provider_adapters.testing.bank.books import BankIdentity, Books
from provider_adapters.testing.bank.callbacks import Event, EventKind, WriteCallback
from provider_adapters.testing.bank.messages import Answer, Code, Document, Fields, Refusal
from provider_adapters.testing.bank.payouts import Payout
from provider_adapters.testing.bank.received_payments import Payment
from provider_adapters.testing.bank.refunds import Refund


@dataclass(frozen=True, slots=True, kw_only=True)
class BankRequest:
    """
    A request to a simulated bank.

    Attributes:
        target: Path and query as they were sent, for signatures.
        path: The parts of the row's template, decoded.
        raw: The body as it was sent.
        certificate: The caller's certificate, in DER; empty without TLS.
        signed_in: Whose request it is; None on an open row.
    """

    books: Books
    method: str
    target: str
    path: Mapping[str, str]
    query: MultiMapping[str]
    headers: CIMultiDictProxy[str]
    raw: bytes
    certificate: bytes = field(repr=False, default=b"")
    signed_in: Account | None = None

    @property
    def account(self) -> Account:
        """The account that the request comes from; raises ``UNAUTHORIZED`` on an open row."""
        if self.signed_in is None:
            raise Refusal(Code.UNAUTHORIZED, "valid credentials are needed")
        return self.signed_in

    @property
    def own(self) -> tuple[Books, str]:
        """The books, and the id of the account that the request comes from."""
        return self.books, self.account.id

    @property
    def bearer(self) -> str:
        """The token after ``Bearer``; empty for anything else."""
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        return token if scheme.lower() == "bearer" else ""

    def holder(self, token: str, message: str) -> Account:
        """Return the account of a token; raises ``UNAUTHORIZED`` with the message."""
        account = accounts.by_token(self.books, token)
        if account is None:
            raise Refusal(Code.UNAUTHORIZED, message)
        return account

    @property
    def body(self) -> Fields:
        """The body, a JSON object read strictly; raises ``INVALID_REQUEST``."""
        return messages.read(self.raw)


@dataclass(frozen=True, slots=True)
class Row:
    """
    One call of the bank; docs/providers/simulators.md explains each field.

    ``run`` returns an answer, or the document of one with ``status``. It never waits, so that what
    executes is never interrupted halfway.
    """

    method: str
    path: str
    operation: str
    run: Callable[[BankRequest], Answer | Document]
    is_open: bool = False
    at_token_host: bool = False
    status: int = 200

    def answer(self, request: BankRequest) -> Answer:
        """Run the call."""
        said = self.run(request)
        return said if isinstance(said, Answer) else Answer(document=said, status=self.status)


Run: TypeAlias = Callable[[BankRequest], Answer | Document]
Record = TypeVar("Record")


def below(root: str, *rows: Row) -> tuple[Row, ...]:
    """Return rows with a prefix before their paths."""
    return tuple(replace(row, path=root + row.path) for row in rows)


def one(
    find: Callable[[Books, str, str], Record], part: str, show: Callable[[Record], Document]
) -> Run:
    """Return the handler that answers the account's record named by a part of the path."""
    return lambda request: show(find(*request.own, request.path[part]))


_SUBJECTS: Final[Mapping[EventKind, Callable[[Books, str, str], Payout | Payment | Refund]]] = {
    EventKind.PAYOUT: payouts.get,
    EventKind.RETURN: payouts.get,
    EventKind.CHARGE: received_payments.by_e2e_id,
    EventKind.PAYMENT: received_payments.by_e2e_id,
    EventKind.REFUND: refunds.get,
}


def subject_of(books: Books, event: Event) -> Payout | Payment | Refund | None:
    """Return the subject of an event; None for an unknown one."""
    try:
        return _SUBJECTS[event.kind](books, event.account_id, event.subject)
    except Refusal:
        return None


def execute(centavos: int, accept: Callable[[], object], status: int = 200) -> Answer:
    """
    Execute an order unless its magic amount prevents it; return the result of ``accept``.

    Other effects of a magic amount on the answer are applied where it is sent.
    """
    fault = magic_values.on_the_wire(centavos)
    if fault and not fault.executes:
        return Answer(document={}, fault=fault)
    return Answer(document=accept(), status=status, fault=fault)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """
    The credentials of an account.

    Attributes:
        token: Names the account: ``accounts.by_token``; only its digest is kept. Nothing else
            need be secret about it, if a signature or a certificate is what proves a request.
        credentials: All that its customer needs: a text, or the fields of the adapter's struct.
    """

    token: str = field(repr=False)
    credentials: str | Mapping[str, str] = field(repr=False)


def _bearer(books: Books, _: Account, given: Fields) -> Admission:
    """Admit an account by one token, the given one or a new one."""
    token = given.text("token", "") or f"sbx_{books.random_hex(24)}"
    return Admission(token=token, credentials=token)


_AUTHORIZATION: Final = frozenset({"authorization"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One bank's interface; docs/providers/simulators.md explains each field."""

    identity: BankIdentity
    rows: Sequence[Row]
    authenticate: Callable[[BankRequest], Account]
    refusal: Callable[[Refusal], Answer]
    payout: Callable[[Payout], Document]
    callback: WriteCallback
    admit: Callable[[Books, Account, Fields], Admission] = _bearer
    payout_kind: PayoutKind = PayoutKind.IDEM
    client_certificates: bool = False
    secret_headers: frozenset[str] = _AUTHORIZATION

    @property
    def has_token_host(self) -> bool:
        """Whether the bank gives tokens at a host of their own."""
        return any(row.at_token_host for row in self.rows)


class BankAddress(msgspec.Struct, frozen=True, kw_only=True):
    """
    Where a running bank is reached, from another process too.

    Attributes:
        url: Its customers' port.
        token_url: Where they are given tokens; empty for the same port.
        authority_file: The authority of its TLS certificate, in PEM; empty without TLS.
    """

    url: str
    control_url: str
    token_url: str = ""
    authority_file: str = ""


def _base_url(address: BankAddress) -> Mapping[str, object]:
    return {"base_url": address.url}


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulator:
    """A simulated bank; docs/providers/simulators.md explains each field."""

    adapter: str
    dialect: Dialect
    settings: Callable[[BankAddress], Mapping[str, object]] = _base_url
    repeats: Mapping[PayoutKind, Mapping[str, object]] = field(default_factory=dict)
    tells_returns: bool = True

    @property
    def pays(self) -> bool:
        """Whether the bank takes payouts."""
        return any(row.operation == "payout" for row in self.dialect.rows)

    @property
    def kinds(self) -> Mapping[PayoutKind, Mapping[str, object]]:
        """The kinds of account, each with the adapter's settings for it; at least one."""
        return self.repeats or {self.dialect.payout_kind: {}}

    def provider(self, address: BankAddress) -> dict[str, object]:
        """Return a provider of the gateway's configuration for a running bank."""
        trusted = {"tls": {"ca": address.authority_file}} if address.authority_file else {}
        return {"adapter": self.adapter, "settings": dict(self.settings(address)), **trusted}

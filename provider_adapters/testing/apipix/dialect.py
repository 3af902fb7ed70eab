"""Banks of API Pix as simulated banks: the shared books in the dress of the standard."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Literal
from urllib.parse import parse_qsl

from provider_adapters.apipix.callbacks import step_of
from provider_adapters.apipix.profiles import PROFILES, Name
from provider_adapters.testing.apipix import efi, inter, standard
from provider_adapters.testing.bank import accounts, certificates, keys
from provider_adapters.testing.bank.books import BankIdentity, Books
from provider_adapters.testing.bank.callbacks import Callback, Event, Listener
from provider_adapters.testing.bank.dialect import (
    Admission,
    BankAddress,
    BankRequest,
    Dialect,
    Row,
    Simulator,
)
from provider_adapters.testing.bank.messages import Code, Document, Fields, Refusal

TOKEN: Final = "token"  # noqa: S105 - the kind of what is kept
_PIX_KEY: Final = "pix_key"
_MORE: Final = "credential."
_LIFE_S: Final = 3600
_Tell = Callable[[Books, Event], Document | None]
_SECOND: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """
    How a bank lets its customers in.

    Attributes:
        body: The format of the request for a token.
        proof: Where id and secret stand in it.
        secret: Whether there is one; else the certificate is all that proves a client.
        more: Further credentials, each with its generator.
        headers: Headers that name the account in every other call, each with its credential.
        query: Likewise, in the query.
    """

    body: Literal["json", "form"] = "form"
    proof: Literal["basic", "body"] = "basic"
    secret: bool = True
    more: Mapping[str, Callable[[Books, accounts.Account], str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)

    def admit(self, books: Books, account: accounts.Account, _given: Fields) -> Admission:
        """Give an account its credentials, a certificate and a random key among them."""
        client_id = f"Client_Id_{books.random_hex(20)}"
        secret = f"Client_Secret_{books.random_hex(20)}" if self.secret else ""
        pair = certificates.issue(books, account.id)
        made = {name: make(books, account) for name, make in self.more.items()}
        own = {"client_id": client_id, **made}
        for name, value in own.items():
            books.keep(_MORE + name, account.id, value, account_id=account.id)
        fields = {
            **own,
            **({"client_secret": secret} if secret else {}),
            "certificate": pair.certificate,
            "key": pair.key,
            "pix_key": _own_key(books, account.id),
        }
        return Admission(token=f"{client_id}:{secret}", credentials=fields)

    def give_token(self, request: BankRequest) -> Document:
        """
        Give a token of an hour for the id, secret and certificate of one account.

        The first one registers the key that the account was given.
        """
        books, form = request.books, dict(parse_qsl(request.raw.decode("ascii", "replace")))
        asked = request.body if self.body == "json" else Fields(form)
        shown = f"{asked.text('client_id', '')}:{asked.text('client_secret', '')}"
        if self.proof == "basic":
            shown = _basic(request.headers.get("Authorization", ""))
        account = accounts.by_token(books, shown)
        if account is None or not _shows_its_own(request, account):
            raise Refusal(Code.UNAUTHORIZED, "Invalid or inactive credentials")
        asked.choice("grant_type", ("client_credentials",))
        key, token = _own_key(books, account.id), books.random_hex(32)
        if keys.active(books, key) is None:
            keys.add(books, account.id, keys.NewKey(type="evp", key=key))
        until = books.clock.micros() + _LIFE_S * _SECOND
        books.keep(TOKEN, token, "", account_id=account.id, until=until)
        return {"access_token": token, "token_type": "Bearer", "expires_in": _LIFE_S}

    def authenticate(self, request: BankRequest) -> accounts.Account:
        """Return the account of a bearer token, under its own certificate and its own names."""
        books, known = request.books, request.books.kept(TOKEN, request.bearer)
        if known is None:
            raise Refusal(Code.UNAUTHORIZED, "Invalid or expired access token")
        account = accounts.get(books, known.account_id)
        if not _shows_its_own(request, account):
            raise Refusal(Code.UNAUTHORIZED, "The certificate is another account's")
        named = {name: request.headers.get(header) for header, name in self.headers.items()}
        named |= {name: request.query.get(told) for told, name in self.query.items()}
        for name, value in named.items():
            kept = books.kept(_MORE + name, account.id)
            if kept is None or kept.value != value:
                raise Refusal(Code.WRONG_ACCOUNT, f"{name} is another account's")
        return account


def _shows_its_own(request: BankRequest, account: accounts.Account) -> bool:
    return certificates.account_of(request.books, request.certificate) == account.id


def _own_key(books: Books, account_id: str) -> str:
    """Return the random key that an account was given when it was opened."""
    known = books.kept(_PIX_KEY, account_id)
    if known is not None:
        return known.value
    made = str(uuid.UUID(hex=books.random_hex(16), version=4))
    books.keep(_PIX_KEY, account_id, made, account_id=account_id)
    return made


def _basic(header: str) -> str:
    scheme, _, token = header.partition(" ")
    try:
        return base64.b64decode(token, validate=True).decode() if scheme == "Basic" else ""
    except ValueError:
        return ""


def _callback(tell: _Tell, below: str, books: Books, event: Event, to: Listener) -> Callback | None:
    """
    Write a callback; no document reports returns of payouts.

    A listener with a secret is one that was registered by nobody through the interface: it
    gets the step that proves the address, and what the bank adds ``below`` such a step.
    """
    told = tell(books, event)
    if told is None:
        return None
    step = f"/{step_of(bytes.fromhex(to.secret))}{below}" if to.secret else "/pix"
    return Callback(url=to.url + step, body=json.dumps({"pix": [told]}).encode(), headers={})


def _settings(profile: Name, address: BankAddress) -> Mapping[str, object]:
    """Return the settings of a bank at an address, with a token URL if the profile has one."""
    named = {"profile": profile.value, "base_url": address.url}
    if not PROFILES[profile].token_urls:
        return named
    return {**named, "token_url": address.token_url or address.url}


def _dialect(
    profile: Name, identity: BankIdentity, doors: Doors, rows: Sequence[Row] = ()
) -> Dialect:
    """Dress the books as a bank that offers the standard, and what else ``rows`` are."""
    known = PROFILES[profile]
    token = Row(
        "POST",
        known.token.path,
        "access",
        doors.give_token,
        is_open=True,
        at_token_host=bool(known.token_urls),
    )
    return Dialect(
        identity=identity,
        rows=(token, *standard.rows_below(known.pix, known.charges), *rows),
        authenticate=doors.authenticate,
        refusal=standard.refusal,
        payout=inter.payout,
        callback=partial(_callback, standard.told, known.secret_address.adds),
        admit=doors.admit,
        # The worst that a bank can do: an order that is sent twice would be paid twice.
        payout_kind=accounts.PayoutKind.NONE,
        client_certificates=True,
    )


_DIALECTS: Final = {
    Name.EFI: replace(
        _dialect(
            Name.EFI,
            BankIdentity(name="Efi S.A.", ispb="09089356", compe="364", host="pix.efi.example"),
            Doors(body="json"),
            efi.ROWS,
        ),
        refusal=efi.refusal,
        payout=efi.sent,
        callback=partial(_callback, efi.told, PROFILES[Name.EFI].secret_address.adds),
        payout_kind=accounts.PayoutKind.DUP,
    ),
    Name.INTER: _dialect(
        Name.INTER,
        BankIdentity(
            name="Banco Inter S.A.", ispb="00416968", compe="077", host="pix.inter.example"
        ),
        Doors(
            proof="body",
            more={"account": lambda _, held: held.number.replace("-", "")},
            headers={"x-conta-corrente": "account"},
        ),
        inter.ROWS,
    ),
    Name.SICOOB: _dialect(
        Name.SICOOB,
        BankIdentity(name="Bancoob S.A.", ispb="02038232", compe="756", host="pix.sicoob.example"),
        Doors(proof="body", secret=False, headers={"client_id": "client_id"}),
    ),
    Name.BB: _dialect(
        Name.BB,
        BankIdentity(
            name="Banco do Brasil S.A.", ispb="00000000", compe="001", host="pix.bb.example"
        ),
        Doors(
            more={"app_key": lambda books, _: books.random_hex(16)},
            query={"gw-dev-app-key": "app_key"},
        ),
    ),
    Name.SICREDI: _dialect(
        Name.SICREDI,
        BankIdentity(
            name="Banco Sicredi S.A.", ispb="01181521", compe="748", host="pix.sicredi.example"
        ),
        Doors(),
    ),
}
SIMULATORS: Final = {
    name.value: Simulator(
        adapter="apipix",
        dialect=dialect,
        settings=partial(_settings, name),
        tells_returns=False,
    )
    for name, dialect in _DIALECTS.items()
}

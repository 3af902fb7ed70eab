"""Who calls: client id, secret and certificate for a token, the token for everything else."""

from __future__ import annotations

import base64
import binascii
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import parse_qsl

from provider_adapters.testing.bank import certificates
from provider_adapters.testing.bank.dialect import Admission, BankRequest
from provider_adapters.testing.bank.kernel import accounts, state
from provider_adapters.testing.bank.kernel.accounts import Account
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.kernel.state import Kept
from provider_adapters.testing.bank.messages import Answer, Fields
from provider_adapters.testing.bank.pix import keys
from provider_adapters.testing.bank.pix.keys import NewKey

TOKEN: Final = "token"  # noqa: S105 - the kind of what is kept
_PIX_KEY: Final = "pix_key"
_MORE: Final = "credential."
_LIFE_S: Final = 3600
_SECOND: Final = 1_000_000
_SCOPE: Final = "cob.read cob.write pix.read pix.write webhook.read webhook.write"

Make = Callable[[Books, Account], str]
"""Makes a credential of an account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """
    How a bank lets its customers in.

    Attributes:
        body: What the request for a token is written as.
        proof: Where id and secret stand in it.
        secret: Whether there is one; else the certificate is all that proves a client.
        more: Further credentials, each with what makes it.
        headers: What every other call names the account by: a header, and its credential.
        query: Likewise, in the query.
    """

    body: Literal["json", "form"] = "form"
    proof: Literal["basic", "body"] = "basic"
    secret: bool = True
    more: Mapping[str, Make] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)

    def admit(self, books: Books, account: Account, _given: Fields) -> Admission:
        """Give an account its credentials, a certificate and a random key among them."""
        client = {"client_id": f"Client_Id_{books.random_hex(20)}"}
        secret = f"Client_Secret_{books.random_hex(20)}" if self.secret else ""
        pair = certificates.issue(books, account.id)
        own = client | {name: make(books, account) for name, make in self.more.items()}
        for name, value in own.items():
            kept = Kept(kind=_MORE + name, name=account.id, value=value, account_id=account.id)
            state.put(books, kept)
        fields = {
            **own,
            **({"client_secret": secret} if secret else {}),
            "certificate": pair.certificate,
            "key": pair.key,
            "pix_key": _own_key(books, account.id),
        }
        return Admission(token=f"{client['client_id']}:{secret}", credentials=fields)

    def give_token(self, request: BankRequest) -> Answer:
        """Give a token to whoever shows id, secret and certificate of one account."""
        asked = request.body if self.body == "json" else _form(request.raw)
        account = accounts.by_token(request.books, self._shown(request, asked))
        if account is None or not _shows_its_own(request, account):
            raise Refusal(Code.UNAUTHORIZED, "Invalid or inactive credentials")
        asked.choice("grant_type", {"client_credentials": ""})
        return granted(request.books, account)

    def authenticate(self, request: BankRequest) -> Account:
        """Return the account of a bearer token, under its own certificate and its own names."""
        account = _bearer(request)
        named = {name: request.headers.get(header) for header, name in self.headers.items()}
        named |= {name: request.query.get(told) for told, name in self.query.items()}
        for name, value in named.items():
            kept = state.find(request.books, _MORE + name, account.id)
            if kept is None or kept.value != value:
                raise Refusal(Code.WRONG_ACCOUNT, f"{name} is another account's")
        return account

    def _shown(self, request: BankRequest, asked: Fields) -> str:
        """Return what names an account: id and secret, the latter empty where there is none."""
        if self.proof == "basic":
            return _basic(request.headers.get("Authorization", ""))
        return f"{asked.text('client_id', '')}:{asked.text('client_secret', '')}"


def granted(books: Books, account: Account) -> Answer:
    """Make a token of an hour; the first one registers the key that the account was given."""
    key = _own_key(books, account.id)
    if keys.active(books, key) is None:
        keys.add(books, account.id, NewKey(type="evp", key=key))
    token = books.random_hex(32)
    until = books.clock.micros() + _LIFE_S * _SECOND
    state.put(books, Kept(kind=TOKEN, name=token, value="", account_id=account.id, until=until))
    document = {
        "access_token": token,
        "token_type": "Bearer",
        "expires_in": _LIFE_S,
        "scope": _SCOPE,
    }
    return Answer(document=document)


def _bearer(request: BankRequest) -> Account:
    """Return the account of a token that has not ended, under its own certificate."""
    known = state.find(request.books, TOKEN, request.bearer)
    if known is None:
        raise Refusal(Code.UNAUTHORIZED, "Invalid or expired access token")
    account = accounts.get(request.books, known.account_id)
    if not _shows_its_own(request, account):
        raise Refusal(Code.UNAUTHORIZED, "The certificate is another account's")
    return account


def _shows_its_own(request: BankRequest, account: Account) -> bool:
    """Say whether the caller showed a certificate of the account."""
    return certificates.account_of(request.books, request.certificate) == account.id


def _own_key(books: Books, account_id: str) -> str:
    """Return the random key that an account was given when it was opened."""
    known = state.find(books, _PIX_KEY, account_id)
    if known is not None:
        return known.value
    made = str(uuid.UUID(hex=books.random_hex(16), version=4))
    state.put(books, Kept(kind=_PIX_KEY, name=account_id, value=made, account_id=account_id))
    return made


def _form(raw: bytes) -> Fields:
    """Read a body that is a form; what is none has no fields."""
    return Fields(dict(parse_qsl(raw.decode("ascii", "replace"))))


def _basic(header: str) -> str:
    scheme, _, token = header.partition(" ")
    try:
        return base64.b64decode(token, validate=True).decode() if scheme == "Basic" else ""
    except (binascii.Error, UnicodeDecodeError):
        return ""

"""How the simulated bank knows its customers: by tokens that it gives for id and secret."""

from __future__ import annotations

import base64
from typing import Final
from urllib.parse import parse_qs

from provider_adapters.testing.bank import accounts
from provider_adapters.testing.bank.accounts import Account
from provider_adapters.testing.bank.books import Books
from provider_adapters.testing.bank.dialect import Admission, BankRequest, Row
from provider_adapters.testing.bank.messages import Answer, Code, Fields, Refusal, invalid

GRANT_PATH: Final = "/v1/token"
LIFE_S: Final = 3600
SECRET_HEADERS: Final = frozenset({"authorization"})
STRANGER: Final = {"client_id": "nobody", "client_secret": "nobody-has-this-secret"}
"""Credentials of nobody."""
_KIND = "token"


def admit(books: Books, _account: Account, _given: Fields) -> Admission:
    """Make the credentials of an account."""
    client_id, secret = books.identifier("client"), books.random_hex(24)
    credentials = {"client_id": client_id, "client_secret": secret}
    return Admission(token=f"{client_id}:{secret}", credentials=credentials)


def authenticate(request: BankRequest) -> Account:
    """Return whose request it is; raises ``UNAUTHORIZED``."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    kept = request.books.kept(_KIND, token) if scheme == "Bearer" else None
    if kept is None:
        raise Refusal(Code.UNAUTHORIZED, "a valid token is needed")
    return accounts.get(request.books, kept.account_id)


def revoke_all(books: Books) -> None:
    """Refuse every token from now on."""
    for account in accounts.list_all(books):
        for kept in books.kept_of(_KIND, account.id):
            books.forget(_KIND, kept.name)


def _give(request: BankRequest) -> Answer:
    """Give a token for id and secret, in a form and by Basic."""
    form = parse_qs(request.raw.decode("utf-8", "replace"))
    if form.get("grant_type") != ["client_credentials"]:
        problem = "grant_type is client_credentials"
        raise invalid(problem)
    account = accounts.by_token(request.books, _pair(request))
    if account is None:
        raise Refusal(Code.UNAUTHORIZED, "id and secret are needed")
    books, token = request.books, request.books.random_hex(24)
    until = books.clock.micros() + LIFE_S * 1_000_000
    books.keep(_KIND, token, "", account_id=account.id, until=until)
    return Answer(document={"access_token": token, "expires_in": LIFE_S, "token_type": "Bearer"})


def _pair(request: BankRequest) -> str:
    """Return what the header has, ``id:secret``."""
    scheme, _, encoded = request.headers.get("Authorization", "").partition(" ")
    try:
        return base64.b64decode(encoded, validate=True).decode() if scheme == "Basic" else ""
    except ValueError:
        return ""


ROWS: Final = (Row("POST", GRANT_PATH, "access", _give, is_open=True),)

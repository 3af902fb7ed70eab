"""Who calls: client id and secret for a token, the token for everything else."""

from __future__ import annotations

import base64
import binascii
import uuid
from typing import Final

from provider_adapters.simulated_bank import certificates
from provider_adapters.simulated_bank.dialect import Admission, BankRequest
from provider_adapters.simulated_bank.kernel import accounts, state
from provider_adapters.simulated_bank.kernel.accounts import Account
from provider_adapters.simulated_bank.kernel.books import Books
from provider_adapters.simulated_bank.kernel.refusals import Code, Refusal
from provider_adapters.simulated_bank.kernel.state import Kept
from provider_adapters.simulated_bank.messages import Answer, Fields
from provider_adapters.simulated_bank.pix import keys
from provider_adapters.simulated_bank.pix.keys import NewKey

TOKEN: Final = "token"  # noqa: S105 - the kind of what is kept
_PIX_KEY: Final = "pix_key"
_LIFE_S: Final = 3600
_SECOND: Final = 1_000_000
_SCOPE: Final = "cob.read cob.write pix.read pix.write webhook.read webhook.write"


def admit(books: Books, account: Account, _given: Fields) -> Admission:
    """Give an account id, secret and certificate, and a random key of its own."""
    client_id, secret = f"Client_Id_{books.random_hex(20)}", f"Client_Secret_{books.random_hex(20)}"
    certificates.revoke(books, account.id)
    for each in state.of_account(books, TOKEN, account.id):
        state.remove(books, TOKEN, each.name)
    pair = certificates.issue(books, account.id)
    fields = {
        "client_id": client_id,
        "client_secret": secret,
        "certificate": pair.certificate,
        "key": pair.key,
        "pix_key": _own_key(books, account.id),
    }
    return Admission(token=f"{client_id}:{secret}", credentials=fields)


def give_token(request: BankRequest) -> Answer:
    """Give a token for ``Authorization: Basic`` and a JSON body; ``POST /oauth/token``."""
    account = accounts.by_token(request.books, _basic(request.headers.get("Authorization", "")))
    if account is None or not _shows_its_own(request, account):
        raise Refusal(Code.UNAUTHORIZED, "Invalid or inactive credentials")
    request.body.choice("grant_type", {"client_credentials": ""})
    return granted(request.books, account)


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


def authenticate(request: BankRequest) -> Account:
    """Return the account of a bearer token that has not ended, under its own certificate."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    known = state.find(request.books, TOKEN, token) if scheme == "Bearer" else None
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


def _basic(header: str) -> str:
    scheme, _, token = header.partition(" ")
    try:
        return base64.b64decode(token, validate=True).decode() if scheme == "Basic" else ""
    except (binascii.Error, UnicodeDecodeError):
        return ""

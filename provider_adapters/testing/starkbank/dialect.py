"""Stark Bank: the simulated bank in its dress."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Final

from provider_adapters.kit.public_keys import PublicKey
from provider_adapters.testing.bank.dialect import Admission, BankRequest, Dialect
from provider_adapters.testing.bank.kernel import accounts, state
from provider_adapters.testing.bank.kernel.accounts import Account, PayoutKind
from provider_adapters.testing.bank.kernel.books import BankIdentity, Books
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.kernel.state import Kept
from provider_adapters.testing.bank.messages import Answer, Fields
from provider_adapters.testing.bank.simulator import Simulator
from provider_adapters.testing.starkbank import callbacks, documents, rows

_PUBLIC_KEY: Final = "public key"
_WINDOW_S: Final = 300.0
"""How far ``Access-Time`` may be from the bank's time; the bank does not say."""
_SECONDS: Final = re.compile(r"[0-9]{9,11}(\.[0-9]{1,9})?", re.ASCII)
_PROJECT_DIGITS: Final = 16

_ERRORS: Final[Mapping[Code, tuple[int, str]]] = {
    Code.UNAUTHORIZED: (400, "invalidSignature"),
    Code.WRONG_ACCOUNT: (400, "invalidAccessId"),
    Code.INVALID_REQUEST: (400, "invalidJson"),
    Code.INSUFFICIENT_FUNDS: (400, "insufficientFunds"),
    Code.OWNER_MISMATCH: (400, "invalidTaxId"),
    Code.REJECTED: (400, "invalidAmount"),
    Code.KEY_NOT_FOUND: (400, "invalidPixKey"),
    Code.ACCOUNT_INVALID: (400, "invalidAccountNumber"),
    Code.DUPLICATE: (400, "invalidExternalId"),
    Code.CHARGE_PAID: (400, "invalidAction"),
}
"""What the bank answers; the words that no source has are marked so in the README."""


def authenticate(request: BankRequest) -> Account:
    """Return whose signature it is: over who, when and the body."""
    names = ("Access-Id", "Access-Time", "Access-Signature")
    who, at, signature = (request.headers.get(name, "") for name in names)
    account = accounts.by_token(request.books, who)
    kept = state.find(request.books, _PUBLIC_KEY, who)
    if account is None or kept is None:
        raise Refusal(Code.WRONG_ACCOUNT, "the access id is unknown")
    if not _is_recent(request.books, at):
        raise Refusal(Code.UNAUTHORIZED, "the access time is not now")
    message = f"{who}:{at}:".encode() + request.raw
    if not PublicKey.read(kept.value).verifies(_decoded(signature), message):
        raise Refusal(Code.UNAUTHORIZED, "the signature does not check out")
    return account


def admit(books: Books, account: Account, _given: Fields) -> Admission:
    """Make a project with a new key for a workspace; the bank keeps the public one."""
    digits = str(int(books.random_hex(8), 16)).zfill(_PROJECT_DIGITS)[:_PROJECT_DIGITS]
    access_id, private_key = f"project/{digits}", callbacks.new_key(books)
    kept = Kept(
        kind=_PUBLIC_KEY,
        name=access_id,
        value=callbacks.public_of(private_key),
        account_id=account.id,
    )
    state.put(books, kept)
    credentials = {"access_id": access_id, "private_key": private_key}
    return Admission(token=access_id, credentials=credentials)


def refusal(problem: Refusal) -> Answer:
    """Show a refusal: the bank answers 400 for nearly everything."""
    status, code = _ERRORS.get(problem.code, (problem.status, ""))
    if problem.code is Code.NOT_FOUND and problem.message != _BARE:
        what = problem.message.split(" ")[0]
        status, code = 400, f"invalid{_RESOURCES.get(what, 'Id')}"
    shown = {"code": code or _camel(problem.code), "message": problem.message}
    return Answer(document={"errors": [shown]}, status=status)


_BARE: Final = "the request failed"
_RESOURCES: Final = {
    "payout": "Transfer",
    "invoice": "Invoice",
    "payment": "Payment",
    "address": "Webhook",
    "event": "Event",
}


def _camel(code: Code) -> str:
    first, *rest = code.lower().split("_")
    return "internalServerError" if code is Code.INTERNAL else first + "".join(map(str.title, rest))


def _is_recent(books: Books, at: str) -> bool:
    """Say whether a time is near the wall's, wherever the bank's clock was moved to."""
    if not _SECONDS.fullmatch(at):
        return False
    wall = books.clock.now().timestamp() - books.clock.offset_s
    return abs(wall - float(at)) <= _WINDOW_S


def _decoded(signature: str) -> bytes:
    try:
        return base64.b64decode(signature, validate=True)
    except (binascii.Error, ValueError):
        return b""


STARKBANK: Final = Dialect(
    identity=BankIdentity(
        name="Stark Bank S.A.", ispb="20018183", compe="462", host="brcode.starkbank.example"
    ),
    rows=rows.ROWS,
    authenticate=authenticate,
    refusal=refusal,
    payout=documents.transfer,
    callback=callbacks.callback,
    admit=admit,
    payout_kind=PayoutKind.DUP,
    secret_headers=frozenset({"access-signature"}),
)
SIMULATORS: Final = {
    "starkbank": Simulator(adapter="starkbank", dialect=STARKBANK, tells_returns=False),
}

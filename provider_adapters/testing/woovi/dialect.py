"""The simulated Woovi: its interface over the books of every simulated bank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from provider_adapters.testing.bank.dialect import Admission, Dialect
from provider_adapters.testing.bank.kernel.accounts import Account, PayoutKind
from provider_adapters.testing.bank.kernel.books import BankIdentity, Books
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.messages import Answer, Document, Fields
from provider_adapters.testing.bank.simulator import Simulator
from provider_adapters.testing.woovi import callbacks, documents, rows

_BAD_REQUEST: Final = 400
_SERVER_ERROR: Final = 500
# As the bank's pages have them; see ``provider_adapters.woovi.words`` for where.
_SENTENCES: Final[Mapping[Code, str]] = {
    Code.DUPLICATE: "Já existe um pagamento com o correlationID fornecido",
    Code.INSUFFICIENT_FUNDS: "You do not have enough balance to make this payment",
    Code.TOO_MANY_REQUESTS: "You tried to consult many Pix keys that do not exist.",
    Code.KEY_NOT_FOUND: "Pix key not found",
}
_CODES: Final[Mapping[Code, str]] = {
    Code.KEY_NOT_FOUND: "PIX_KEY_INFO_NOT_FOUND",
    Code.TOO_MANY_REQUESTS: "TOO_MANY_REQUESTS",
}
# The bank has a word of its own for what the books call a payment and a payout.
_NAMES: Final[Mapping[str, str]] = {
    "payment not found": "Transaction not found",
    "payout not found": "Payment not found",
    "address not found": "Webhook not found",
}
# Nearly every refusal is a 400; these keep their status.
_OWN_STATUS: Final = frozenset({401, 404, 405, 413, 429})


def _refusal(problem: Refusal) -> Answer:
    """Show a refusal: a sentence, now and then with a code."""
    if problem.code is Code.UNAUTHORIZED:
        document: Document = {"data": None, "errors": [{"message": "appID inválido"}]}
        return Answer(document=document, status=problem.status)
    if problem.status >= _SERVER_ERROR:
        return Answer(document={"error": "Internal server error"}, status=problem.status)
    text = _SENTENCES.get(problem.code) or _NAMES.get(problem.message) or problem.message
    said = {"error": text[:1].upper() + text[1:]}
    if problem.code in _CODES:
        said["errorCode"] = _CODES[problem.code]
    return Answer(document=said, status=_status(problem))


def _status(problem: Refusal) -> int:
    """Return the status; what the books do not find is a 400 here, a missing path is none."""
    absent = problem.code is Code.NOT_FOUND and problem.message.endswith("not found")
    is_lower = problem.message[:1].islower()
    if absent and is_lower:
        return _BAD_REQUEST
    return problem.status if problem.status in _OWN_STATUS else _BAD_REQUEST


def _admit(books: Books, _account: Account, given: Fields) -> Admission:
    """Give an account its AppID."""
    app_id = given.text("token", "") or documents.global_id("Client_Id", books.random_hex(24))
    return Admission(token=app_id, credentials={"app_id": app_id})


WOOVI: Final = Dialect(
    identity=BankIdentity(
        name="WOOVI IP LTDA", ispb="54811417", compe="000", host="pix.woovi.example"
    ),
    rows=rows.ROWS,
    authenticate=rows.authenticate,
    refusal=_refusal,
    payout=documents.payment,
    callback=callbacks.written,
    admit=_admit,
    payout_kind=PayoutKind.DUP,
)
"""Refuses a key that it knows: docs/payment/payment-idempotency.md."""
SIMULATORS: Final = {"woovi": Simulator(adapter="woovi", dialect=WOOVI, tells_returns=False)}

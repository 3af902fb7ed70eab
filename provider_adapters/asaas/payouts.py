"""
The bank's answers about payouts, as outcomes.

Only listed answers are returned. All others are raised, and the client turns them into Unknown.
"""

from __future__ import annotations

from typing import Final

from gateway.banks.port.payout_orders import FailureCode, PayoutOrder, PixDestination
from gateway.banks.port.providers import Outcome, Reason
from provider_adapters.asaas import documents, mapping
from provider_adapters.asaas.mapping import (
    DONE,
    FAILURES,
    NO_CALLS_LEFT,
    REFUSED_BEFORE,
    REJECTIONS,
    STATES,
)
from provider_adapters.kit import banks, money
from provider_adapters.kit.answers import ProviderAnswer, read_document
from provider_adapters.kit.outcomes import Expected, Shown, listed_refusal, outcome_of

_HIDDEN: Final = "*"
_COUNTRY: Final = "55"
_TOO_MANY: Final = 429


def created(answer: ProviderAnswer, order: PayoutOrder) -> Outcome:
    """
    Read the answer to an order.

    Raises:
        ProviderError: The answer is none of those listed.
    """
    refused = listed_refusal(answer, _code(answer), REJECTIONS, REFUSED_BEFORE)
    if refused is not None:
        return refused

    def shape(transfer: documents.Transfer) -> Outcome:
        to = transfer.bank_account
        problem = None if to is None or _goes_there(to, order) else Reason.DESTINATION_MISMATCH
        shown, wanted = _shown(transfer, problem), Expected(order.provider_key, order.value)
        return outcome_of(answer, shown, wanted, ordered=True)

    return read_document(answer, documents.TRANSFER, shape)


def found(answer: ProviderAnswer, provider_key: str) -> Outcome:
    """
    Read the answer to a look-up by the bank's id; an unknown state is Unknown.

    Raises:
        ProviderError: By status: the bank has no word of its own for "absent".
    """

    def shape(transfer: documents.Transfer) -> Outcome:
        return outcome_of(answer, _shown(transfer), Expected(provider_key), ordered=False)

    return read_document(answer, documents.TRANSFER, shape)


def _code(answer: ProviderAnswer) -> str:
    """Return the error code; ``NO_CALLS_LEFT`` for a 429 whose RateLimit-Remaining is 0."""
    if answer.status == _TOO_MANY and answer.headers.get("RateLimit-Remaining", "") == "0":
        return NO_CALLS_LEFT
    return mapping.error_code(answer)


def _shown(transfer: documents.Transfer, problem: Reason | None = None) -> Shown:
    is_done = transfer.status == DONE
    return Shown(
        state=STATES.get(transfer.status),
        provider_key=transfer.external_reference or "",
        value=money.from_json(transfer.value),
        provider_id=transfer.id,
        e2e_id=transfer.end_to_end_identifier or None,
        problem=problem,
        settled_at=mapping.instant_with_time(transfer.effective_date) if is_done else None,
        failure=FAILURES.get(transfer.status, FailureCode.OTHER),
    )


def _goes_there(shown: documents.BankAccount, order: PayoutOrder) -> bool:
    """Return whether a transfer has the ordered recipient; hidden fields are not compared."""
    to = order.destination
    if isinstance(to, PixDestination):
        return _same(shown.pix_address_key, to.key)
    account = f"{shown.account}{shown.account_digit}" if shown.account_digit else None
    bank = banks.by_compe(to.bank_number) or banks.by_ispb(to.bank_number)
    number = shown.bank.code if shown.bank else None
    return (
        (bank is None or _same(number, bank.compe))
        and _same(shown.agency, to.branch)
        and _same(account, to.account)
    )


def _same(shown: str | None, ordered: str) -> bool:
    """Compare letters and digits alone; a masked text matches any."""
    return not shown or _HIDDEN in shown or _bare(shown) == _bare(ordered)


def _bare(text: str) -> str:
    """Write a key or a number without signs, the country of a phone, and zeros before it."""
    bare = "".join(letter for letter in text.lower() if letter.isalnum())
    return (bare.removeprefix(_COUNTRY) if text.startswith("+") else bare).lstrip("0")

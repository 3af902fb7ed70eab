"""
The bank's answers about payouts, as outcomes.

Only listed answers are returned. All others are raised, and the client turns them into Unknown.
"""

from __future__ import annotations

from typing import Final

from gateway.domain.bank.payout_orders import FailureCode, PayoutOrder, PixDestination
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import Accepted, Evidence, Outcome, Rejected, Settled, Unknown
from provider_adapters.asaas import documents, translate
from provider_adapters.asaas.words import (
    DONE,
    FAILURES,
    NO_CALLS_LEFT,
    PROCESSING,
    REFUSED_BEFORE,
    REJECTIONS,
)
from provider_adapters.kit import banks, money
from provider_adapters.kit.answers import (
    ProviderAnswer,
    is_e2e_id,
    provider_id,
    read_document,
)
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.outcomes import refused_before

_HIDDEN: Final = "*"
_COUNTRY: Final = "55"
_TOO_MANY: Final = 429


def created(answer: ProviderAnswer, order: PayoutOrder, unknown: UnknownWord) -> Outcome:
    """
    Read the answer to an order.

    Raises:
        ProviderError: The answer is none of those listed.
    """
    code = _code(answer)
    failure = REJECTIONS.get((answer.status, code))
    if failure is not None:
        return Rejected(evidence=answer.evidence(Reason.REFUSED, code), failure=failure)
    refused = refused_before(answer, code, REFUSED_BEFORE)
    if refused is not None:
        return refused

    def shape(transfer: documents.Transfer) -> Outcome:
        problem = _other_order(transfer, order)
        if problem is not None:
            return Unknown(answer.evidence(problem))
        outcome = _outcome(answer, transfer, order.provider_key)
        if outcome is not None:
            return outcome
        unknown()
        return _accepted(transfer, answer.evidence(Reason.UNKNOWN_STATUS))

    return read_document(answer, documents.TRANSFER, shape)


def found(answer: ProviderAnswer, provider_key: str, unknown: UnknownWord) -> Outcome:
    """
    Read the answer to a look-up by the bank's id; an unknown state is Unknown.

    Raises:
        ProviderError: By status: the bank has no word of its own for "absent".
    """

    def shape(transfer: documents.Transfer) -> Outcome:
        outcome = _outcome(answer, transfer, provider_key)
        if outcome is None:
            unknown()
            return Unknown(answer.evidence(Reason.UNKNOWN_STATUS))
        return outcome

    return read_document(answer, documents.TRANSFER, shape)


def _code(answer: ProviderAnswer) -> str:
    """Return the bank's code; of a limit that is used up, what stands for its header."""
    if answer.status == _TOO_MANY and answer.headers.get("RateLimit-Remaining", "") == "0":
        return NO_CALLS_LEFT
    return translate.error_code(answer)


def _outcome(
    answer: ProviderAnswer, transfer: documents.Transfer, provider_key: str
) -> Outcome | None:
    """Read a transfer's state: None for an unknown one, Unknown for one that is not ours."""
    if transfer.external_reference != provider_key:
        return Unknown(answer.evidence(Reason.KEY_MISMATCH))
    if transfer.end_to_end_identifier and not is_e2e_id(transfer.end_to_end_identifier):
        return Unknown(answer.evidence(Reason.E2E_ID_MALFORMED))
    evidence = answer.evidence(Reason.ANSWERED)
    if transfer.status in PROCESSING:
        return _accepted(transfer, evidence)
    if transfer.status == DONE:
        return _settled(transfer, evidence)
    failure = FAILURES.get(transfer.status)
    return None if failure is None else _failed(answer, failure, provider_key)


def _other_order(transfer: documents.Transfer, order: PayoutOrder) -> Reason | None:
    """Return in what a transfer differs from the order, besides the key."""
    if money.from_json(transfer.value) != order.value:
        return Reason.AMOUNT_MISMATCH
    shown = transfer.bank_account
    if shown is not None and not _goes_there(shown, order):
        return Reason.DESTINATION_MISMATCH
    return None


def _goes_there(shown: documents.BankAccount, order: PayoutOrder) -> bool:
    """Say whether a transfer goes where it was ordered to; what is not shown is not compared."""
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
    """Compare letters and digits alone; a hidden text agrees with any."""
    return not shown or _HIDDEN in shown or _bare(shown) == _bare(ordered)


def _bare(text: str) -> str:
    """Write a key or a number without signs, the country of a phone, and zeros before it."""
    bare = "".join(letter for letter in text.lower() if letter.isalnum())
    return (bare.removeprefix(_COUNTRY) if text.startswith("+") else bare).lstrip("0")


def _failed(answer: ProviderAnswer, failure: FailureCode, provider_key: str) -> Rejected:
    evidence = answer.evidence(Reason.REFUSED)
    return Rejected(evidence=evidence, failure=failure, provider_key=provider_key)


def _settled(transfer: documents.Transfer, evidence: Evidence) -> Settled:
    return Settled(
        evidence=evidence,
        value=translate.above_zero(transfer.value),
        provider_id=provider_id(transfer.id),
        e2e_id=transfer.end_to_end_identifier or "",
        provider_key=transfer.external_reference or "",
        settled_at=translate.instant_with_time(transfer.effective_date),
    )


def _accepted(transfer: documents.Transfer, evidence: Evidence) -> Accepted:
    return Accepted(
        evidence=evidence,
        provider_id=provider_id(transfer.id),
        e2e_id=transfer.end_to_end_identifier or "",
        provider_key=transfer.external_reference or "",
        value=translate.above_zero(transfer.value),
    )

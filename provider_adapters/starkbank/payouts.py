"""
The bank's answers about payouts, as outcomes.

Only listed answers are returned. All others are raised, and the client turns them into Unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Final

from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import (
    Accepted,
    Evidence,
    NotFound,
    Outcome,
    Rejected,
    Settled,
    Unknown,
)
from gateway.domain.kernel.money import Money
from provider_adapters.kit.answers import ProviderAnswer, provider_id, read_document
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.outcomes import refused_before
from provider_adapters.starkbank import documents, words
from provider_adapters.starkbank.documents import Transfer
from provider_adapters.starkbank.requests import OUR_TAG, may_be
from provider_adapters.starkbank.translate import error_codes, failure

_INPUT_ERROR: Final = 400
_OK: Final = 200
_DASHES: Final = re.compile(r"[^0-9A-Za-z]", re.ASCII)


@dataclass(frozen=True, slots=True)
class ExpectedPayout:
    """
    What an answer must agree with; a lookup knows neither amount nor place.

    Attributes:
        place: As it was sent; branch and account may come back otherwise where they were
            encrypted, and are then not compared.
    """

    provider_key: str
    value: Money | None = None
    place: Mapping[str, str] | None = None
    encrypted: bool = False


def created(answer: ProviderAnswer, expected: ExpectedPayout, unknown: UnknownWord) -> Outcome:
    """
    Read the answer to an order.

    An answer of 400 with a code is to be looked into: the bank may have our key already, and
    nothing tells its word for that.

    Raises:
        ProviderError: The answer is none of those listed.
    """
    codes = error_codes(answer)
    for code in codes:
        refused = refused_before(answer, code, words.REFUSED_BEFORE)
        if refused is not None:
            return refused
    if answer.status == _INPUT_ERROR and codes:
        return _refusal(answer, tuple(codes))

    def shape(document: documents.Transfers) -> Outcome:
        (transfer,) = document.transfers  # raises ValueError for none, or several
        return _outcome(answer, transfer, expected) or _processing(answer, transfer, unknown)

    return read_document(answer, documents.TRANSFERS, shape)


def may_be_known(outcome: Outcome) -> bool:
    """Say whether the bank refused with a 400, which may mean that it has our key already."""
    if not isinstance(outcome, Rejected | Unknown):
        return False
    evidence = outcome.evidence
    return evidence.http_status == _INPUT_ERROR and evidence.provider_code != ""


def found(answer: ProviderAnswer, expected: ExpectedPayout, unknown: UnknownWord) -> Outcome:
    """
    Read the transfers that a search by our tag found; an unknown state is Unknown.

    Raises:
        ProviderError: NotFound for an empty list, and for nothing else.
    """
    if answer.status != _OK:
        raise failure(answer)
    tag = OUR_TAG + expected.provider_key

    def shape(document: documents.Transfers) -> Outcome:
        ours = [each for each in document.transfers if tag in each.tags]
        if not ours:
            raise NotFound(Reason.NOT_FOUND, http_status=answer.status)
        if len(ours) > 1:
            return Unknown(answer.evidence(Reason.KEY_MISMATCH))
        outcome = _outcome(answer, ours[0], expected)
        if outcome is None:
            unknown()
            return Unknown(answer.evidence(Reason.UNKNOWN_STATUS))
        return outcome

    return read_document(answer, documents.TRANSFERS, shape)


def _refusal(answer: ProviderAnswer, codes: tuple[str, ...]) -> Rejected | Unknown:
    """Read a 400: Rejected if every code of it is listed."""
    if set(codes) <= words.REJECTIONS.keys():
        evidence = answer.evidence(Reason.REFUSED, codes[0])
        return Rejected(evidence=evidence, failure=words.REJECTIONS[codes[0]])
    return Unknown(answer.evidence(Reason.REFUSED, codes[0]))


def _outcome(
    answer: ProviderAnswer, transfer: Transfer, expected: ExpectedPayout
) -> Outcome | None:
    """Read a transfer's state: None for an unknown one, Unknown for one that is not ours."""
    problem = _contradiction(transfer, expected)
    if problem is not None:
        return Unknown(answer.evidence(problem))
    evidence = answer.evidence(Reason.ANSWERED)
    if transfer.status in words.PROCESSING:
        return _accepted(transfer, expected, evidence)
    if transfer.status == words.SUCCESS:
        return Settled(
            evidence=evidence,
            value=Money(transfer.amount),
            provider_id=provider_id(transfer.id),
            provider_key=expected.provider_key,
            settled_at=transfer.updated and transfer.updated.astimezone(UTC),
        )
    failed = words.FAILURES.get(transfer.status)
    if failed is None:
        return None
    return Rejected(
        evidence=answer.evidence(Reason.REFUSED, transfer.status),
        failure=failed,
        provider_key=expected.provider_key,
    )


def _contradiction(transfer: Transfer, expected: ExpectedPayout) -> Reason | None:
    """Return in what a transfer differs from the one expected, if in anything."""
    told = {tag.removeprefix(OUR_TAG) for tag in transfer.tags if tag.startswith(OUR_TAG)}
    told |= {transfer.external_id} if transfer.external_id else set()
    if told != {expected.provider_key}:
        return Reason.KEY_MISMATCH
    if expected.value is not None and transfer.amount != expected.value.centavos:
        return Reason.AMOUNT_MISMATCH
    if expected.place is not None and not _goes_there(transfer, expected.place, expected):
        return Reason.DESTINATION_MISMATCH
    return None


def _goes_there(transfer: Transfer, place: Mapping[str, str], expected: ExpectedPayout) -> bool:
    """Say whether a transfer goes where it was ordered to; names are not compared."""
    if transfer.bank_code != place["bankCode"] or not may_be(place["taxId"], transfer.tax_id):
        return False
    if expected.encrypted:
        return True
    shown = (transfer.branch_code, transfer.account_number)
    ordered = (place["branchCode"], place["accountNumber"])
    return [_DASHES.sub("", each) for each in shown] == [_DASHES.sub("", each) for each in ordered]


def _processing(answer: ProviderAnswer, transfer: Transfer, unknown: UnknownWord) -> Outcome:
    """Treat an accepted order of unknown state as still processing."""
    unknown()
    expected = ExpectedPayout(transfer.external_id or "")
    return _accepted(transfer, expected, answer.evidence(Reason.UNKNOWN_STATUS))


def _accepted(transfer: Transfer, expected: ExpectedPayout, evidence: Evidence) -> Accepted:
    return Accepted(
        evidence=evidence,
        provider_id=provider_id(transfer.id),
        provider_key=expected.provider_key,
        value=Money(transfer.amount),
    )

"""
The bank's answers about payouts, as outcomes.

Only listed answers are returned. All others are raised, and the client turns them into Unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import NotFound, Outcome, Reason, Rejected, Unknown
from gateway.core.money import Money
from provider_adapters.kit.answers import Inside, ProviderAnswer, read_document
from provider_adapters.kit.outcomes import Expected, Shown, outcome_of, refused_before
from provider_adapters.kit.times import utc
from provider_adapters.starkbank import documents, mapping
from provider_adapters.starkbank.documents import Transfer
from provider_adapters.starkbank.mapping import OUR_TAG, error_codes, failure
from provider_adapters.starkbank.requests import may_be

_INPUT_ERROR: Final = 400
_OK: Final = 200
_DASHES: Final = re.compile(r"[^0-9A-Za-z]", re.ASCII)


def created(answer: ProviderAnswer, ordered: Expected) -> Outcome:
    """
    Read the answer to an order.

    An answer of 400 with a code is to be looked into: the bank may have our key already, and
    its word for that is undocumented.

    Raises:
        ProviderError: The answer is none of those listed.
    """
    codes = error_codes(answer)
    for code in codes:
        refused = refused_before(answer, code, mapping.REFUSED_BEFORE)
        if refused is not None:
            return refused
    if answer.status == _INPUT_ERROR and codes:
        return _refusal(answer, tuple(codes))

    def shape(document: Inside[list[Transfer]]) -> Outcome:
        (transfer,) = document.inside  # raises ValueError for none, or several
        return outcome_of(answer, _shown(transfer, ordered), ordered, ordered=True)

    return read_document(answer, documents.TRANSFERS, shape)


def may_be_known(outcome: Outcome) -> bool:
    """Return whether the bank refused with a 400, which may mean a duplicate of our key."""
    if not isinstance(outcome, Rejected | Unknown):
        return False
    evidence = outcome.evidence
    return evidence.http_status == _INPUT_ERROR and evidence.provider_code != ""


def found(answer: ProviderAnswer, wanted: Expected) -> Outcome:
    """
    Read the transfers that a search by our tag found; an unknown state is Unknown.

    Raises:
        ProviderError: NotFound for an empty list, and for nothing else.
    """
    if answer.status != _OK:
        raise failure(answer)
    tag = OUR_TAG + wanted.provider_key

    def shape(document: Inside[list[Transfer]]) -> Outcome:
        ours = [each for each in document.inside if tag in each.tags]
        if not ours:
            raise NotFound(Reason.NOT_FOUND, http_status=answer.status)
        if len(ours) > 1:
            return Unknown(answer.evidence(Reason.KEY_MISMATCH))
        return outcome_of(answer, _shown(ours[0], wanted), wanted, ordered=False)

    return read_document(answer, documents.TRANSFERS, shape)


def _refusal(answer: ProviderAnswer, codes: tuple[str, ...]) -> Rejected | Unknown:
    """Read a 400: Rejected if every code of it is listed."""
    if set(codes) <= mapping.REJECTIONS.keys():
        evidence = answer.evidence(Reason.REFUSED, codes[0])
        return Rejected(evidence=evidence, failure=mapping.REJECTIONS[codes[0]])
    return Unknown(answer.evidence(Reason.REFUSED, codes[0]))


def _shown(transfer: Transfer, wanted: Expected) -> Shown:
    """Read a transfer; the bank returns our key twice, and no end-to-end id."""
    keys = {tag.removeprefix(OUR_TAG) for tag in transfer.tags if tag.startswith(OUR_TAG)}
    keys |= {transfer.external_id} if transfer.external_id else set()
    goes_there = wanted.place is None or _goes_there(transfer, wanted.place)
    return Shown(
        state=mapping.STATES.get(transfer.status),
        provider_key=keys.pop() if len(keys) == 1 else "",
        value=Money(transfer.amount),
        provider_id=transfer.id,
        problem=None if goes_there else Reason.DESTINATION_MISMATCH,
        settled_at=utc(transfer.updated),
        failure=mapping.FAILURES.get(transfer.status, FailureCode.OTHER),
        code=transfer.status,
    )


def _goes_there(transfer: Transfer, place: Mapping[str, str | None]) -> bool:
    """
    Return whether a transfer goes to the ordered destination; names are not compared.

    Branch and account may come back otherwise where they were encrypted: ``place`` is then
    without them.
    """
    tax_number = place["taxId"] or ""
    if transfer.bank_code != place["bankCode"] or not may_be(tax_number, transfer.tax_id):
        return False
    shown = {"branchCode": transfer.branch_code, "accountNumber": transfer.account_number}
    return all(
        _DASHES.sub("", shown[name]) == _DASHES.sub("", place[name] or "")
        for name in shown.keys() & place.keys()
    )

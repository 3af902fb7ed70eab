"""Payouts as partners read them (contract 2.6)."""

from __future__ import annotations

from typing import Never, TypedDict

from gateway.accounts.documents import account_document
from gateway.http.common import Meter, OfAccount, meter
from gateway.payouts.create import PayoutPage
from gateway.payouts.documents import PayoutDocument, payout_document
from gateway.payouts.model import Payout


class PayoutList(TypedDict):
    """A page of payouts, newest created first."""

    data: list[PayoutDocument]
    meta: Meter


def payout_created(found: Payout, caller: OfAccount) -> PayoutDocument:
    """Show a payout as its creation answers: processing, whatever is known by now."""
    shown = payout(found, caller)
    shown["status"], shown["settled_at"] = "processing", ""
    shown.pop("failure", None)
    return shown


def payout(found: Payout, caller: OfAccount) -> PayoutDocument:
    """Show a payout (contract 2.6)."""
    return payout_document(found, account_document(caller.account))


def payouts(found: PayoutPage, caller: OfAccount) -> PayoutList:
    """Show a page of payouts."""
    origin = account_document(caller.account)
    return {
        "data": [payout_document(each, origin) for each in found.payouts],
        "meta": meter(found.paging, found.total),
    }


def nothing(_found: Never, _caller: OfAccount) -> PayoutDocument:
    """Show what never comes: the operation always refuses."""
    raise NotImplementedError

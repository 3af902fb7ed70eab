"""The balance of an account and what is blocked of it, live at its bank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from gateway.domain.bank.statements import Block
from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors
from gateway.domain.kernel.money import Money
from gateway.http.backoffice.callers import AccountCaller, as_caller
from gateway.http.backoffice.cells import NO_BODY, reading
from gateway.http.backoffice.failures import READS, bank_fails
from gateway.http.backoffice.operations import BackOfficeOperations
from gateway.http.rendering import Amount, amount, instant
from gateway.http.resources import represent as resources
from gateway.http.resources.documents import Instant, Total
from gateway.http.route import Row, route
from policies.validation.inputs import NOTHING


class BlockDocument(TypedDict):
    """Money that is held back; ``since`` is empty where the bank does not tell."""

    kind: Literal["med", "court", "bank", "contract"]
    value: Amount
    since: Instant
    reference: str


class BlockList(TypedDict):
    """Every block, oldest first; ``blocked`` is their sum."""

    blocked: Amount
    data: list[BlockDocument]
    meta: Total


def balance_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the rows that read the balance and its blocks."""
    return (
        route(
            "GET",
            "/accounts/{account_id}/balance",
            name="backoffice.balance",
            summary="Read the account's balance, live.",
            needs=reading(Area.BALANCE),
            limits=NO_BODY,
            takes=NOTHING,
            runs=as_caller(does.balances.read),
            shows=resources.balance,
            fails=bank_fails(errors.BALANCE_UNAVAILABLE),
            raises=READS,
        ),
        route(
            "GET",
            "/accounts/{account_id}/blocks",
            name="backoffice.blocks",
            summary="Read what is blocked of the account's balance and why, live.",
            needs=reading(Area.BALANCE),
            limits=NO_BODY,
            takes=NOTHING,
            runs=as_caller(does.blocks.read),
            shows=blocks,
            fails=bank_fails(errors.BALANCE_UNAVAILABLE),
            raises=READS,
        ),
    )


def blocks(found: Sequence[Block], _who: AccountCaller) -> BlockList:
    """Show every block, and how much they are together."""
    return {
        "blocked": amount(Money(sum(each.value.centavos for each in found))),
        "data": [_block(each) for each in found],
        "meta": {"total": len(found)},
    }


def _block(found: Block) -> BlockDocument:
    return {
        "kind": found.kind.value,
        "value": amount(found.value),
        "since": instant(found.since),
        "reference": found.reference,
    }

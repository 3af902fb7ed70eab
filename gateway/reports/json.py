"""A report as JSON, in the words and forms of the banking statement (contract 2.7)."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson

from gateway.banks.port.statements import Entry
from gateway.core.money import Sum
from gateway.reports.document import Document, operation
from gateway.reports.texts import encodable


def write(document: Document) -> bytes:
    """
    Write the report: amounts with exactly two decimals, instants in UTC, oldest first.

    ``opening`` and ``closing`` are null where they are not known.
    """
    return orjson.dumps(
        {
            "account": _account(document),
            "environment": document.environment.value,
            "window": {
                "init": document.window.init.isoformat(),
                "ends": document.window.ends.isoformat(),
            },
            "generated_at": _instant(document.generated_at),
            "balance": _balance(document),
            "totals": {"credits": document.credits, "debits": document.debits},
            "data": [_entry(entry) for entry in document.entries],
            "meta": {"total": len(document.entries)},
        },
        default=_amount,
    )


def _account(document: Document) -> dict[str, str]:
    at = document.coordinates
    return {
        "id": document.account_id,
        "bank_number": at.bank_number,
        "ispb": at.ispb,
        "branch": at.branch,
        "account": at.account,
        "name": encodable(document.holder.name),
        "tax_number": encodable(document.holder.tax_number),
    }


def _balance(document: Document) -> dict[str, object]:
    """Return the balances, as far as known."""
    return {
        "opening": document.opening,
        "closing": document.closing,
        "balance": document.balance.balance,
        "blocked": document.balance.blocked,
        "updated_at": _instant(document.balance.updated_at),
    }


def _entry(entry: Entry) -> dict[str, object]:
    """Show a movement; ``value`` is never negative, ``type`` gives the sign."""
    return {
        "id": encodable(entry.provider_id),
        "e2e_id": encodable(entry.e2e_id),
        "kind": entry.kind.value,
        "operation": operation(entry),
        "type": entry.direction.value,
        "value": entry.value,
        "description": encodable(entry.description),
        "counterparty": {
            "name": encodable(entry.counterparty.name),
            "tax_number": encodable(entry.counterparty.tax_number),
        },
        "created_at": _instant(entry.created_at),
    }


def _amount(value: object) -> orjson.Fragment:
    """Write an amount as a JSON number in reais with exactly two decimals."""
    if not isinstance(value, Sum):
        raise TypeError(type(value))
    return orjson.Fragment(str(value))


def _instant(at: datetime | None) -> str:
    """Write an instant as RFC 3339 in UTC, to the second; an absent one is empty."""
    if at is None:
        return ""
    return at.astimezone(UTC).replace(tzinfo=None, microsecond=0).isoformat() + "Z"

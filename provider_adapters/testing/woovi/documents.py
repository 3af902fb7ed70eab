"""Woovi's documents, as its OpenAPI document and its pages have them; written from those alone."""

from __future__ import annotations

import base64
import json
from typing import Final

from provider_adapters.testing.bank.kernel.accounts import Account, Balance
from provider_adapters.testing.bank.kernel.clock import show
from provider_adapters.testing.bank.kernel.statement import Entry
from provider_adapters.testing.bank.messages import Document, fields
from provider_adapters.testing.bank.pix.charges import Charge
from provider_adapters.testing.bank.pix.destinations import Owner
from provider_adapters.testing.bank.pix.keys import Key
from provider_adapters.testing.bank.pix.payouts import Payout
from provider_adapters.testing.bank.pix.received_payments import Payer, Payment
from provider_adapters.testing.bank.pix.refunds import Refund

KEY_TYPES: Final = {"cpf": "CPF", "cnpj": "CNPJ", "email": "EMAIL", "phone": "PHONE", "evp": "EVP"}
_PAYOUT_STATES: Final = {
    "processing": "APPROVED",
    "settled": "CONFIRMED",
    "failed": "FAILED",
    "returned": "CONFIRMED",
}
_REFUND_STATES: Final = {
    "processing": "IN_PROCESSING",
    "settled": "REFUNDED",
    "failed": "NOT_ACCOMPLISHED",
}
_CHARGE_REFUND_STATES: Final = {
    "processing": "IN_PROCESSING",
    "settled": "CONFIRMED",
    "failed": "REJECTED",
}
_CPF_DIGITS: Final = 11


def account(record: Account, held: Balance) -> Document:
    """Show an account with its balance."""
    return {
        "account": {
            "accountId": record.id,
            "isDefault": True,
            "balance": {
                **fields(held, "blocked", "available", total="owned", blockedBySecurity="blocked"),
                "blockedByWithdrawSafety": 0,
            },
            **fields(record, "branch", account="number", taxId="tax_number"),
            **fields(record, accountName="name", officialName="name", tradeName="name"),
        }
    }


def movement(line: Entry) -> Document:
    """Show a line of the statement; it says neither what kind it is nor its end-to-end id."""
    return {
        "id": line.id,
        "time": show(line.at),
        "description": line.description,
        "balance": 0,
        "value": abs(line.centavos),
        "type": "CREDIT" if line.centavos > 0 else "DEBIT",
        "transactionId": f"txn_{line.seq}",
    }


def key(record: Key, *, is_default: bool) -> Document:
    """Show a key."""
    return {"key": record.key, "type": KEY_TYPES[record.type], "isDefault": is_default}


def owner(found: Owner) -> Document:
    """Show the owner of a key: a person's tax number with its middle hidden."""
    number = found.tax_number
    hidden = f"{number[:3]}.***.***-{number[-2:]}" if len(number) == _CPF_DIGITS else number
    return {
        "pixKey": found.key,
        "type": KEY_TYPES[found.type],
        "pixKeyEndToEndId": f"E{found.ispb}20261122103011111111111",
        "owner": {
            "name": found.name,
            "taxID": hidden,
            "psp": found.ispb,
            "branch": "****",
            "account": f"****{found.account[-2:]}",
        },
    }


def charge(record: Charge, at: int) -> Document:
    """Show a charge."""
    status = "COMPLETED" if record.status == "paid" else "ACTIVE"
    shown = {
        "status": "EXPIRED" if record.expired(at) else status,
        "value": record.centavos or 0,
        **fields(record, correlationID="reference", comment="description", pixKey="key"),
        **fields(record, brCode="emv", identifier="txid", transactionID="txid"),
        "type": "DYNAMIC",
        "globalID": global_id("Charge", record.id),
        "additionalInfo": [],
        "createdAt": show(record.created_at),
        "updatedAt": show(record.created_at),
    }
    if record.expires_at is not None:
        shown["expiresDate"] = show(record.expires_at)
    return shown if record.payer is None else {**shown, "customer": person(record.payer)}


def person(payer: Payer) -> Document:
    """Show who paid, or is asked to."""
    kind = "BR:CPF" if len(payer.tax_number) == _CPF_DIGITS else "BR:CNPJ"
    return {"name": payer.name, "taxID": {"taxID": payer.tax_number, "type": kind}}


def transaction(paid: Payment) -> Document:
    """Show a payment received; words as in the examples, where the schema has them swapped."""
    status = "CONFIRMED"
    if paid.refunded:
        status = "REFUNDED" if paid.refunded >= paid.centavos else "PARTIAL_REFUND"
    shown: dict[str, object] = {
        **fields(paid, value="centavos", endToEndId="e2e_id", transactionID="e2e_id"),
        "time": show(paid.at),
        "globalID": global_id("PixTransaction", str(paid.seq)),
        "type": "PAYMENT",
        "status": status,
    }
    if paid.payer is not None:
        shown |= {"payer": person(paid.payer), "infoPagador": paid.payer.message}
    if paid.reference is not None:
        shown["charge"] = {"correlationID": paid.reference, "status": "COMPLETED"}
    return shown


def payment(record: Payout, reason: str = "") -> Document:
    """Show a payout; bank and end-to-end id are told once it is no longer under way."""
    shown: dict[str, object] = {
        **json.loads(record.to.sent),
        **fields(record, value="centavos", comment="description", sourceAccountId="account_id"),
        "status": _PAYOUT_STATES[record.state],
        "correlationID": record.idempotency_key or "",
    }
    if record.state == "processing":
        return {"payment": shown}
    transfer: dict[str, object] = {
        **fields(record, value="paid", endToEndId="e2e_id"),
        "time": show(record.settled_at or record.created_at),
    }
    if record.state == "failed":
        transfer["providerRejectedReason"] = reason or "DS04 - Ordem rejeitada"
        return {"payment": shown, "transaction": transfer}
    return {"payment": shown, "transaction": transfer, "destination": _destination(record)}


def refund(record: Refund) -> Document:
    """Show a refund."""
    return {
        **_refunded(record),
        "status": _REFUND_STATES[record.state],
        "refundId": record.id,
        "returnIdentification": record.return_id,
    }


def charge_refund(record: Refund) -> Document:
    """Show a refund of a charge, in words of its own."""
    return {
        **_refunded(record),
        "status": _CHARGE_REFUND_STATES[record.state],
        "endToEndId": record.return_id,
    }


def _refunded(record: Refund) -> Document:
    return {
        **fields(record, value="centavos", correlationID="idempotency_key", comment="description"),
        "time": show(record.created_at),
    }


def global_id(kind: str, name: str) -> str:
    """Write an id as the bank's interface to people does: base64 of kind and name."""
    return base64.b64encode(f"{kind}:{name}".encode()).decode()


def _destination(record: Payout) -> Document:
    to = record.to
    shown = {"name": to.name, "taxID": to.tax_number, "bank": to.bank or "Outro Banco S.A."}
    place = {"pixKey": to.key, "branch": to.branch, "account": to.account}
    return {**shown, **{name: text for name, text in place.items() if text}}

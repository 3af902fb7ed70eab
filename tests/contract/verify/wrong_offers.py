"""Mistakes about charges, keys, payments received and refunds, as tired people make them."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from gateway.banks.port.charges import Charge, ChargeOrder
from gateway.banks.port.payout_orders import BankDestination, PayoutOrder
from gateway.banks.port.pix_keys import KeyOwner, PixKey
from gateway.banks.port.providers import NotFound, Outcome, ProviderAccount, Reason, Unreachable
from gateway.banks.port.refunds import RefundOrder
from gateway.core.clocks import Deadline
from provider_adapters.kit.answers import ProviderAnswer
from provider_adapters.kit.requests import ProviderRequest
from provider_adapters.sandbox.adapter import SandboxAdapter
from tests.contract.verify.mistaken import Hear, Wrong, being, document_of, hearing, saying

FAR: Final = Deadline(1.0, lambda: 0.0)
PAST: Final = Deadline(0.0, lambda: 1.0)


def told(operation: str, **fields: Any) -> Hear:
    """Change fields of an operation's answer, wherever they are in it."""

    def hear(request: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
        if request.operation != operation or answer.status >= 300:
            return answer
        return saying(answer, _changed(document_of(answer.body), fields))

    return hear


def _changed(value: Any, fields: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_changed(each, fields) for each in value]
    if not isinstance(value, dict):
        return value
    return {name: fields.get(name, _changed(each, fields)) for name, each in value.items()}


def nobody_s(request: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
    """Take every 404 for what was looked for."""
    if request.operation == "get_charge" and answer.status == 404:
        return saying(answer, document_of(answer.body), 502)
    return answer


class Empty(SandboxAdapter):
    """Reads an unpaid charge as paid at once."""

    async def get_charge_payment(self, account: ProviderAccount, reference: str) -> Any:
        found = await SandboxAdapter.get_charge_payment(self, account, reference)
        return dataclasses.replace(found, paid_at=found.paid_at or found.created_at)


class OtherReference(SandboxAdapter):
    async def create_charge(self, account: ProviderAccount, order: ChargeOrder) -> Charge:
        other = dataclasses.replace(order, reference=order.reference[::-1])
        made = await SandboxAdapter.create_charge(self, account, other)
        return dataclasses.replace(made, reference=order.reference)


class Unasked(SandboxAdapter):
    """Says that a charge is cancelled, and does not ask."""

    async def cancel_charge(self, account: ProviderAccount, reference: str) -> Charge:
        return await self.get_charge(account, reference)


class Guessing(SandboxAdapter):
    """Takes the first key for any."""

    async def get_key(self, account: ProviderAccount, key_id: str) -> PixKey:
        return (await self.list_keys(account))[0]


class Whole(SandboxAdapter):
    async def look_up_key(self, account: ProviderAccount, key: str) -> KeyOwner:
        found = await SandboxAdapter.look_up_key(self, account, key)
        return dataclasses.replace(found, tax_number="52998224725")


class Retried(SandboxAdapter):
    """Reports an unknown bank number as retryable."""

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        to = order.destination
        known = not isinstance(to, BankDestination) or to.bank_number == "341"
        return await SandboxAdapter.create_payout(self, account, order, send_by if known else PAST)


class LateRefunds(SandboxAdapter):
    async def create_refund(
        self, account: ProviderAccount, order: RefundOrder, send_by: Deadline
    ) -> Outcome:
        return await SandboxAdapter.create_refund(self, account, order, FAR)


class EveryRefund(SandboxAdapter):
    """Finds every refund that is looked for."""

    async def find_refund(self, account: ProviderAccount, provider_key: str) -> Any:
        try:
            return await SandboxAdapter.find_refund(self, account, provider_key)
        except NotFound as absent:
            raise Unreachable(Reason.TIMEOUT) from absent


WRONG: Final[tuple[Wrong, ...]] = (
    hearing("every charge is active", "calls.charge_states", told("get_charge", situacao="ATIVA")),
    being("every charge is paid", "calls.charge_paid", Empty),
    hearing("payments have no id", "calls.charge_paid", told("get_charge_payment", e2e=None)),
    hearing("an absent charge is a failure", "calls.charge_absent", nobody_s),
    being("charges are made under another name", "calls.charge_made", OtherReference),
    hearing("charges never end", "calls.charge_made", told("create_charge", expira_em=None)),
    being("a charge is only called cancelled", "calls.charge_made", Unasked),
    hearing("payments were given back", "calls.received",
            told("find_received", devolvido_centavos=1)),
    hearing("one page of payments", "calls.received_pages",
            told("list_received", proximo_cursor=None)),
    hearing("keys given up live on", "calls.key_registered",
            told("cancel_key", situacao="ATIVA")),
    being("any key is the one", "calls.key_found", Guessing),
    being("tax numbers are shown whole", "calls.key_owner", Whole),
    hearing("nothing is blocked", "bank.payout_in_balance",
            told("get_balance", bloqueado_centavos=0)),
    hearing("our keys are not read", "bank.payout_in_statement",
            told("list_statement", chave_idempotencia=None)),
    hearing("nobody is named", "bank.payout_in_statement",
            told("list_statement", contraparte=None)),
    hearing("a refund is under way for ever", "bank.refund_settled",
            told("find_refund", situacao="EM_PROCESSAMENTO")),
    being("refunds have no deadline", "wire.deadline", LateRefunds),
    being("an absent refund is a failure", "bank.refund_again", EveryRefund),
    being("an unknown bank is tried again", "bank.unknown_bank_number", Retried),
)  # fmt: skip

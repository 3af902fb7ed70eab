"""Mistakes about payouts, as tired people make them."""

from __future__ import annotations

import dataclasses
from typing import Final

import msgspec

from gateway.banks.port.payout_orders import PayoutMethod, PayoutOrder
from gateway.banks.port.providers import (
    Accepted,
    NotFound,
    Outcome,
    ProviderAccount,
    Reason,
    Unknown,
)
from gateway.core.clocks import Deadline
from provider_adapters.kit.answers import ProviderAnswer
from provider_adapters.kit.outcomes import Expected
from provider_adapters.kit.requests import ProviderRequest
from provider_adapters.sandbox import payouts, requests
from provider_adapters.sandbox.adapter import SandboxAdapter
from provider_adapters.testing.bank.accounts import PayoutKind
from provider_adapters.testing.sandbox import SANDBOX
from provider_adapters.testing.stages import SandboxStage
from tests.contract.verify.mistaken import (
    REJECTED,
    Hear,
    Wrong,
    being,
    document_of,
    hearing,
    saying,
)

KNOWN: Final = {"EM_PROCESSAMENTO", "EM_ANALISE", "LIQUIDADA", "DEVOLVIDA", "FALHOU"}
LISTED: Final = {
    "ACCOUNT_INVALID": 400, "INSUFFICIENT_FUNDS": 400, "KEY_NOT_FOUND": 400,
    "OWNER_MISMATCH": 400, "REJECTED": 400, "LIMIT_EXCEEDED": 403, "NOT_ALLOWED": 403,
}  # fmt: skip


class RefusingStage(SandboxStage):
    dialect = dataclasses.replace(SANDBOX, payout_kind=PayoutKind.DUP)

    def settings(self, address: str) -> dict[str, object]:
        return {"base_url": address, "repeat": "refuses"}


def unchecked(field: str, sent: str) -> Hear:
    def hear(request: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
        said = document_of(answer.body)
        if request.operation != "create_payout" or field not in said:
            return answer
        wanted = document_of(request.body).get(sent) or request.headers.get(sent)
        return saying(answer, {**said, field: wanted})

    return hear


def rejecting(*statuses: int) -> Hear:
    def hear(request: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
        final = request.operation == "create_payout" and answer.status in statuses
        return saying(answer, REJECTED, 400) if final else answer

    return hear


def any_code(_: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
    """Take a code that the bank documents, and does not call final, for its final word."""
    code = document_of(answer.body).get("error", {}).get("code")
    return saying(answer, REJECTED, 400) if code == "INVALID_REQUEST" else answer


def any_status(request: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
    code = document_of(answer.body).get("error", {}).get("code")
    return msgspec.structs.replace(answer, status=LISTED.get(code, answer.status))


def no_hurry(_: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
    kept = {name: text for name, text in answer.headers.items() if name.lower() != "retry-after"}
    return msgspec.structs.replace(answer, headers=kept)


def word(found: str, meant: str, *, unknown: bool = False) -> Hear:
    """Take a state, or every unknown one, for another."""

    def hear(_: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
        said = document_of(answer.body)
        state = said.get("situacao")
        if "destino" not in said or not (state == found or (unknown and state not in KNOWN)):
            return answer
        return saying(answer, {**said, "situacao": meant})

    return hear


def without(field: str, value: object = None) -> Hear:
    """Take no notice of a field of a payout."""

    def hear(_: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
        said = document_of(answer.body)
        return saying(answer, {**said, field: value}) if "destino" in said else answer

    return hear


def absent_anyway(_: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
    gone = {"error": {"code": "NOT_FOUND", "message": ""}}
    return saying(answer, gone) if answer.status == 404 else answer


class Page(SandboxAdapter):
    """Takes every 200 for a yes."""

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        outcome = await super().create_payout(account, order, send_by)
        if isinstance(outcome, Unknown) and outcome.evidence.http_status == 200:
            evidence = dataclasses.replace(outcome.evidence, reason=Reason.ANSWERED)
            return Accepted(evidence=evidence)
        return outcome


class Trusting(SandboxAdapter):
    async def _compared(self, account: ProviderAccount, order: PayoutOrder) -> Outcome:
        return await self.find_payout(account, order.provider_key, "")


class Uncompared(SandboxAdapter):
    """Never looks at what the bank has under a key."""

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        return await self.client.pay(
            self._payout(account, order),
            lambda answer: payouts.created(answer, payouts.expected(order)),
            send_by,
        )


class Anybody(SandboxAdapter):
    """Compares the amount of a payout that the bank knows, and not where it went."""

    async def _compared(self, account: ProviderAccount, order: PayoutOrder) -> Outcome:
        request = requests.payout(account, order.provider_key, "")
        return await self._found(request, Expected(order.provider_key, order.value))


class KeysAlone(SandboxAdapter):
    """Compares where a payout by key went, and takes one to a bank account as it is."""

    async def _compared(self, account: ProviderAccount, order: PayoutOrder) -> Outcome:
        request = requests.payout(account, order.provider_key, "")
        expected = payouts.expected(order, must_show=True)
        if order.method is PayoutMethod.BANK_ACCOUNT:
            expected = dataclasses.replace(expected, place=None, must_show=False)
        return await self._found(request, expected)


class KeyWanted(SandboxAdapter):
    """Knows no payout again that shows no key."""

    async def _compared(self, account: ProviderAccount, order: PayoutOrder) -> Outcome:
        outcome = await super()._compared(account, order)
        if order.method is PayoutMethod.BANK_ACCOUNT:
            evidence = dataclasses.replace(outcome.evidence, reason=Reason.DESTINATION_MISMATCH)
            return Unknown(evidence)
        return outcome


class Believing(SandboxAdapter):
    async def _found(self, request: ProviderRequest, expected: Expected) -> Outcome:
        def found(answer: ProviderAnswer) -> Outcome:
            key = document_of(answer.body).get("chave_idempotencia", "")
            return payouts.found(answer, dataclasses.replace(expected, provider_key=key))

        return await self.client.read(request, found)


class Impatient(SandboxAdapter):
    """Sends a payout again while its outcome is unknown."""

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        outcome = await super().create_payout(account, order, send_by)
        if isinstance(outcome, Unknown):
            return await super().create_payout(account, order, send_by)
        return outcome


class Timeless(SandboxAdapter):
    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        later = Deadline(60.0, lambda: 0.0)
        return await super().create_payout(account, order, later)


class Hiding(SandboxAdapter):
    """Finds nothing where the payout has failed."""

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, provider_id: str
    ) -> Outcome:
        outcome = await super().find_payout(account, provider_key, provider_id)
        if type(outcome).__name__ == "Rejected":
            raise NotFound(Reason.NOT_FOUND)
        return outcome


WRONG: Final[tuple[Wrong, ...]] = (
    hearing("amounts are not compared", "bank.other_amount",
            unchecked("valor_centavos", "valor_centavos")),
    hearing("keys are not compared", "bank.other_key",
            unchecked("chave_idempotencia", "Idempotency-Key")),
    hearing("an unknown word means failed", "bank.unknown_word", word("", "FALHOU", unknown=True)),
    hearing("401 is the final word", "bank.refusals", rejecting(401)),
    hearing("429 is the final word", "bank.refusals", rejecting(429)),
    hearing("any 400 is the final word", "bank.unlisted_refusals", rejecting(400)),
    hearing("any 404 is the final word", "bank.unlisted_refusals", rejecting(404)),
    hearing("any 5xx is the final word", "bank.unlisted_refusals", rejecting(500, 503)),
    hearing("a documented code is the final word", "bank.doubtful_refusals", any_code,
            sane="bank.unlisted_refusals"),
    hearing("a code counts whatever the status", "bank.unlisted_refusals", any_status),
    hearing("Retry-After is not read", "bank.refusals", no_hurry),
    hearing("end-to-end ids are not looked at", "bank.malformed_e2e_id", without("e2e")),
    hearing("a returned payout has failed", "bank.returned", word("DEVOLVIDA", "FALHOU")),
    hearing("a hold has no end", "bank.held", without("em_analise_ate")),
    hearing("any 404 is absent", "bank.absent", absent_anyway),
    being("whatever is found is ours", "bank.found_with_another_key", Believing),
    hearing("an unknown word means settled", "bank.found_with_unknown_word",
            word("", "LIQUIDADA", unknown=True)),
    being("every 200 is a yes", "bank.unlisted_refusals", Page),
    being("a known key is a yes", "bank.duplicate", Uncompared, stage=RefusingStage),
    being("a known key with another amount is a yes", "bank.duplicate",
          Trusting, stage=RefusingStage),
    being("recipients are not compared", "bank.duplicate", Anybody,
          stage=RefusingStage),
    being("bank accounts are not compared", "bank.duplicate_by_account",
          KeysAlone, stage=RefusingStage, sane="bank.duplicate"),
    being("what shows no key is another's", "bank.duplicate_by_account", KeyWanted,
          stage=RefusingStage, sane="bank.duplicate"),
    being("what is unknown is sent again", "access.payout_refused", Impatient),
    being("a deadline is not kept", "wire.deadline", Timeless),
    being("what failed is not found", "bank.failed_later", Hiding),
)  # fmt: skip

"""Mistakes about what is lost on the way, and what is looked up afterwards."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from gateway.banks.port.charges import Charge, ChargeOrder
from gateway.banks.port.payout_orders import FailureCode, PayoutOrder
from gateway.banks.port.providers import (
    ABOVE_PAYMENT,
    IN_USE,
    Accepted,
    BadReply,
    NotFound,
    NotSent,
    Outcome,
    ProviderAccount,
    Reason,
    Rejected,
    Unknown,
)
from gateway.banks.port.refunds import RefundOrder
from gateway.banks.port.statements import Balance
from gateway.core.clocks import Deadline
from provider_adapters.kit.answers import ProviderAnswer
from provider_adapters.kit.outcomes import Expected
from provider_adapters.kit.requests import ProviderRequest
from provider_adapters.sandbox import mapping, payouts, requests
from provider_adapters.sandbox.adapter import SandboxAdapter
from tests.contract.verify.mistaken import Hear, Wrong, being, document_of, hearing, saying
from tests.contract.verify.wrong_offers import told
from tests.contract.verify.wrong_payouts import without


def status(operation: str, found: int, meant: int, code: str = "") -> Hear:
    def hear(request: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
        if request.operation != operation or answer.status != found:
            return answer
        error = {"error": {"code": code or "SOMETHING", "message": ""}}
        return saying(answer, error, meant)

    return hear


def poor(_: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
    code = document_of(answer.body).get("error", {}).get("code")
    wrong = {"error": {"code": "ACCOUNT_INVALID", "message": ""}}
    return saying(answer, wrong) if code == "INSUFFICIENT_FUNDS" else answer


def slow(form: str = "") -> Hear:
    def hear(_: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
        said = document_of(answer.body)
        to = said.get("destino") or {}
        if said.get("situacao") != "LIQUIDADA" or form not in {"", to.get("forma")}:
            return answer
        return saying(answer, {**said, "situacao": "EM_PROCESSAMENTO"})

    return hear


class Remembered:
    def __init__(self) -> None:
        self.ordered: dict[str, int] = {}

    def __call__(self, request: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
        said = document_of(answer.body)
        if request.operation == "create_payout":
            key = request.headers["Idempotency-Key"]
            self.ordered[key] = document_of(request.body)["valor_centavos"]
        known = self.ordered.get(said.get("chave_idempotencia", ""))
        if request.operation != "find_payout" or known is None:
            return answer
        return saying(answer, {**said, "valor_centavos": known})


class Outcomes(SandboxAdapter):
    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        return self.seen(await SandboxAdapter.create_payout(self, account, order, send_by))

    async def create_refund(
        self, account: ProviderAccount, order: RefundOrder, send_by: Deadline
    ) -> Outcome:
        return self.seen(await SandboxAdapter.create_refund(self, account, order, send_by))

    def seen(self, outcome: Outcome) -> Outcome:
        return outcome


class NothingCame(Outcomes):
    """Takes what was not answered for what was not sent."""

    def seen(self, outcome: Outcome) -> Outcome:
        if not isinstance(outcome, Unknown):
            return outcome
        return NotSent(dataclasses.replace(outcome.evidence, bytes_left=False))


class GivesUp(Outcomes):
    """Takes what was not answered for what has failed."""

    def seen(self, outcome: Outcome) -> Outcome:
        if not isinstance(outcome, Unknown):
            return outcome
        return Rejected(evidence=outcome.evidence, failure=FailureCode.OTHER)


class NeverSure(Outcomes):
    """Takes what was not sent for what was not answered."""

    def seen(self, outcome: Outcome) -> Outcome:
        return Unknown(outcome.evidence) if isinstance(outcome, NotSent) else outcome


class NeverSureOfTls(Outcomes):
    """Takes a handshake that did not end for a request that was not answered."""

    def seen(self, outcome: Outcome) -> Outcome:
        refused = outcome.evidence.reason == Reason.CONNECT_FAILED
        return outcome if refused or not isinstance(outcome, NotSent) else Unknown(outcome.evidence)


class Generous(Outcomes):
    refused = IN_USE

    def seen(self, outcome: Outcome) -> Outcome:
        if isinstance(outcome, Rejected) and outcome.evidence.reason == self.refused:
            return Accepted(evidence=outcome.evidence)
        return outcome


class MoreGenerous(Generous):
    refused = ABOVE_PAYMENT


class Unlooked(SandboxAdapter):
    """Compares key and amount of an answer, and not where the money went."""

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        expected = Expected(order.provider_key, order.value)
        return await self.client.pay(
            self._payout(account, order),
            lambda answer: payouts.created(answer, expected),
            send_by,
        )


class Untyped(SandboxAdapter):
    async def get_balance(self, account: ProviderAccount) -> Balance:
        try:
            return await SandboxAdapter.get_balance(self, account)
        except BadReply as failure:
            name = "saldo"
            raise KeyError(name) from failure


class Once(SandboxAdapter):
    """Never reads again."""

    async def get_balance(self, account: ProviderAccount) -> Balance:
        return await self.client.change(requests.balance(account), mapping.balance)


class Repeated(SandboxAdapter):
    """Makes a charge once more when the answer is lost."""

    async def create_charge(self, account: ProviderAccount, order: ChargeOrder) -> Charge:
        request = requests.create_charge(account, order)
        return await self.client.read(
            request, lambda answer: mapping.changed_charge(answer, self.now())
        )


class ByIdAlone(SandboxAdapter):
    """Finds nothing without the bank's id."""

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, provider_id: str
    ) -> Outcome:
        if not provider_id:
            raise NotFound(Reason.NOT_FOUND)
        return await SandboxAdapter.find_payout(self, account, provider_key, provider_id)


class Payer(SandboxAdapter):
    """Looks for payouts where it paid last."""

    last: ProviderAccount

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        object.__setattr__(self, "last", account)
        return await SandboxAdapter.create_payout(self, account, order, send_by)

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, provider_id: str
    ) -> Outcome:
        return await SandboxAdapter.find_payout(self, self.last, provider_key, provider_id)


class Deaf(SandboxAdapter):
    async def remove_callback(self, account: ProviderAccount, callback_id: str) -> Any:
        return None


WRONG: Final[tuple[Wrong, ...]] = (
    being("no answer means not sent", "wire.create_payout_by_key", NothingCame),
    being("no answer means failed", "wire.create_payout_by_account", GivesUp),
    being("no answer means not given back", "wire.create_refund", GivesUp),
    being("nobody there is unknown", "wire.unreached", NeverSure),
    being("no TLS is unknown", "wire.unreached", NeverSureOfTls),
    being("a bad answer is a KeyError", "wire.get_balance", Untyped),
    being("a read is made once", "wire.read_again", Once),
    being("a lost charge is made again", "wire.create_charge", Repeated),
    hearing("401 is any refusal", "bank.wrong_credentials", status("get_balance", 401, 400)),
    hearing("no funds is a wrong account", "bank.insufficient_funds", poor),
    being("an answer's recipient is not read", "bank.other_recipient", Unlooked),
    hearing("nothing ever settles", "bank.settled", slow()),
    hearing("accounts never settle", "bank.settled_by_account", slow("conta")),
    hearing("absent is a failure", "bank.absent", status("find_payout", 404, 502)),
    being("keys find nothing", "bank.absent_then_visible", ByIdAlone),
    being("all accounts are one", "bank.other_account", Payer),
    hearing("what was ordered was paid", "bank.found_with_another_amount", Remembered()),
    hearing("found ids are not looked at", "bank.found_with_malformed_e2e_id", without("e2e")),
    hearing("a known refund is refused", "bank.refund_again",
            status("create_refund", 200, 422, "KEY_REUSED")),
    being("a refund of another amount is one", "bank.refund_again", Generous),
    being("more is given back than came", "bank.refund_again", MoreGenerous),
    hearing("a reference in use is refused", "calls.charge_made",
            status("create_charge", 409, 400)),
    hearing("more is blocked than by blocks", "calls.blocks",
            told("get_balance", bloqueado_centavos=1)),
    being("addresses stay", "calls.callback_address", Deaf),
)  # fmt: skip

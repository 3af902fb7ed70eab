"""The adapter to the simulated bank: the port's promises, and no more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gateway.banks.port.capabilities import Capabilities, EntryField, Lookup, PortCall, Repeat
from gateway.banks.port.payout_orders import FailureCode, PayoutMethod, PayoutOrder
from gateway.banks.port.providers import (
    Accepted,
    Bank,
    Evidence,
    NotFound,
    NotSent,
    NotSupported,
    Outcome,
    Page,
    Phase,
    ProviderAccount,
    Rejected,
    Settled,
    Unavailable,
    Unknown,
)
from gateway.banks.port.statements import Entry
from gateway.core.account import Account
from gateway.core.clocks import Deadline
from gateway.core.windows import Window
from tests.proofs.simulation.bank import QUIET, QUIET_WINDOW, SimulatedBank

_CONNECT_S = 30.0


class SimulatedAdapter:
    """Sends once, within its deadline; whatever is not listed is unknown."""

    def __init__(self, bank: SimulatedBank, wrote: Callable[[str, int], None]) -> None:
        self._bank, self._wrote = bank, wrote
        kind, lookup = bank.scenario.kind, bank.scenario.lookup
        quiet = QUIET_WINDOW if kind is Repeat.IGNORES else QUIET
        by = frozenset(Lookup) if lookup else frozenset({Lookup.BANK_ID})
        self.capabilities = Capabilities(
            calls=frozenset(
                {PortCall.CREATE_PAYOUT, PortCall.FIND_PAYOUT, PortCall.LIST_STATEMENT}
            ),
            destinations=frozenset(PayoutMethod),
            repeat=kind,
            lookup=by,
            absent_after=quiet if lookup else None,
            entry_fields=frozenset({EntryField.E2E_ID, EntryField.OUR_KEY}),
        )

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        bank = self._bank
        slow = bank.may(bank.scenario.refused, "slow connect")
        await asyncio.sleep(round(bank.around.chance.random() * (_CONNECT_S if slow else 0.2), 1))
        if bank.may(bank.scenario.refused, "connect refused"):
            return NotSent(_evidence(Phase.CONNECTING, "refused", left=False))
        if not self.may_write(send_by):
            return NotSent(_evidence(Phase.CONNECTED, "too_late", left=False))
        self._wrote(order.provider_key, order.value.centavos)
        reply = bank.send(order)
        try:
            async with asyncio.timeout(max(0.0, send_by.left())):
                said = await reply
        except TimeoutError:
            return self.silence()
        return self.read(said, order)

    def may_write(self, send_by: Deadline) -> bool:
        """The deadline is looked at in the step that writes (R13)."""
        return not send_by.passed()

    def silence(self) -> Outcome:
        """No answer proves nothing (R6)."""
        return Unknown(_evidence(Phase.SENT, "timeout", left=True))

    def read(self, said: str, order: PayoutOrder) -> Outcome:
        """Only listed answers are definite (R6); a duplicate is ours (R5)."""
        answered = _evidence(Phase.ANSWERED, said, left=True)
        match said:
            case "accepted" | "duplicate":
                return Accepted(evidence=answered)
            case "held":
                until = self._bank.hold_of(order.provider_key)
                return Accepted(evidence=answered, held_until=until)
            case "settled":
                return Settled(evidence=answered, value=order.value)
            case "rejected":
                return Rejected(evidence=answered, failure=FailureCode.INSUFFICIENT_FUNDS)
            case "forbidden":
                code = FailureCode.LIMIT_EXCEEDED
                return Rejected(evidence=answered, failure=code, forbidden=True)
            case "malformed":
                problem = "an adapter's mistake"
                raise ValueError(problem)
            case _:
                return self.unclear(answered)

    def unclear(self, answered: Evidence) -> Outcome:
        """A server error proves nothing (R6)."""
        return Unknown(answered)

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, provider_id: str
    ) -> Outcome:
        if not self.capabilities.finds(provider_id):
            problem = "by key"
            raise NotSupported(problem)
        await self._there()
        record = self._bank.known(provider_key)
        said = None if record is None else self._bank.says(record)
        await self._back()
        if said is None:
            problem = "absent"
            raise NotFound(problem, http_status=404)
        return said

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        await self._there()
        entries = self._bank.statement()
        await self._back()
        return Page(items=entries, next_cursor=None)

    async def _there(self) -> None:
        await asyncio.sleep(self._bank.delay(10.0))
        if self._bank.may(self._bank.scenario.read_errors, "look-up failed"):
            problem = "server_error"
            raise Unavailable(problem, http_status=503)

    async def _back(self) -> None:
        if self._bank.may(self._bank.scenario.loss, "look-up lost"):
            await asyncio.sleep(3600.0)
        await asyncio.sleep(self._bank.delay(10.0))


class OnlyBank:
    """Every account's bank."""

    def __init__(self, adapter: SimulatedAdapter) -> None:
        self.adapter = adapter

    def of(self, account: Account) -> Bank | None:
        known = ProviderAccount(account_id=account.id, provider_account=account.provider_account)
        return Bank(account.provider, self.adapter, known, read_only=False)  # type: ignore[arg-type]


def _evidence(phase: Phase, reason: str, *, left: bool) -> Evidence:
    return Evidence(phase=phase, bytes_left=left, reason=reason)

"""What is read of an account at its bank: balance, charges, PIX keys, movements, incoming money."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from typing import Final

from gateway.domain.accounts.accounts import Account
from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.charges import Charge, ChargePayment
from gateway.domain.bank.pix_keys import PixKey
from gateway.domain.bank.providers import BadReply, Banks
from gateway.domain.bank.refunds import IncomingPayment, IncomingSearch
from gateway.domain.bank.statements import Balance, Block, Entry
from gateway.domain.kernel import errors
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.windows import Window
from gateway.domain.requests.calls import Caller
from gateway.operations.bank.charge_records import KeptCharges
from gateway.operations.bank.connections import bank_of, offered
from gateway.operations.bank.pages import Listed, listed, within
from gateway.operations.kernel.audit_context import RuleViolation

# Blocks whose beginning is not told stand first.
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# Looking a member up by its name costs Python 3.11 a call each time.
_GET_BALANCE: Final = PortCall.GET_BALANCE


@dataclass(frozen=True, slots=True)
class Balances:
    """Reads balances, always live (contract 2.3)."""

    banks: Banks

    async def read(self, caller: Caller, _taken: None) -> Balance:
        """Ask the bank; raises ``ProviderError`` without a usable answer."""
        bank = bank_of(self.banks, caller.account)
        return await offered(bank, _GET_BALANCE).get_balance(bank.account)


@dataclass(frozen=True, slots=True)
class Blocks:
    """Reads what is held back of a balance, always live (back office)."""

    banks: Banks

    async def read(self, caller: Caller, _taken: None) -> Sequence[Block]:
        """
        Return every block, oldest first.

        Raises:
            ServiceError: ``SVC.ACC.005`` (422) when no provider is configured.
            NotSupported: the bank does not offer it.
            ProviderError: the bank gave no usable answer.
        """
        bank = bank_of(self.banks, caller.account)
        found = await offered(bank, PortCall.LIST_BLOCKS).list_blocks(bank.account)
        return sorted(found, key=lambda each: each.since or _EPOCH)


@dataclass(frozen=True, slots=True)
class Charges:
    """Reads charges from the bank (contract 2.4, 2.5)."""

    banks: Banks
    now: Now
    kept: KeptCharges

    async def read(self, caller: Caller, reference: str) -> Charge:
        """
        Return a charge as a QR code.

        Raises:
            NotFound: the bank has none of that reference.
            ServiceError: ``SVC.PIX.005`` (404) when it has expired.
        """
        bank = bank_of(self.banks, caller.account)
        charge = await offered(bank, PortCall.GET_CHARGE).get_charge(bank.account, reference)
        self.kept.read(caller.account, charge)
        if charge.is_expired(self.now()):
            raise ServiceError(errors.CHARGE_NOT_FOUND, "expired")
        return charge

    async def read_payment(self, caller: Caller, reference: str) -> ChargePayment:
        """Return a charge as a transaction, pending until paid; raises ``NotFound``."""
        bank = bank_of(self.banks, caller.account)
        calls = offered(bank, PortCall.GET_CHARGE_PAYMENT)
        payment = await calls.get_charge_payment(bank.account, reference)
        self.kept.read_payment(caller.account, payment)
        return payment


@dataclass(frozen=True, slots=True)
class OwnedKey:
    """A key with the id it is shown under."""

    id: str
    key: PixKey


@dataclass(frozen=True, slots=True)
class PixKeys:
    """Reads keys from the bank (contract 2.8)."""

    banks: Banks

    async def list(self, caller: Caller, _taken: None) -> Sequence[OwnedKey]:
        """Return every key; raises ``ProviderError`` without a usable answer."""
        bank = bank_of(self.banks, caller.account)
        keys = await offered(bank, PortCall.LIST_KEYS).list_keys(bank.account)
        return [OwnedKey(key.public_id(caller.account.id), key) for key in keys]

    async def read(self, caller: Caller, key_id: str) -> OwnedKey:
        """Return one key; raises ``NotFound`` when the bank has none of that id."""
        bank = bank_of(self.banks, caller.account)
        key = await offered(bank, PortCall.GET_KEY).get_key(bank.account, key_id)
        return OwnedKey(key_id, key)


MOST = 20_000
"""Movements of a report that is made whole; more belong into several windows."""
MOST_PACKED = 200_000
"""Movements of one that is written piece by piece: some 16 MB until its last one."""
_MOST_PAGES: Final = 10_000
"""As many in pages of twenty, the smallest that a bank may reasonably have."""


@dataclass(frozen=True, slots=True)
class AccountMovements:
    """Reads movements from the bank (contract 4.3)."""

    banks: Banks
    most: int = MOST

    async def movements(self, account: Account, window: Window) -> Sequence[Entry]:
        """
        Return every movement of a window, newest first.

        Raises:
            RuleViolation: there are more than ``most``.
            ServiceError: ``SVC.ACC.005`` (422) when no provider is configured.
            ProviderError: the bank gave no usable answer.
        """
        entries: list[Entry] = []
        async for page in self.pages(account, window, self.most):
            entries += page
        return sorted(entries, key=attrgetter("created_at"), reverse=True)

    async def pages(
        self, account: Account, window: Window, most: int
    ) -> AsyncGenerator[Sequence[Entry], None]:
        """Return the movements of a window as the bank tells them; raises as ``movements`` does."""
        bank = bank_of(self.banks, account)
        size = bank.adapter.capabilities.largest_page
        calls = offered(bank, PortCall.LIST_STATEMENT)
        counted, cursor = 0, None
        for _ in range(_MOST_PAGES):
            page = await calls.list_statement(bank.account, window, cursor, size)
            counted += len(page.items)
            if counted > most:
                message = f"more than {most} movements: ask for fewer days"
                raise RuleViolation(message, "too_many_movements")
            yield page.items
            if page.next_cursor is None:
                return
            if page.next_cursor == cursor:
                break
            cursor = page.next_cursor
        problem = "endless_list"
        raise BadReply(problem)


@dataclass(frozen=True, slots=True)
class Incoming:
    """Reads the payments of an account (contract 4.3)."""

    banks: Banks
    kept: KeptCharges

    async def search(self, account: Account, wanted: IncomingSearch) -> Listed[IncomingPayment]:
        """
        Return a page of payments, newest first; the window is read whole from the bank.

        Raises:
            ServiceError: ``SVC.ACC.005`` (422) when no provider is configured.
            NotSupported: the bank does not offer it.
            ProviderError: the bank gave no usable answer.
        """
        bank = bank_of(self.banks, account)
        calls = offered(bank, PortCall.LIST_RECEIVED)
        size = bank.adapter.capabilities.largest_page
        payments = await within(
            wanted.search.window,
            lambda days, cursor: calls.list_received(bank.account, days, cursor, size),
            lambda each: each.paid_at,
        )
        for each in payments:
            self.kept.came_in(account, each)
        chosen = [each for each in payments if wanted.status in {None, each.status}]
        return listed(chosen, wanted.search.paging)

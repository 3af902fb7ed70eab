"""What happens at the accounts: payouts through the gateway, payments and refunds at the bank."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import aiohttp
import msgspec

from gateway.core.account import Environment
from gateway.core.money import Money
from gateway.payouts.model import provider_key
from provider_adapters.testing.bank.control_client import ControlRefused
from provider_adapters.testing.bank.magic_values import COMES_BACK, FAILS_LATER, REFUSED
from tests.proofs.events.world import World
from tests.proofs.torture.sites import Account

PARTNERS = 4
_TRIES = 25
_PATIENCE = aiohttp.ClientTimeout(total=20)
_PAID = "payout"
_WAYS = {
    _PAID: 40,
    "payout failed later": 6,
    "payout refused": 6,
    "payout that comes back": 6,
    "part of a payout returned": 8,
    "charge paid": 20,
    "payment without a charge": 6,
    "refund": 8,
}
_MAGIC = {
    "payout failed later": FAILS_LATER,
    "payout refused": REFUSED,
    "payout that comes back": COMES_BACK,
}


@dataclass(slots=True)
class Changes:
    """
    Makes changes until there are enough.

    Attributes:
        more: Whether another change is wanted.
        due_at: When the next one is made, by the monotonic clock, given how many there were.
        orders: Payouts that were answered 200, by account and reference; the refusal of one that
            was never taken is no change.
        paid: Payments by account and end-to-end id.
    """

    world: World
    more: Callable[[int], bool]
    due_at: Callable[[int], float]
    made: int = 0
    orders: list[tuple[Account, str]] = field(default_factory=list)
    paid: list[tuple[Account, str]] = field(default_factory=list)

    async def run(self) -> None:
        """Let several partners act at once."""
        async with asyncio.TaskGroup() as group:
            for _ in range(PARTNERS):
                group.create_task(self._partner())

    async def _partner(self) -> None:
        while self.more(self.made):
            number, self.made = self.made, self.made + 1
            await asyncio.sleep(max(0.0, self.due_at(number) - time.monotonic()))
            await self._change()

    async def _change(self) -> None:
        """Make one change; what is impossible just now becomes a payout."""
        chance = self.world.chance
        way = chance.choices([*_WAYS], [*_WAYS.values()])[0]
        account = chance.choice(self.world.accounts)
        try:
            match way:
                case "part of a payout returned" if self.orders:
                    await self._give_back()
                case "charge paid":
                    await self._charge(account)
                case "payment without a charge":
                    await self._pay_in(account)
                case "refund" if self.paid:
                    await self._refund()
                case _:
                    way = way if way in _MAGIC else _PAID
                    await self._pay(_MAGIC.get(way) or chance.randint(100, 60_000))
        except ControlRefused as refusal:
            # It has not settled yet, or all of it is back.
            self.world.tally.others[f"not possible at the bank: {refusal.code}"] += 1
            way = _PAID
            await self._pay(chance.randint(100, 60_000))
        self.world.tally.changes[way] += 1

    async def _pay(self, centavos: int) -> None:
        """Order a payout until it is answered, as the guide says; give up after many tries."""
        account = self.world.chance.choice(self.world.payers)
        reference = f"e-{uuid.UUID(int=self.world.chance.getrandbits(128))}"
        body = msgspec.json.encode(
            {
                "method": "pix",
                "reference": reference,
                "value": centavos / 100,
                "date": self.world.today().isoformat(),
                "destination": {
                    "name": "Maria Silva",
                    "tax_number": "52998224725",
                    "key_type": "email",
                    "key": f"maria{centavos}@example.com",
                },
            }
        )
        for tries in range(_TRIES):
            status = await self._order(account, body)
            if status == 200:
                self.orders.append((account, reference))
            if status in (200, 400, 403):
                return
            await asyncio.sleep(min(2.0, 0.1 * 2**tries))
        self.world.tally.others["payouts given up"] += 1

    async def _order(self, account: Account, body: bytes) -> int:
        """Ask once; return the status, or 0 without an answer."""
        url = f"{self.world.serving()}/baas/v1/account/{account.id}/withdraw"
        headers = {"Authorization": account.authorization, "Content-Type": "application/json"}
        with suppress(aiohttp.ClientError, TimeoutError, OSError):
            async with self.world.session.post(
                url, data=body, headers=headers, timeout=_PATIENCE
            ) as said:
                await said.read()
                return said.status
        return 0

    async def _give_back(self) -> None:
        """Let the bank send a part of a payout back."""
        account, reference = self.world.chance.choice(self.orders)
        key = provider_key(Environment.SANDBOX, account.id, reference)
        await self.world.control.post("payouts", key, "return", body={"value": Money(1)})

    async def _charge(self, account: Account) -> None:
        """Have a charge paid."""
        control, there = self.world.control, self.world.bank_ids[account.id]
        reference = f"c-{uuid.UUID(int=self.world.chance.getrandbits(128))}"
        wanted = {"reference": reference, "value": Money(self.world.chance.randint(100, 60_000))}
        await control.post("accounts", there, "charges", body=wanted)
        paid = await control.post("charges", reference, "pay", body={}, query={"account": there})
        self.paid.append((account, str(paid["e2e_id"])))

    async def _pay_in(self, account: Account) -> None:
        """Pay something that names no charge: a walk finds it, and nothing else does."""
        there = self.world.bank_ids[account.id]
        value = Money(self.world.chance.randint(100, 60_000))
        paid = await self.world.control.post("accounts", there, "incoming", body={"value": value})
        self.paid.append((account, str(paid["e2e_id"])))

    async def _refund(self) -> None:
        """Give a part of a payment back, as ordered at the bank itself."""
        account, e2e_id = self.world.chance.choice(self.paid)
        key = f"{self.world.chance.getrandbits(128):032x}"
        body = {"e2e_id": e2e_id, "value": Money(1), "key": key}
        there = self.world.bank_ids[account.id]
        await self.world.control.post("accounts", there, "refunds", body=body)

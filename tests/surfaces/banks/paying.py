"""What tests of payouts at a simulated bank share: orders, outcomes, faults and callbacks."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from gateway.banks.connections import ConnectedBanks
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.callbacks.registrations import CallbackRegistrations
from gateway.net.common.runtime import chance
from gateway.payouts.reconciler import Reconciler, Work
from tests.surfaces.banks.every_bank import AtBank
from tests.world.backoffice.operations import BANK_PAYEE
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import order
from tests.world.waiting import until

TO_ACCOUNT = {"method": "bank_account", "destination": BANK_PAYEE}


def payout(bank: AtBank, **changed: object) -> dict[str, Any]:
    return order(f"at-{uuid.uuid4()}", bank.office.world.today(), **changed)


async def ended(bank: AtBank, reference: str) -> dict[str, Any]:
    """Read a payout until it is no longer processing."""

    async def found() -> dict[str, Any] | None:
        document = (await bank.partner("GET", f"/withdraw/{reference}")).document
        return None if document["status"] == "processing" else dict(document)

    return dict(await until(found))


async def executed(bank: AtBank) -> list[int]:
    return [row["centavos"] for row in (await bank.control.get("executions"))["data"]]


@asynccontextmanager
async def failing(bank: AtBank, operation: str, fault: str, **more: object) -> AsyncIterator[None]:
    await bank.control.post("faults", body={"operation": operation, "fault": fault, **more})
    try:
        yield
    finally:
        await bank.control.delete("faults")


def said(answer: Answer) -> tuple[int, object]:
    return answer.status, answer.document.get("code", answer.document.get("status"))


def registrations_of(bank: AtBank) -> CallbackRegistrations:
    """Return what registers addresses for callbacks at a bank."""
    world = bank.office.world
    kernel = world.gateway.kernel
    return CallbackRegistrations(
        accounts=kernel.store.accounts,
        banks=ConnectedBanks(world.gateway.connections, kernel.keys.sealer.open),
        audit=kernel.store.audit,
        acting=world.office.acting,
    )


@asynccontextmanager
async def told_at(bank: AtBank, order: CallbackOrder) -> AsyncIterator[None]:
    """Have the bank send callbacks to an address."""
    registrations = registrations_of(bank)
    made = await registrations.register(bank.account, order)
    try:
        yield
    finally:
        await registrations.remove(bank.account, made.id)


async def callbacks(bank: AtBank, key: str) -> list[dict[str, Any]]:
    listed = await bank.office.ask("GET", "/backoffice/v1/webhooks?limit=100")
    return [each for each in listed.document["data"] if each["subject"] == key]


async def done(bank: AtBank, key: str) -> dict[str, Any]:

    async def is_done() -> bool:
        return any(each["state"] == "done" for each in await callbacks(bank, key))

    await until(is_done)
    (found,) = await callbacks(bank, key)
    return found


async def in_review(bank: AtBank, reference: str, after: timedelta) -> bool:
    """Follow up as if so much time had passed; say whether a person is asked."""
    services = bank.office.world.gateway.services
    kernel = services.kernel

    def later() -> datetime:
        return kernel.now() + after

    work = Work(
        due=kernel.store.follow_ups,
        find_account=kernel.store.accounts.find,
        follow_up=services.payouts.follow_up,
        now=later,
        owner=kernel.new_id(),
        chance=chance,
        tell=kernel.observer.unsettled,
    )
    await Reconciler(work).run_once()
    found = await kernel.store.payouts.find(bank.account.id, reference)
    assert found is not None
    return found.review

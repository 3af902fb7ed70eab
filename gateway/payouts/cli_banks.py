"""What ``pixgate payouts probe`` and ``verify`` ask banks for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from gateway.app.build_backoffice import build_account_service
from gateway.app.build_payouts import build_follow_up, build_reconciler
from gateway.app.sandbox import simulator
from gateway.cli.context import AdminContext, reached
from gateway.config.settings import Settings
from gateway.core import trace
from gateway.core.access import Staff
from gateway.core.account import Environment
from gateway.core.money import Money
from gateway.core.windows import Window
from gateway.payouts.model import Payout
from gateway.payouts.verification import Execution, Report, Verification

Books = Callable[[], Awaitable[Sequence[Execution]]]


async def probed(office: AdminContext, payout: Payout) -> Payout:
    """
    Look at a payout as the reconciler does, once, and keep the act on record.

    What the bank says is stored; that a person should look is not: the
    reconciler stores that with its next look.
    """
    store, acting = office.kernel.store, office.acting
    async with reached(office) as banks:
        trace.begin(trace.new_trace_id())
        follow_up = build_follow_up(office.kernel, banks)
        seen = await build_reconciler(office.kernel, follow_up).look_at(payout)
    details = {"before": payout.state.value, "after": seen.state.value}
    await store.audit.append(
        acting.event("payout.probed", f"payout:{payout.provider_key}", details)
    )
    return seen


async def verified(office: AdminContext, account_id: str | None, window: Window) -> Report:
    """Compare the payouts of one account, or of all, with what their banks executed."""
    accounts, who = build_account_service(office.kernel), Staff(office.acting)
    chosen = [await accounts.find(who, account_id)] if account_id else await accounts.every(who)
    async with reached(office) as banks:
        verification = Verification(
            payouts=office.kernel.store.payouts,
            follow_ups=office.kernel.store.follow_ups,
            returns=office.kernel.store.returns,
            banks=banks,
            now=office.acting.now,
            books=sandbox_books(office.kernel.settings),
        )
        return await verification.verify(chosen, window)


def sandbox_books(settings: Settings) -> Books | None:
    """Return the sandbox bank's own list of executions; None where no provider is one."""
    adapters = {provider.adapter for provider in settings.providers.values()}
    if settings.environment is not Environment.SANDBOX or "sandbox" not in adapters:
        return None

    async def books() -> list[Execution]:
        control = simulator().ControlPort(lambda: settings.sandbox_bank.control_url)
        told = await control.get("executions")
        return [
            Execution(
                key=row["key"] or "",
                e2e_id=row["e2e_id"],
                value=Money(row["centavos"]),
                at=datetime.fromisoformat(row["at"]),
            )
            for row in told["data"]
        ]

    return books

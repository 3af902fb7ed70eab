"""Approvals over a real store, for two people and whatever they decide on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from gateway.app.store import Store
from gateway.approvals.service import ApprovalConfig, Approvals
from gateway.core.money import Money
from tests.world.exports import exports

NOTHING = Money(0)


def approval_config(
    now: Callable[[], datetime], new_id: Callable[[], str], above: Money | None = NOTHING
) -> ApprovalConfig:
    """Let every order above an amount wait; what is sealed can be read."""
    return ApprovalConfig(
        above=above,
        now=now,
        new_id=new_id,
        seal=lambda text, row: f"{row}|{text}".encode(),
        open=lambda sealed, row: sealed.decode().removeprefix(f"{row}|"),
    )


def approvals_on(store: Store, config: ApprovalConfig, money: Any = None) -> Approvals:
    nothing: Any = None
    return Approvals(
        store=store.approvals,
        audit=store.audit,
        users=store.identity.users,
        money=money,
        known=nothing,
        config=config,
        exports=exports(),
    )

"""Accounts that a test changes in a store of its own or of another process."""

from typing import Any

from gateway.accounts.model import AccountChange
from gateway.app.commands.context import AdminContext
from gateway.app.services import Services
from gateway.core.access import Staff
from gateway.core.account import Account


async def change_account(office: AdminContext, account_id: str, **wanted: Any) -> Account:
    accounts, who = Services(office.kernel).accounts, Staff(office.acting)
    return await accounts.change(who, await accounts.find(who, account_id), AccountChange(**wanted))

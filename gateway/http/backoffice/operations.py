"""What the rows on accounts run."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.operations.backoffice.approvals import Approvals
from gateway.operations.backoffice.bank_connections import BankConnections
from gateway.operations.backoffice.visible_accounts import VisibleAccounts
from gateway.operations.bank.orders import ChargeOrders, PixKeyOrders
from gateway.operations.bank.reads import Balances, Blocks, Charges, Incoming, PixKeys, Statements
from gateway.operations.bank.refunds import Refunds
from gateway.operations.bank.reports import Reports
from gateway.operations.payouts.payouts import Payouts
from gateway.operations.payouts.records import PayoutLists


@dataclass(frozen=True, slots=True, kw_only=True)
class BackOfficeOperations:
    """
    The operations of contract 4.3.

    Attributes:
        approvals: Where people's payouts and refunds go first.
        alphanumeric_cnpj: Whether inputs take the CNPJ with letters.
    """

    accounts: VisibleAccounts
    connections: BankConnections
    balances: Balances
    blocks: Blocks
    statements: Statements
    reports: Reports
    pix_keys: PixKeys
    key_orders: PixKeyOrders
    charges: Charges
    charge_orders: ChargeOrders
    incoming: Incoming
    refunds: Refunds
    payouts: Payouts
    payout_lists: PayoutLists
    approvals: Approvals
    alphanumeric_cnpj: bool = False

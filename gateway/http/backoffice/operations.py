"""What the rows on accounts run."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.operations.approvals import Approvals
from gateway.operations.balances import Balances
from gateway.operations.bank_connections import BankConnections
from gateway.operations.charge_orders import ChargeOrders
from gateway.operations.charges import Charges
from gateway.operations.incoming import Incoming
from gateway.operations.payout_lists import PayoutLists
from gateway.operations.payouts import Payouts
from gateway.operations.pix_key_orders import PixKeyOrders
from gateway.operations.pix_keys import PixKeys
from gateway.operations.refunds import Refunds
from gateway.operations.reports import Reports
from gateway.operations.statements import Statements
from gateway.operations.visible_accounts import VisibleAccounts


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficeOperations:
    """
    The operations of contract 4.3.

    Attributes:
        approvals: Where people's payouts and refunds go first.
        alphanumeric_cnpj: Whether inputs take the CNPJ with letters.
    """

    accounts: VisibleAccounts
    connections: BankConnections
    balances: Balances
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

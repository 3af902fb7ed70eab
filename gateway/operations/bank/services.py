"""Every operation on an account at its bank, built once."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.bank.providers import Banks
from gateway.operations.bank.charge_records import ChargeList, KeptCharges
from gateway.operations.bank.orders import ChargeOrders, PixKeyOrders
from gateway.operations.bank.reads import Balances, Blocks, Charges, Incoming, PixKeys
from gateway.operations.bank.refunds import Refunds
from gateway.operations.bank.reports import Reports
from gateway.operations.bank.statements import Statements


@dataclass(frozen=True, slots=True, kw_only=True)
class BankServices:
    """
    The operations of the room bank.

    Attributes:
        banks: Finds the bank behind an account.
        charge_orders, key_orders: What users change; reads stand beside them.
    """

    banks: Banks
    balances: Balances
    blocks: Blocks
    statements: Statements
    reports: Reports
    pix_keys: PixKeys
    key_orders: PixKeyOrders
    charges: Charges
    kept_charges: KeptCharges
    charge_list: ChargeList
    charge_orders: ChargeOrders
    incoming: Incoming
    refunds: Refunds

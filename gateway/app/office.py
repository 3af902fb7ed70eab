"""The back office's operations with everything they need."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from gateway.app.people_surfaces import PeopleQuestions
from gateway.config.settings import Settings
from gateway.domain.accounts.accounts import Accounts, Companies
from gateway.domain.backoffice.approvals import Approvals as ApprovalStore
from gateway.domain.bank.providers import Banks
from gateway.domain.kernel.audit import Audit
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.strict import amount
from gateway.http.backoffice.operations import BackOfficeOperations
from gateway.http.backoffice.surface import BackOfficeQuestions
from gateway.http.banking.routes import Operations
from gateway.operations.backoffice.access_orders import BackOfficeCarriers
from gateway.operations.backoffice.approvals import Approvals, ApprovalTerms
from gateway.operations.backoffice.bank_connections import BankConnections
from gateway.operations.backoffice.money_orders import MoneyOrders
from gateway.operations.backoffice.visible_accounts import VisibleAccounts
from gateway.operations.bank.orders import ChargeOrders, PixKeyOrders
from gateway.operations.bank.reads import AccountMovements, Incoming
from gateway.operations.bank.refunds import Refunds, RefundTerms
from gateway.operations.bank.reports import Reports
from gateway.operations.payouts.lists import PayoutLists
from gateway.runtime.records.lookups import within
from policies.authorization.visible_account import VisibleAccount


@dataclass(frozen=True, slots=True, kw_only=True)
class BackOfficeStored:
    """
    Where the back office's things are kept.

    Attributes:
        seal, open: Encrypt a text for the row of an id, and decrypt it.
    """

    accounts: Accounts
    companies: Companies
    audit: Audit
    approvals: ApprovalStore
    seal: Callable[[str, str], bytes]
    open: Callable[[bytes, str], str]


def backoffice_questions(
    settings: Settings, stored: BackOfficeStored, who: PeopleQuestions, now: Now
) -> BackOfficeQuestions:
    """Make the policies; accounts are not cached, so that a change is seen at once."""
    find = within(settings.database.auth_timeout_s, stored.accounts.find)
    return BackOfficeQuestions(
        bearer=who.bearer,
        persons=who.persons,
        account=VisibleAccount(find),
        now=now,
        factor_roles=settings.factor_roles,
    )


def backoffice_operations(
    settings: Settings,
    stored: BackOfficeStored,
    does: Operations,
    now: Now,
    office: BackOfficeCarriers,
) -> BackOfficeOperations:
    """Make the operations; those of partners are the same ones."""
    banks = does.balances.banks
    refunds = _refunds(settings, stored, does, now)
    return BackOfficeOperations(
        accounts=VisibleAccounts(stored.accounts, stored.companies),
        connections=BankConnections(banks, stored.audit),
        balances=does.balances,
        statements=does.statements,
        reports=_reports(settings, banks, now),
        pix_keys=does.pix_keys,
        key_orders=PixKeyOrders(banks, stored.audit),
        charges=does.charges,
        charge_orders=ChargeOrders(banks, stored.audit),
        incoming=Incoming(banks),
        refunds=refunds,
        payouts=does.payouts,
        payout_lists=PayoutLists(does.payouts.store),
        approvals=Approvals(
            store=stored.approvals,
            users=office.users,
            money=_money(stored, does, refunds, now),
            office=office,
            terms=_terms(settings, stored, now),
        ),
        alphanumeric_cnpj=settings.validation.alphanumeric_cnpj,
    )


def _reports(settings: Settings, banks: Banks, now: Now) -> Reports:
    """Make what writes an account's movements into files."""
    movements = AccountMovements(banks)
    return Reports(banks=banks, movements=movements, environment=settings.environment, now=now)


def _refunds(settings: Settings, stored: BackOfficeStored, does: Operations, now: Now) -> Refunds:
    """Make what gives money back; what stops payouts stops it too."""
    terms = RefundTerms(
        environment=settings.environment,
        now=now,
        monotonic=time.monotonic,
        stops=does.payouts.guards.stops,
    )
    return Refunds(does.balances.banks, stored.audit, terms)


def _money(stored: BackOfficeStored, does: Operations, refunds: Refunds, now: Now) -> MoneyOrders:
    """Make what carries payouts and refunds of people out."""
    return MoneyOrders(accounts=stored.accounts, payouts=does.payouts, refunds=refunds, now=now)


def _terms(settings: Settings, stored: BackOfficeStored, now: Now) -> ApprovalTerms:
    """Say which orders wait for another person, and how they are kept."""
    above = settings.payouts.approval_above
    return ApprovalTerms(
        above=None if above is None else amount(above),
        now=now,
        new_id=lambda: str(uuid.uuid4()),
        seal=stored.seal,
        open=stored.open,
    )

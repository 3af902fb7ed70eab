"""
The back office put together: its policies, its operations and its rows.

The registers are built here for everybody who writes in them: the back office,
the command line, and tests.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from gateway.app.build_identity import People
from gateway.app.people_surfaces import PeopleQuestions
from gateway.config.settings import Settings
from gateway.domain.accounts.accounts import Account, Environment
from gateway.domain.bank.providers import Banks
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.strict import amount
from gateway.http.backoffice.cells import BackOfficeOperations
from gateway.http.backoffice.oversight.providers import Health
from gateway.http.backoffice.rows import BackOfficeRows, ManagementRuns, management_rows
from gateway.http.backoffice.surface import BackOfficeQuestions
from gateway.http.banking.routes import Operations
from gateway.operations.accounts.accounts import AccountRecords, CompanyRecords
from gateway.operations.accounts.credentials import CredentialRecords, CredentialSource
from gateway.operations.backoffice.access_orders import (
    BackOfficeCarriers,
    CredentialOrders,
    FourEyes,
    PeopleOrders,
)
from gateway.operations.backoffice.approvals import Approvals, ApprovalTerms
from gateway.operations.backoffice.bank_connections import BankConnections
from gateway.operations.backoffice.money_orders import MoneyOrders
from gateway.operations.backoffice.oversight import Oversight
from gateway.operations.backoffice.reviews import PayoutReviews
from gateway.operations.backoffice.scoped_records import (
    AdminServices,
    RecordsInScope,
    VisibleAccounts,
)
from gateway.operations.backoffice.stops import KillSwitches, Subjects
from gateway.operations.bank.orders import ChargeOrders, PixKeyOrders
from gateway.operations.bank.reads import AccountMovements, Blocks, Incoming
from gateway.operations.bank.refunds import Refunds, RefundTerms
from gateway.operations.bank.reports import Reports
from gateway.operations.identity.sessions import UserSessions
from gateway.operations.kernel.audit_context import AuditContext
from gateway.operations.payouts.records import PayoutLists, PayoutReads
from gateway.runtime.records.kept_records import within
from gateway.security.keys import Keys
from gateway.security.secrets import new_client_id, new_client_secret
from gateway.store.engine import Store
from policies.authorization.user import VisibleAccount

_NOBODY: Final = "system"
"""Who acts until a caller is named; nothing is written in this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackOfficeParts:
    """
    What the back office is built on.

    Attributes:
        providers: What is known of every configured provider.
    """

    settings: Settings
    store: Store
    keys: Keys
    now: Now
    providers: Callable[[], Sequence[Health]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSource:
    """
    Where the ids and secrets of new records come from.

    Attributes:
        seal: Encrypts a text for the row of an id.
    """

    new_id: Callable[[], str]
    credentials: CredentialSource
    seal: Callable[[str, str], bytes]


def make_management_rows(
    parts: BackOfficeParts, people: People, approvals: Approvals
) -> BackOfficeRows:
    """Make the rows of management."""
    settings, office = parts.settings, parts.store.office
    is_sandbox = settings.environment is Environment.SANDBOX
    registers = admin_services(parts)
    rules = FourEyes(credentials=settings.approvals.credentials, people=settings.approvals.people)
    return management_rows(
        ManagementRuns(
            admin=registers,
            services=people.services,
            others=UserSessions(people.parts),
            approvals=approvals,
            credentials=CredentialOrders(
                records=registers.credentials, approvals=approvals, rules=rules
            ),
            people=PeopleOrders(services=people.services, approvals=approvals, rules=rules),
            oversight=Oversight(
                record=office.record,
                callbacks=office.callbacks,
                requests=office.requests,
                outbox=people.parts.stores.outbox if is_sandbox else None,
            ),
            providers=parts.providers,
        )
    )


def admin_services(parts: BackOfficeParts) -> AdminServices:
    """Build the registers of the back office; each caller writes in a name of their own."""
    acting = AuditContext(_NOBODY, parts.now)
    return build_admin_services(parts.settings, parts.store, record_source(parts.keys), acting)


def record_source(keys: Keys) -> RecordSource:
    """Return the source of ids and secrets of this process, under its keys."""
    return RecordSource(
        new_id=new_id,
        credentials=CredentialSource(
            client_id=partial(new_client_id, os.urandom),
            client_secret=partial(new_client_secret, os.urandom),
            digest=keys.digester.digest,
        ),
        seal=keys.sealer.seal,
    )


def build_admin_services(
    settings: Settings, store: Store, source: RecordSource, acting: AuditContext
) -> AdminServices:
    """Build the registers over a store, for one actor."""
    return AdminServices(
        acting=acting,
        visible=RecordsInScope(store.office.scoped, acting.now),
        companies=CompanyRecords(companies=store.companies, acting=acting, new_id=source.new_id),
        accounts=AccountRecords(
            companies=store.companies,
            accounts=store.accounts,
            acting=acting,
            new_id=source.new_id,
            seal=source.seal,
            providers=settings.providers,
            alphanumeric_cnpj=settings.validation.alphanumeric_cnpj,
        ),
        credentials=CredentialRecords(
            companies=store.companies,
            accounts=store.accounts,
            credentials=store.credentials,
            acting=acting,
            source=source.credentials,
        ),
        stops=_kill_switches(settings, store, acting, source),
        reviews=_reviews(store, acting),
    )


def _reviews(store: Store, acting: AuditContext) -> PayoutReviews:
    """Build the register of payouts in review."""
    return PayoutReviews(
        payouts=store.payouts,
        follow_ups=store.follow_ups,
        reviews=store.reviews,
        acting=acting,
    )


def _kill_switches(
    settings: Settings, store: Store, acting: AuditContext, source: RecordSource
) -> KillSwitches:
    """Build the register of kill switches."""
    subjects = Subjects(
        providers=settings.providers,
        companies=store.companies,
        accounts=store.accounts,
        credentials=store.credentials,
    )
    return KillSwitches(stops=store.stops, subjects=subjects, acting=acting, new_id=source.new_id)


def new_id() -> str:
    """Make a UUID."""
    return str(uuid.uuid4())


def backoffice_questions(parts: BackOfficeParts, who: PeopleQuestions) -> BackOfficeQuestions:
    """Make the policies; accounts are not cached, so that a change is seen at once."""
    settings = parts.settings

    async def load(wanted: tuple[str, CompanyScope]) -> Account | None:
        return await parts.store.office.scoped.account(*wanted)

    find = within(settings.database.auth_timeout_s, load)
    return BackOfficeQuestions(
        bearer=who.bearer,
        persons=who.persons,
        account=VisibleAccount(find),
        now=parts.now,
        factor_roles=settings.factor_roles,
    )


def backoffice_operations(
    parts: BackOfficeParts, does: Operations, office: BackOfficeCarriers
) -> BackOfficeOperations:
    """Make the operations; those of partners are the same ones."""
    settings, stored, now = parts.settings, parts.store, parts.now
    banks = does.balances.banks
    refunds = _refunds(parts, does)
    return BackOfficeOperations(
        accounts=VisibleAccounts(stored.office.scoped, stored.companies),
        connections=BankConnections(banks, stored.audit),
        balances=does.balances,
        blocks=Blocks(banks),
        statements=does.statements,
        reports=_reports(settings, banks, now),
        pix_keys=does.pix_keys,
        key_orders=PixKeyOrders(banks, stored.audit),
        charges=does.charges,
        charge_orders=ChargeOrders(banks, stored.audit),
        incoming=Incoming(banks),
        refunds=refunds,
        payouts=does.payouts,
        payout_reads=PayoutReads(does.payouts, stored.returns),
        payout_lists=PayoutLists(does.payouts.store),
        approvals=_approvals(parts, office, _money(parts, does, refunds)),
        alphanumeric_cnpj=settings.validation.alphanumeric_cnpj,
    )


def _approvals(parts: BackOfficeParts, office: BackOfficeCarriers, money: MoneyOrders) -> Approvals:
    """Make what takes orders that may wait."""
    return Approvals(
        store=parts.store.office.approvals,
        users=office.users,
        money=money,
        office=office,
        terms=_terms(parts),
    )


def _reports(settings: Settings, banks: Banks, now: Now) -> Reports:
    """Make what writes an account's movements into files."""
    movements = AccountMovements(banks)
    return Reports(banks=banks, movements=movements, environment=settings.environment, now=now)


def _refunds(parts: BackOfficeParts, does: Operations) -> Refunds:
    """Make what gives money back; what stops payouts stops it too."""
    terms = RefundTerms(
        environment=parts.settings.environment,
        now=parts.now,
        monotonic=time.monotonic,
        stops=does.payouts.guards.stops,
    )
    return Refunds(does.balances.banks, parts.store.audit, terms)


def _money(parts: BackOfficeParts, does: Operations, refunds: Refunds) -> MoneyOrders:
    """Make what carries payouts and refunds of people out."""
    return MoneyOrders(
        accounts=parts.store.accounts, payouts=does.payouts, refunds=refunds, now=parts.now
    )


def _terms(parts: BackOfficeParts) -> ApprovalTerms:
    """Say which orders wait for another person, and how they are kept."""
    above = parts.settings.payouts.approval_above
    return ApprovalTerms(
        above=None if above is None else amount(above),
        now=parts.now,
        new_id=new_id,
        seal=parts.keys.sealer.seal,
        open=parts.keys.sealer.open,
    )

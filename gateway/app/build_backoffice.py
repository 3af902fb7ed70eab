"""
Back office: its operations, and the registers that the command line writes in too.

Whoever builds registers (the back office, commands, tests) builds them here.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Final

from gateway.app.build_identity import IdentityRoom
from gateway.app.build_payouts import build_payout_records, build_probes, tax_number_digests
from gateway.app.sandbox import build_sandbox_tools
from gateway.config.settings import Settings
from gateway.config.upstream import same_bank
from gateway.domain.accounts.accounts import Account, BankSecrets, Environment, GivenSecrets
from gateway.domain.bank.providers import Banks
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.strict import amount
from gateway.http.backoffice.cells import BackOfficeOperations
from gateway.operations.accounts.accounts import AccountRecords, CompanyRecords
from gateway.operations.accounts.credentials import CredentialRecords, CredentialSource
from gateway.operations.backoffice.access_carriers import BackOfficeCarriers
from gateway.operations.backoffice.access_orders import (
    BankOrders,
    CredentialOrders,
    FourEyes,
    PeopleOrders,
)
from gateway.operations.backoffice.approvals import Approvals, ApprovalTerms
from gateway.operations.backoffice.bank_connections import BankConnections
from gateway.operations.backoffice.downloads.exports import Exports
from gateway.operations.backoffice.downloads.files import Turns
from gateway.operations.backoffice.figures.overview import Figures, Overviews
from gateway.operations.backoffice.figures.readings import Readings
from gateway.operations.backoffice.figures.weather import WeatherReports
from gateway.operations.backoffice.money.linked_statements import LinkedStatements
from gateway.operations.backoffice.money_orders import MoneyOrders
from gateway.operations.backoffice.oversight import Oversight
from gateway.operations.backoffice.payout_finder import PayoutFinder
from gateway.operations.backoffice.reviews import PayoutReviews, Reviewers
from gateway.operations.backoffice.scoped_records import (
    AdminServices,
    RecordsInScope,
    VisibleAccounts,
)
from gateway.operations.backoffice.stops import KillSwitches, Subjects
from gateway.operations.bank.services import BankServices
from gateway.operations.identity.sessions import UserSessions
from gateway.operations.kernel.audit_context import AuditContext, RuleViolation
from gateway.operations.payouts.payouts import Payouts
from gateway.operations.payouts.records import PayoutLists, PayoutReads
from gateway.runtime.kernel import Kernel
from gateway.runtime.records.kept_records import within
from gateway.security.keys import Keys
from gateway.security.secrets import new_client_id, new_client_secret
from policies.authorization.user import VisibleAccount
from provider_adapters.kit import banks

_NOBODY: Final = "system"
"""Who acts until a caller is named; nothing is written in this name."""


def build_backoffice(
    kernel: Kernel, bank: BankServices, payouts: Payouts, identity: IdentityRoom
) -> BackOfficeOperations:
    """Build the room; users order what partners order, by the same operations."""
    admin, rules = build_admin_services(kernel, AuditContext(_NOBODY, kernel.now)), _rules(kernel)
    money, carriers = _money_orders(kernel, bank, payouts), _carriers(admin, identity)
    return BackOfficeOperations(
        bank=bank,
        payouts=payouts,
        payout_lists=PayoutLists(payouts.store),
        payout_reads=PayoutReads(payouts, kernel.store.returns),
        payout_records=build_payout_records(kernel),
        payout_finder=(finder := _payout_finder(kernel)),
        exports=Exports(finder, kernel.store.office.requests, Turns()),
        payout_probes=build_probes(kernel, payouts),
        identity=identity.services,
        admin=admin,
        accounts=VisibleAccounts(kernel.store.office.scoped, kernel.store.companies),
        connections=BankConnections(bank.banks, kernel.store.audit),
        approvals=(approvals := _approvals(kernel, money, carriers)),
        credentials=CredentialOrders(records=admin.credentials, approvals=approvals, rules=rules),
        banks=BankOrders(records=admin.accounts, approvals=approvals, rules=rules),
        users=PeopleOrders(services=identity.services, approvals=approvals, rules=rules),
        sessions=UserSessions(identity.context),
        oversight=_oversight(kernel, identity),
        figures=_figures(kernel, bank.banks),
        linked_statements=_linked_statements(kernel, bank),
        listed_banks=banks.every,
        sandbox=build_sandbox_tools(kernel),
    )


def _rules(kernel: Kernel) -> FourEyes:
    """Return which orders about access a second person decides."""
    asked = kernel.settings.approvals
    return FourEyes(credentials=asked.credentials, people=asked.people)


def _money_orders(kernel: Kernel, bank: BankServices, payouts: Payouts) -> MoneyOrders:
    """Build what carries out orders of money."""
    accounts, refunds = kernel.store.accounts, bank.refunds
    return MoneyOrders(accounts=accounts, payouts=payouts, refunds=refunds, now=kernel.now)


def _payout_finder(kernel: Kernel) -> PayoutFinder:
    """Build what finds payouts by whatever names them."""
    office = kernel.store.office
    return PayoutFinder(
        directory=office.payouts,
        records=office.scoped,
        now=kernel.now,
        digests=tax_number_digests(kernel).every,
    )


def _carriers(admin: AdminServices, identity: IdentityRoom) -> BackOfficeCarriers:
    """Build what carries approved orders out."""
    return BackOfficeCarriers(
        records=admin.credentials,
        accounts=admin.accounts,
        services=identity.services,
        users=identity.context.stores.users,
    )


def build_visible_account(kernel: Kernel) -> VisibleAccount:
    """Build the policy; accounts are not cached, so that a change is seen at once."""

    async def load(wanted: tuple[str, CompanyScope]) -> Account | None:
        return await kernel.store.office.scoped.account(*wanted)

    return VisibleAccount(within(kernel.settings.database.auth_timeout_s, load))


def build_admin_services(
    kernel: Kernel, acting: AuditContext, source: CredentialSource | None = None
) -> AdminServices:
    """Build the registers for one actor; ``source`` makes other credentials than random ones."""
    store = kernel.store
    return AdminServices(
        acting=acting,
        visible=RecordsInScope(store.office.scoped, acting.now),
        companies=CompanyRecords(companies=store.companies, acting=acting, new_id=kernel.new_id),
        accounts=_accounts(kernel, acting),
        credentials=CredentialRecords(
            companies=store.companies,
            accounts=store.accounts,
            credentials=store.credentials,
            acting=acting,
            source=source or credential_source(kernel.keys),
        ),
        stops=_kill_switches(kernel, acting),
        reviews=_reviews(kernel, acting),
    )


def _accounts(kernel: Kernel, acting: AuditContext) -> AccountRecords:
    """Build the register of accounts."""
    settings, store = kernel.settings, kernel.store
    return AccountRecords(
        companies=store.companies,
        accounts=store.accounts,
        acting=acting,
        new_id=kernel.new_id,
        seal=kernel.keys.sealer.seal,
        read_secrets=partial(_account_secrets, settings),
        providers={name: same_bank(name, settings.providers) for name in settings.providers},
    )


def _account_secrets(settings: Settings, provider: str, given: GivenSecrets) -> BankSecrets:
    """Read an account's secrets; adapters are loaded for this alone, as most commands need none."""
    from gateway.app.build_bank import account_secrets  # noqa: PLC0415 - loads aiohttp, 0.2 s
    from provider_adapters.kit.factory import AdapterRefused  # noqa: PLC0415 - the same

    try:
        return account_secrets(settings, provider, given)
    except AdapterRefused as problem:
        raise RuleViolation(str(problem)) from problem


def credential_source(keys: Keys) -> CredentialSource:
    """Return the source of random credentials, with digests under these keys."""
    return CredentialSource(
        client_id=partial(new_client_id, os.urandom),
        client_secret=partial(new_client_secret, os.urandom),
        digest=keys.digester.digest,
    )


def _kill_switches(kernel: Kernel, acting: AuditContext) -> KillSwitches:
    """Build the register of kill switches."""
    store = kernel.store
    subjects = Subjects(
        providers=kernel.settings.providers,
        companies=store.companies,
        accounts=store.accounts,
        credentials=store.credentials,
    )
    return KillSwitches(stops=store.stops, subjects=subjects, acting=acting, new_id=kernel.new_id)


def _reviews(kernel: Kernel, acting: AuditContext) -> PayoutReviews:
    """Build the register of payouts in review."""
    store = kernel.store
    return PayoutReviews(
        payouts=store.payouts,
        follow_ups=store.follow_ups,
        reviews=store.reviews,
        events=store.payout_events,
        reviewers=Reviewers(
            users=store.identity.users, accounts=store.accounts, approvals=store.office.approvals
        ),
        acting=acting,
    )


def _linked_statements(kernel: Kernel, bank: BankServices) -> LinkedStatements:
    """Build what ties statements to payouts and charges."""
    return LinkedStatements(
        statements=bank.statements,
        payouts=kernel.store.payout_links,
        charges=kernel.store.charges,
        now=kernel.now,
    )


def _oversight(kernel: Kernel, identity: IdentityRoom) -> Oversight:
    """Build what shows the logs; mail is shown in the sandbox alone."""
    office, is_sandbox = kernel.store.office, kernel.settings.environment is Environment.SANDBOX
    return Oversight(
        record=office.record,
        callbacks=office.callbacks,
        requests=office.requests,
        outbox=identity.context.stores.outbox if is_sandbox else None,
    )


def _figures(kernel: Kernel, banks: Banks) -> Figures:
    """Build the figures; a bank whose callbacks have a secret of their own is to send them."""
    office, providers = kernel.store.office, kernel.settings.providers
    telling = frozenset(name for name, each in providers.items() if each.callbacks.secret)
    return Figures(
        overviews=Overviews(records=office.overview, telling=telling, now=kernel.now),
        weather=WeatherReports(
            minutes=office.provider_minutes, providers=frozenset(providers), now=kernel.now
        ),
        readings=Readings(
            records=office.readings, accounts=kernel.store.accounts, banks=banks, now=kernel.now
        ),
    )


def _approvals(kernel: Kernel, money: MoneyOrders, carriers: BackOfficeCarriers) -> Approvals:
    """Build what takes orders that may wait: which ones do, and how they are kept."""
    above = kernel.settings.payouts.approval_above
    terms = ApprovalTerms(
        above=None if above is None else amount(above),
        now=kernel.now,
        new_id=kernel.new_id,
        seal=kernel.keys.sealer.seal,
        open=kernel.keys.sealer.open,
    )
    return Approvals(
        store=kernel.store.office.approvals,
        audit=kernel.store.audit,
        users=carriers.users,
        money=money,
        office=carriers,
        terms=terms,
    )

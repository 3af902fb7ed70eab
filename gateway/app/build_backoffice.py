"""
Back office: its operations, and the registers that the command line writes in too.

Whoever builds registers (the back office, commands, tests) builds them here.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Final

from gateway.app.build_identity import IdentityRoom
from gateway.app.build_payouts import build_payout_records
from gateway.config.settings import Settings
from gateway.domain.accounts.accounts import Account, BankSecrets, Environment, GivenSecrets
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.strict import amount
from gateway.http.backoffice.cells import BackOfficeOperations
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

_NOBODY: Final = "system"
"""Who acts until a caller is named; nothing is written in this name."""


def build_backoffice(
    kernel: Kernel, bank: BankServices, payouts: Payouts, identity: IdentityRoom
) -> BackOfficeOperations:
    """Build the room; users order what partners order, by the same operations."""
    settings, store, services = kernel.settings, kernel.store, identity.services
    admin = build_admin_services(kernel, AuditContext(_NOBODY, kernel.now))
    money = MoneyOrders(
        accounts=store.accounts, payouts=payouts, refunds=bank.refunds, now=kernel.now
    )
    users = identity.context.stores.users
    carriers = BackOfficeCarriers(records=admin.credentials, services=services, users=users)
    approvals = _approvals(kernel, money, carriers)
    rules = FourEyes(credentials=settings.approvals.credentials, people=settings.approvals.people)
    return BackOfficeOperations(
        bank=bank,
        payouts=payouts,
        payout_lists=PayoutLists(payouts.store),
        payout_reads=PayoutReads(payouts, store.returns),
        payout_records=build_payout_records(kernel),
        identity=services,
        admin=admin,
        accounts=VisibleAccounts(store.office.scoped, store.companies),
        connections=BankConnections(bank.banks, store.audit),
        approvals=approvals,
        credentials=CredentialOrders(records=admin.credentials, approvals=approvals, rules=rules),
        users=PeopleOrders(services=services, approvals=approvals, rules=rules),
        sessions=UserSessions(identity.context),
        oversight=_oversight(kernel, identity),
        alphanumeric_cnpj=settings.validation.alphanumeric_cnpj,
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
        providers=settings.providers,
        alphanumeric_cnpj=settings.validation.alphanumeric_cnpj,
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
        acting=acting,
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
        users=carriers.users,
        money=money,
        office=carriers,
        terms=terms,
    )

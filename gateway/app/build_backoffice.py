"""
Back office: its operations, and the registers that the command line writes in too.

Whoever builds registers (the back office, commands, tests) builds them here.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial

from gateway.accounts.service import AccountBanks, Accounts, BankChanges
from gateway.app.backoffice_operations import BackOfficeOperations
from gateway.app.build_bank import BankRoom
from gateway.app.build_identity import IdentityRoom
from gateway.app.kept_records import within
from gateway.app.kernel import Kernel
from gateway.app.sandbox import build_sandbox_tools
from gateway.approvals.facts import ApprovalFacts
from gateway.approvals.money import MoneyOrders
from gateway.approvals.service import Approvals, ApprovalTerms, ApprovedSecrets
from gateway.companies.service import Companies
from gateway.config.settings import Settings
from gateway.config.upstream import same_bank
from gateway.core.account import Account, BankSecrets, GivenSecrets
from gateway.core.approvals import CREDENTIALS, ApprovalKind, Wait
from gateway.core.audit_context import RuleViolation
from gateway.core.company_scope import CompanyScope
from gateway.core.strict import amount
from gateway.credentials.service import Credentials, CredentialSource
from gateway.payouts.create import Payouts
from gateway.payouts.service import PayoutRecords
from gateway.refunds.service import Refunds
from gateway.security.keys import Keys
from gateway.security.secrets import new_client_id, new_client_secret
from gateway.stops.service import Stops
from policies.authorization.user import VisibleAccount
from provider_adapters.kit import banks as listed_banks


def build_backoffice(
    kernel: Kernel,
    bank: BankRoom,
    payouts: Payouts,
    identity: IdentityRoom,
    records: PayoutRecords,
) -> BackOfficeOperations:
    """Build the room; users order what partners order, by the same operations."""
    store, settings, now, banks = kernel.store, kernel.settings, kernel.now, bank.banks
    sealer = kernel.keys.sealer
    accounts = build_account_service(kernel)
    rules = settings.approvals
    above = settings.payouts.approval_above
    approvals = Approvals(
        store=store.approvals,
        audit=store.audit,
        users=store.identity.users,
        money=MoneyOrders(accounts=store.accounts, payouts=payouts, refunds=bank.refunds, now=now),
        known=ApprovalFacts(payouts=records, readings=bank.readings, orders=store.approvals),
        terms=ApprovalTerms(
            above=None if above is None else amount(above),
            now=now,
            new_id=kernel.new_id,
            seal=sealer.seal,
            open=sealer.open,
        ),
    )
    credentials = build_credentials(kernel, approvals.wait if rules.credentials else None)
    users = replace(identity.services.users, wait=approvals.wait if rules.people else None)
    approvals.executors.update(dict.fromkeys(ApprovalKind, users))
    approvals.executors.update(dict.fromkeys(CREDENTIALS, credentials))
    approvals.executors[ApprovalKind.ACCOUNT_BANK] = BankChanges(accounts, now)
    return BackOfficeOperations(
        approvals=approvals,
        secrets=ApprovedSecrets(approvals, credentials),
        credentials=credentials,
        banks=AccountBanks(
            accounts=accounts,
            wait=approvals.wait,
            takes_two=rules.credentials,
            banks=banks,
            audit=store.audit,
        ),
        users=users,
        readings=bank.readings,
        turns=records.turns,
        sandbox=build_sandbox_tools(kernel),
        refunds=Refunds(
            banks=banks,
            kept=bank.charges.reads.kept,
            environment=settings.environment,
            place=approvals.order,
        ),
    )


def build_visible_account(kernel: Kernel) -> VisibleAccount:
    """Build the policy; accounts are not cached, so that a change is seen at once."""

    async def load(wanted: tuple[str, CompanyScope]) -> Account | None:
        return await kernel.store.accounts.visible(*wanted)

    return VisibleAccount(within(kernel.settings.database.auth_timeout_s, load))


def build_account_service(kernel: Kernel) -> Accounts:
    """Build the accounts."""
    settings = kernel.settings
    return Accounts(
        store=kernel.store.accounts,
        new_id=kernel.new_id,
        seal=kernel.keys.sealer.seal,
        read_secrets=partial(_account_secrets, settings),
        providers={name: same_bank(name, settings.providers) for name in settings.providers},
        listed_banks=listed_banks.every,
    )


def build_companies(kernel: Kernel) -> Companies:
    """Build the companies."""
    return Companies(database=kernel.store.database, new_id=kernel.new_id)


def build_stops(kernel: Kernel) -> Stops:
    """Build the kill switches."""
    store = kernel.store
    return Stops(
        database=store.database,
        providers=kernel.settings.providers,
        accounts=store.accounts,
        credentials=store.credentials,
        new_id=kernel.new_id,
    )


def build_credentials(
    kernel: Kernel, wait: Wait | None = None, source: CredentialSource | None = None
) -> Credentials:
    """Build the credentials; ``source`` makes others than random ones."""
    store = kernel.store
    return Credentials(
        database=store.database,
        stored=store.credentials,
        accounts=store.accounts,
        source=source or credential_source(kernel.keys),
        now=kernel.now,
        wait=wait,
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

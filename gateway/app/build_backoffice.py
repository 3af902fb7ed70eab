"""The back office's management with everything it needs."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from gateway.app.build_identity import People
from gateway.config.settings import Settings
from gateway.domain.accounts.accounts import Environment
from gateway.domain.kernel.clocks import Now
from gateway.http.backoffice.oversight.providers import Health
from gateway.http.backoffice.rows import BackOfficeRows, ManagementRuns, management_rows
from gateway.operations.accounts.accounts import AccountRecords
from gateway.operations.accounts.companies import CompanyRecords
from gateway.operations.accounts.credentials import CredentialRecords, CredentialSource
from gateway.operations.backoffice.access_orders import CredentialOrders, FourEyes, PeopleOrders
from gateway.operations.backoffice.admin_services import AdminServices
from gateway.operations.backoffice.approvals import Approvals
from gateway.operations.backoffice.reviews import PayoutReviews
from gateway.operations.backoffice.stops import KillSwitches, Subjects
from gateway.operations.identity.sessions import UserSessions
from gateway.operations.kernel.audit_context import AuditContext
from gateway.security.keys import Keys
from gateway.security.secrets import new_client_id, new_client_secret
from gateway.store.engine import Store

_NOBODY = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagementStored:
    """
    Where management's things are kept, and the keys to them.

    Attributes:
        providers: What is known of every configured provider.
    """

    store: Store
    keys: Keys
    providers: Callable[[], Sequence[Health]]


def make_management_rows(
    settings: Settings,
    stored: ManagementStored,
    people: People,
    approvals: Approvals,
    now: Now,
) -> BackOfficeRows:
    """Make the rows of management."""
    is_sandbox = settings.environment is Environment.SANDBOX
    registers = make_registers(settings, stored, now)
    rules = FourEyes(credentials=settings.approvals.credentials, people=settings.approvals.people)
    return management_rows(
        ManagementRuns(
            registers=registers,
            services=people.services,
            others=UserSessions(people.parts),
            approvals=approvals,
            credentials=CredentialOrders(
                records=registers.credentials, approvals=approvals, rules=rules
            ),
            people=PeopleOrders(services=people.services, approvals=approvals, rules=rules),
            record=stored.store.office.record,
            lists=stored.store.office.lists,
            callbacks=stored.store.office.callbacks,
            requests=stored.store.office.requests,
            outbox=people.parts.stores.outbox if is_sandbox else None,
            providers=stored.providers,
        )
    )


def make_registers(settings: Settings, stored: ManagementStored, now: Now) -> AdminServices:
    """Make the registers; whoever writes in them names themselves first."""
    store, acting = stored.store, AuditContext(_NOBODY, now)
    return AdminServices(
        acting=acting,
        companies=CompanyRecords(companies=store.companies, acting=acting, new_id=_new_id),
        accounts=AccountRecords(
            companies=store.companies,
            accounts=store.accounts,
            acting=acting,
            new_id=_new_id,
            seal=stored.keys.sealer.seal,
            providers=settings.providers,
            alphanumeric_cnpj=settings.validation.alphanumeric_cnpj,
        ),
        credentials=CredentialRecords(
            companies=store.companies,
            accounts=store.accounts,
            credentials=store.credentials,
            acting=acting,
            source=_source(stored.keys),
        ),
        stops=_stops(settings, store, acting),
        reviews=PayoutReviews(
            payouts=store.payouts,
            follow_ups=store.follow_ups,
            reviews=store.reviews,
            acting=acting,
        ),
    )


def _source(keys: Keys) -> CredentialSource:
    """Say where credentials come from."""
    return CredentialSource(
        client_id=partial(new_client_id, os.urandom),
        client_secret=partial(new_client_secret, os.urandom),
        digest=keys.digester.digest,
    )


def _stops(settings: Settings, store: Store, acting: AuditContext) -> KillSwitches:
    """Make the register of stops."""
    subjects = Subjects(
        providers=settings.providers,
        companies=store.companies,
        accounts=store.accounts,
        credentials=store.credentials,
    )
    return KillSwitches(stops=store.stops, subjects=subjects, acting=acting, new_id=_new_id)


def _new_id() -> str:
    """Make a UUID."""
    return str(uuid.uuid4())

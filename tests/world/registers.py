"""The administrator's registers on a real store, with a clock, ids and secrets that are known."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select

from gateway.accounts.model import AccountChange, AccountRequest, ProviderRequest
from gateway.accounts.service import Accounts
from gateway.app.kernel import Kernel
from gateway.app.services import Services, build_credentials
from gateway.app.store import Store, prepare
from gateway.companies.model import Company, CompanyRequest
from gateway.companies.service import Companies
from gateway.config.settings import Settings
from gateway.config.upstream import Provider
from gateway.core.access import Staff
from gateway.core.account import Account, Environment
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import AuditContext
from gateway.core.schemas import ReasonBody
from gateway.credentials.model import Credential, CredentialBody, Issued, RotationBody
from gateway.credentials.service import Credentials, CredentialSource
from gateway.payouts.staff import PayoutRecords
from gateway.payouts.store import EventSealing
from gateway.reviews.service import Reviews
from gateway.security.keys import Derivation
from gateway.security.sealing import Sealer
from gateway.security.secrets import SecretDigester
from gateway.store.tables.core import audit
from tests.world.kernel import KEYS
from tests.world.store import migrated, open_store

TAX = "52998224725"
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@dataclass(slots=True)
class Clock:
    """A clock that moves only when a test moves it."""

    at: datetime = NOON

    def __call__(self) -> datetime:
        return self.at

    def passes(self, **units: float) -> None:
        """Let time pass: ``hours=1``."""
        self.at += timedelta(**units)


@dataclass(slots=True)
class Registers:
    store: Store
    clock: Clock = field(default_factory=Clock)
    made: int = 0
    digester: SecretDigester = KEYS.digester
    sealer: Sealer = KEYS.sealer

    @property
    def acting(self) -> AuditContext:
        return AuditContext("cli:test", self.clock)

    @property
    def kernel(self) -> Kernel:
        provider = Provider(adapter="sandbox")
        return Kernel(
            settings=Settings(providers={"sandbox": provider, "other-bank": provider}),
            store=self.store,
            keys=replace(KEYS, digester=self.digester, sealer=self.sealer),
            now=self.clock,
            new_id=self.new_id,
        )

    @property
    def companies(self) -> Companies:
        return Services(self.kernel).companies

    async def company(self, name: str, company_id: str = "") -> Company:
        wanted = CompanyRequest(name=name, id=company_id)
        return await self.companies.create(Staff(self.acting), wanted)

    @property
    def accounts(self) -> Accounts:
        return Services(self.kernel).accounts

    async def account(
        self, company_id: str, bank: ProviderRequest | None = None, **wanted: Any
    ) -> Account:
        request = AccountRequest(
            **{"company_id": company_id, "name": "Padaria", "tax_number": TAX, **wanted}
        )
        return await self.accounts.create(Staff(self.acting), request, bank)

    async def found(self, account_id: str) -> Account:
        return await self.accounts.find(Staff(self.acting), account_id)

    async def change(
        self, account_id: str, bank: ProviderRequest | None = None, **wanted: Any
    ) -> Account:
        return await self.accounts.change(
            Staff(self.acting), await self.found(account_id), AccountChange(**wanted), bank=bank
        )

    @property
    def credentials(self) -> Credentials:
        return build_credentials(self.kernel, source=self.source)

    @property
    def staff(self) -> Staff:
        return Staff(self.acting)

    async def issue(self, company_id: str = "", **wanted: Any) -> Issued:
        body = CredentialBody(**{"name": "ERP", "company_id": company_id, **wanted})
        made = await self.credentials.issue(self.staff, body)
        assert isinstance(made, Issued)
        return made

    async def rotate(self, client_id: str, overlap_s: int = 86_400) -> Issued:
        made = await self.credentials.rotate(self.staff, client_id, RotationBody(overlap_s))
        assert isinstance(made, Issued)
        return made

    async def revoke(self, client_id: str, reason: str = "") -> Credential:
        return await self.credentials.revoke(self.staff, client_id, ReasonBody(reason))

    @property
    def payouts(self) -> PayoutRecords:
        return Services(self.kernel).payout_records

    @property
    def reviews(self) -> Reviews:
        return Services(self.kernel).reviews

    @property
    def source(self) -> CredentialSource:
        return CredentialSource(
            client_id=lambda: f"cli_{self._next():020d}",
            client_secret=lambda: f"gws_{self._next()}",
            digest=self.digester.digest,
        )

    def new_id(self) -> str:
        return f"{self._next():08x}-0000-4000-8000-000000000000"

    async def acts(self) -> list[AuditEvent]:
        """Every act on record, oldest first; the chain must hold."""
        await self.store.audit.verify()
        async with self.store.database.reading() as connection:
            rows = (await connection.execute(select(audit).order_by(audit.c.number))).all()
        return [
            AuditEvent(
                at=row.at,
                actor=row.actor,
                action=row.action,
                subject=row.subject,
                details=json.loads(row.details),
            )
            for row in rows
        ]

    def _next(self) -> int:
        self.made += 1
        return self.made


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Registers]:
    sealing = EventSealing(Derivation({"k1": b"k" * 32}, "k1"))
    store = open_store(migrated(folder / "store.db"), facts=sealing)
    try:
        await prepare(store, Environment.SANDBOX, migrate=True, now=lambda: NOON)
        yield Registers(store)
    finally:
        await store.close()

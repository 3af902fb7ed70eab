"""Records to store, each made from a few values; the clock stands still at ``NOW``."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from gateway.banks.port.payout_orders import PayoutMethod, PixDestination
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.providers import Evidence, Phase
from gateway.companies.model import Company
from gateway.core.account import Account, BankCoordinates, Environment
from gateway.core.audit import AuditEvent
from gateway.core.money import Money
from gateway.core.permissions import UNLIMITED, CredentialLimits, Permission
from gateway.core.windows import Paging, Search, Window
from gateway.credentials.model import Credential
from gateway.payouts.model import Attempt, Change, Payout, PayoutState, provider_key
from gateway.security.secrets import SecretDigest

NOW = datetime(2026, 11, 20, 12, 30, 15, 123456, tzinfo=UTC)
COMPANY = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a01"
ACCOUNT = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
SISTER = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c02"
CLIENT = "cli_abcdefghijklmnopqrst"


def now() -> datetime:
    return NOW


def event(action: str = "tested", subject: str = "test:1", **details: str) -> AuditEvent:
    return AuditEvent(
        at=NOW, actor="cli", action=action, subject=subject, details=details, trace_id="trace-1"
    )


def company(company_id: str = COMPANY, *, created_at: datetime = NOW) -> Company:
    return Company(company_id, "Padaria São João", created_at, "")


def account(account_id: str = ACCOUNT, *, company_id: str = COMPANY) -> Account:
    return Account(
        id=account_id,
        company_id=company_id,
        name="Padaria São João Ltda",
        tax_number="11222333000181",
        active=True,
        verified=True,
        provider="sandbox",
        provider_account="conta-1",
        sealed_credentials=b"\x00sealed\xff",
        coordinates=BankCoordinates(
            bank_number="341", ispb="60701190", branch="0001", account="123456-7"
        ),
        created_at=NOW,
    )


def secret(digest: bytes = b"d" * 32, *, created_at: datetime = NOW) -> SecretDigest:
    return SecretDigest(key_id="pepper-1", digest=digest, created_at=created_at)


def credential(
    client_id: str = CLIENT,
    *,
    permissions: str = "balance:read",
    limits: CredentialLimits = UNLIMITED,
) -> Credential:
    """A credential of the whole company with one secret; permissions are separated by blanks."""
    return Credential(
        client_id=client_id,
        company_id=COMPANY,
        account_id=None,
        name="ERP",
        permissions=frozenset(map(Permission.parse, permissions.split())),
        secrets=(secret(),),
        limits=limits,
        created_at=NOW,
    )


def payout(
    reference: str = "order-1",
    *,
    account_id: str = ACCOUNT,
    centavos: int = 1050,
    created_at: datetime = NOW,
) -> Payout:
    """A payout whose first attempt is being sent."""
    destination = PixDestination(
        name="Maria", tax_number="52998224725", key_type=PixKeyType.EMAIL, key="maria@example.com"
    )
    return Payout(
        account_id=account_id,
        reference=reference,
        fingerprint="f" * 64,
        provider_key=provider_key(Environment.SANDBOX, account_id, reference),
        provider="sandbox",
        provider_account="conta-1",
        client_id=CLIENT,
        method=PayoutMethod.PIX,
        value=Money(centavos),
        date=created_at.date(),
        description="pão",
        destination=destination,
        destination_sent={"tax_number": "529.982.247-25", "key": "Maria@example.com"},
        state=PayoutState.SENDING,
        attempt=1,
        lease_until=created_at + timedelta(seconds=60),
        created_at=created_at,
        updated_at=created_at,
    )


def held(about: Payout, until: datetime | None = None) -> Payout:
    """Return the payout held and not tried yet, for half an hour from its creation or as said."""
    return replace(
        about,
        state=PayoutState.HELD,
        attempt=0,
        held_until=until or about.created_at + timedelta(minutes=30),
    )


def attempt(number: int = 1, *, started_at: datetime = NOW) -> Attempt:
    return Attempt(
        number=number,
        provider="sandbox",
        started_at=started_at,
        send_deadline=started_at + timedelta(seconds=20),
        lease_until=started_at + timedelta(seconds=60),
        trace_id=f"trace-{number}",
    )


EVIDENCE = Evidence(
    phase=Phase.ANSWERED,
    bytes_left=True,
    reason="listed",
    http_status=422,
    provider_code="E\x00-\ud800",
)


def change(
    before: PayoutState,
    after: PayoutState,
    *,
    reference: str = "order-1",
    attempt: int = 1,
) -> Change:
    """A step, one second after the payout was made."""
    return Change(
        account_id=ACCOUNT,
        reference=reference,
        attempt=attempt,
        before=frozenset({before}),
        after=after,
        at=NOW + timedelta(seconds=1),
    )


def of(step: Change, **fields: object) -> Change:
    return replace(step, **fields)


def search(init: str, ends: str, *, page: int = 1, limit: int = 25) -> Search:
    """The query of a list, by days."""
    window = Window(datetime.fromisoformat(init).date(), datetime.fromisoformat(ends).date())
    return Search(window, Paging(page, limit))

"""Payouts to store, and the step each takes when the bank has said yes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from sqlalchemy import insert

from gateway.app.store import Store
from gateway.banks.port.payout_orders import PayoutMethod, PixDestination
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.providers import Evidence, Phase
from gateway.core.account import Environment
from gateway.core.money import Money
from gateway.payouts.model import Attempt, Change, Payout, PayoutState, provider_key
from gateway.store.tables.core import accounts, companies

_SAID = Evidence(phase=Phase.ANSWERED, bytes_left=True, reason="answered", http_status=200)
_OPEN = frozenset({PayoutState.SENDING, PayoutState.UNKNOWN})


def now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def references() -> Iterator[str]:
    """Name payouts, each name new; 36 characters as from a partner's own system."""
    begin = str(uuid4())[:24]
    return (f"{begin}{number:012}" for number in itertools.count())


async def open_account(store: Store, bank_account: str = "bench") -> str:
    """Store a company with one account, of which the audit log says nothing; return its id."""
    at, company_id, account_id = now(), str(uuid4()), str(uuid4())
    given = {"id": account_id, "company_id": company_id, "name": "Bench", "created_at": at}
    said = {"provider": "sandbox", "provider_account": bank_account, "tax_number": "11222333000181"}
    empty = dict.fromkeys(("bank_number", "ispb", "branch", "account"), "")
    kept = {**given, **said, **empty, "active": True, "verified": True, "sealed_credentials": b""}
    company = {"id": company_id, "name": "Bench", "created_at": at, "contact": ""}
    await store.database.write(insert(companies).values(company))
    await store.database.write(insert(accounts).values(kept))
    return account_id


def intent(account_id: str, reference: str) -> tuple[Payout, Attempt]:
    """Make a payout that is about to be sent, as the operation does."""
    at = now()
    attempt = Attempt(
        number=1,
        provider="sandbox",
        started_at=at,
        send_deadline=at + timedelta(seconds=20),
        lease_until=at + timedelta(seconds=60),
        trace_id=reference,
    )
    payout = Payout(
        account_id=account_id,
        reference=reference,
        fingerprint="f" * 64,
        provider_key=provider_key(Environment.SANDBOX, account_id, reference),
        provider="sandbox",
        provider_account="conta-1",
        client_id="cli_abcdefghijklmnopqrst",
        method=PayoutMethod.PIX,
        value=Money(1050),
        date=at.date(),
        description="pagamento",
        destination=PixDestination(
            name="Maria",
            tax_number="52998224725",
            key_type=PixKeyType.EMAIL,
            key="maria@example.com",
        ),
        destination_sent={"tax_number": "529.982.247-25", "key": "maria@example.com"},
        state=PayoutState.SENDING,
        attempt=1,
        lease_until=attempt.lease_until,
        created_at=at,
        updated_at=at,
    )
    return payout, attempt


def outcome(payout: Payout) -> Change:
    """Make the step of a payout that the bank has taken."""
    return Change(
        account_id=payout.account_id,
        reference=payout.reference,
        attempt=payout.attempt,
        before=_OPEN,
        after=PayoutState.ACCEPTED,
        at=now(),
        evidence=_SAID,
        provider_id="pay_01J9ZK3V5Q8R7T6Y4W2X1N0M9B",
        e2e_id="E60701190202611201230ABCDEFGHIJK",
    )

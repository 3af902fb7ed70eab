"""Accounts: who calls with which credential, and the records that this is read from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial

from msgspec.structs import asdict

from gateway.app.kept_records import (
    KeptRecords,
    LastUses,
    build_kept_records,
)
from gateway.app.kernel import Kernel
from gateway.config.settings import RateLimits
from gateway.identity.signing_keys import Keyring
from gateway.security.secrets import has_valid_checksum
from policies.authentication.basic import BasicCredentials, RightHeaders, SecretCheck
from policies.authorization.credential import AccountScope
from policies.traffic.quota import COMPANY, Quota, WithinQuota
from policies.traffic.throttle import FailureLimits, FailureThrottle


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountsRoom:
    """
    What partners are checked by.

    Attributes:
        kept: The records that this process keeps of the store.
        uses: When each secret was last used.
        quota: The partners' token buckets.
    """

    kept: KeptRecords
    uses: LastUses
    credentials: BasicCredentials
    quota: WithinQuota
    scope: AccountScope


def build_accounts(kernel: Kernel, keyring: Keyring) -> AccountsRoom:
    """Build the room; every change that this process makes in the store is told to ``kept``."""
    store = kernel.store
    kept = build_kept_records(kernel.settings, store, keyring, kernel.observer, kernel.now)
    store.database.followers.append(partial(kept.forget, told_by="own"))
    uses = LastUses(store.credentials, kernel.now)
    given = quotas(kernel.settings.ratelimits)
    of_partners = {name: given[name] for name in ("read", "payout", COMPANY)}
    quota = WithinQuota(of_partners, kernel.monotonic, kernel.observer.count, kernel.shared)
    kernel.reloads.append(lambda settings: quota.change(quotas(settings.ratelimits)))
    failed = asdict(kernel.settings.limits.failed_credentials)
    credentials = BasicCredentials(
        find=kept.credentials.find,
        find_again=kept.credentials.find_since,
        check=SecretCheck(
            well_formed=has_valid_checksum,
            digests=kernel.keys.digester.digests,
            matching=partial(kernel.keys.digester.matching, now=kernel.now),
            used=uses.note,
        ),
        known=RightHeaders(os.urandom(32)),
        throttle=FailureThrottle(FailureLimits(**failed), kernel.monotonic, kernel.shared),
        now=kernel.now,
        clock=kernel.monotonic,
        took=partial(kernel.observer.authenticated, "basic"),
    )
    return AccountsRoom(
        kept=kept,
        uses=uses,
        credentials=credentials,
        quota=quota,
        scope=AccountScope(kept.accounts.find),
    )


def quotas(rates: RateLimits) -> dict[str, Quota]:
    """Return every quota by its name."""
    return {name: Quota(rate.rate, rate.burst) for name, rate in asdict(rates).items()}

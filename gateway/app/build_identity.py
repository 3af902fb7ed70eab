"""Identity: the operations on users and their sessions, and what runs in the background."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from gateway.config.settings import Rate, RateLimits, Settings
from gateway.http.identity.surface import UserPolicies
from gateway.operations.identity.ports import (
    AttemptLimits,
    Crypto,
    IdentityContext,
    IdentitySettings,
    Stores,
)
from gateway.operations.identity.services import (
    IdentityServices,
    build_identity_services,
)
from gateway.runtime.kernel import Kernel
from gateway.runtime.periodic_task import PeriodicTask, Schedule
from gateway.security.identity.one_time_codes import RecoveryCodes, Totp
from gateway.security.identity.passwords import PasswordHasher
from gateway.security.identity.sealed_mail import SealedOutbox
from gateway.security.identity.signing_keys import Keyring, new_signing_key
from gateway.security.identity.tokens import AccessTokens, Audience, OpaqueTokens
from policies.authentication.bearer import BearerToken
from policies.authorization.user import RequiresSecondFactor
from policies.traffic.quota import Quota, WithinAddressQuota, WithinPersonQuota

_TOKENS: Final = "opaque tokens"
_ANSWER_EVERY_S: Final = 1.0
"""Reset links are written by the clock, so that the answer's duration tells nobody who exists."""
_RETURNED: Final = frozenset({"sign_in", "second_factor"})
"""Quotas of guesses: whoever was right gets the draw back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityRoom:
    """
    Identity, ready to be started.

    Attributes:
        services: The operations.
        policies: What is asked of users wherever they call.
        tasks: What identity does in the background.
        keyring: What ``/.well-known/jwks.json`` publishes.
    """

    context: IdentityContext
    services: IdentityServices
    policies: UserPolicies
    keyring: Keyring
    hasher: PasswordHasher
    tasks: Sequence[PeriodicTask]

    async def start(self) -> None:
        """
        Make the first signing key where there is none, and begin to answer who asks for a link.

        Raises:
            StoreUnavailable: the store does not answer.
        """
        await self.services.signing_keys.ensure()
        for task in self.tasks:
            task.start()

    async def close(self) -> None:
        """Stop what runs in the background; let the hashing threads go."""
        for task in self.tasks:
            await task.stop()
        self.hasher.close()


def build_identity(kernel: Kernel, hasher: PasswordHasher | None = None) -> IdentityRoom:
    """Build the room; nothing is started. Passwords cost what they should without ``hasher``."""
    store, keys, settings = kernel.store, kernel.keys, kernel.settings
    keyring = Keyring(store.identity.signing_keys, keys.sealer, kernel.now, kernel.monotonic)
    hasher = hasher or PasswordHasher(keys.password_peppers)
    context = IdentityContext(
        stores=_stores(kernel),
        crypto=_crypto(kernel, keyring, hasher),
        settings=_identity_settings(settings),
        now=kernel.now,
        new_id=kernel.new_id,
        pause=kernel.sleep,
        events=kernel.events,
    )
    services = build_identity_services(
        context, store.companies, partial(new_signing_key, sealer=keys.sealer)
    )
    return IdentityRoom(
        context=context,
        services=services,
        policies=_policies(kernel, services),
        keyring=keyring,
        hasher=hasher,
        tasks=_tasks(services),
    )


def _policies(kernel: Kernel, services: IdentityServices) -> UserPolicies:
    """Build what is asked of users."""
    settings, count = kernel.settings, kernel.observer.count
    rates = settings.ratelimits
    addresses = WithinAddressQuota(_quotas(rates), kernel.monotonic, count, _RETURNED)
    users = WithinPersonQuota(_quota(rates.person), kernel.monotonic, count)

    def take(fresh: Settings) -> None:
        """Draw from other quotas from now on."""
        addresses.change(_quotas(fresh.ratelimits))
        users.change(_quota(fresh.ratelimits.person))

    kernel.reloads.append(take)
    return UserPolicies(
        bearer=BearerToken(services.sessions.authenticate),
        factor=RequiresSecondFactor(settings.factor_roles),
        address_quota=addresses,
        user_quota=users,
        origin=lambda: settings.origin,
    )


def _quotas(rates: RateLimits) -> dict[str, Quota]:
    """Return the quotas of addresses by name."""
    named = {
        "anonymous": rates.anonymous,
        "keys": rates.keys,
        "sign_in": rates.sign_in,
        "second_factor": rates.second_factor,
        "recovery": rates.recovery,
    }
    return {name: _quota(each) for name, each in named.items()}


def _quota(rate: Rate) -> Quota:
    """Return a quota as it is configured."""
    return Quota(rate.rate, rate.burst)


def _tasks(services: IdentityServices) -> Sequence[PeriodicTask]:
    """Build what identity does in the background of a process that serves."""
    answering = Schedule(every_s=_ANSWER_EVERY_S, finishing=True)
    return (PeriodicTask("reset links", services.reset_requests.answer, answering),)


def _crypto(kernel: Kernel, keyring: Keyring, hasher: PasswordHasher) -> Crypto:
    """Say how things are hashed, signed and sealed."""
    identity, keys = kernel.settings.identity, kernel.keys
    return Crypto(
        hashing=hasher,
        one_time=Totp(identity.issuer),
        recovery=RecoveryCodes(),
        opaque=OpaqueTokens(keys.derivation.key(_TOKENS)),
        access=AccessTokens(keyring, Audience(identity.issuer, identity.audience), kernel.now),
        sealing=keys.sealer,
    )


def _stores(kernel: Kernel) -> Stores:
    """Name where identity is kept; mail is sealed there."""
    store = kernel.store.identity
    return Stores(
        users=store.users,
        sessions=store.sessions,
        challenges=store.challenges,
        failures=store.failures,
        outbox=SealedOutbox(store.outbox, kernel.keys.sealer),
        signing_keys=store.signing_keys,
        audit=kernel.store.audit,
    )


def _identity_settings(settings: Settings) -> IdentitySettings:
    """Read how long things last, and how often somebody may be wrong."""
    identity, tries = settings.identity, settings.identity.tries
    return IdentitySettings(
        origin=settings.origin,
        access=timedelta(seconds=identity.access_s),
        refresh=timedelta(seconds=identity.refresh_s),
        sessions=identity.sessions,
        throttles=AttemptLimits(
            account_ip=tries.account_ip,
            address=tries.address,
            account=tries.account,
            consecutive=tries.consecutive,
            factor=tries.factor,
            resets=tries.resets,
            address_resets=tries.address_resets,
            device=tries.device,
        ),
    )

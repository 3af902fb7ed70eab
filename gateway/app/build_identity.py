"""Identity assembled: the crafts, the operations over them, and what runs in the background."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from gateway.config.identity import Identity
from gateway.config.settings import Settings
from gateway.domain.kernel.clocks import Now
from gateway.operations.identity.ports import (
    AttemptLimits,
    Crypto,
    IdentityContext,
    IdentityEvents,
    IdentitySettings,
    Stores,
)
from gateway.operations.identity.services import (
    IdentityServices,
    build_identity_services,
)
from gateway.runtime.mail_sender import MailSender
from gateway.runtime.periodic_task import PeriodicTask, Schedule
from gateway.runtime.retention import IdentityRetention
from gateway.security.identity.one_time_codes import RecoveryCodes, Totp
from gateway.security.identity.passwords import PasswordHasher
from gateway.security.identity.sealed_mail import SealedOutbox
from gateway.security.identity.signing_keys import Keyring, new_signing_key
from gateway.security.identity.tokens import AccessTokens, Audience, OpaqueTokens
from gateway.security.keys import Keys
from gateway.security.sealing import Sealer
from gateway.store.engine import Store

_NO_EVENTS = IdentityEvents()

_TOKENS = "opaque tokens"
_CLEANUP_EVERY_S = 600.0
"""Often enough that a run deletes little at once."""
_ANSWER_EVERY_S = 1.0
"""Reset links are written by the clock, so that the answer's duration tells nobody who exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """
    Identity, ready to be started.

    Attributes:
        services: The operations.
        tasks: What identity does in the background.
        keyring: What ``/.well-known/jwks.json`` publishes.
    """

    parts: IdentityContext
    services: IdentityServices
    keyring: Keyring
    hasher: PasswordHasher
    tasks: Sequence[PeriodicTask]

    async def start(self) -> None:
        """
        Make the first signing key where there is none, and begin to send mail.

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


def build_identity(
    settings: Settings, store: Store, keys: Keys, now: Now, events: IdentityEvents = _NO_EVENTS
) -> People:
    """Make identity from the settings, an opened store and the keys; nothing is started."""
    identity = settings.identity
    keyring = Keyring(store.identity.signing_keys, keys.sealer, now, time.monotonic)
    hasher = PasswordHasher(keys.password_peppers)
    parts = IdentityContext(
        stores=_stores(store, keys.sealer),
        crypto=_crypto(identity, keys, keyring, hasher, now),
        settings=_identity_settings(settings.origin, identity),
        now=now,
        new_id=lambda: str(uuid.uuid4()),
        pause=asyncio.sleep,
        events=events,
    )
    services = build_identity_services(
        parts, store.companies, partial(new_signing_key, sealer=keys.sealer)
    )
    return People(
        parts=parts,
        services=services,
        keyring=keyring,
        hasher=hasher,
        tasks=_tasks(settings, store, parts, services),
    )


def _tasks(
    settings: Settings, store: Store, parts: IdentityContext, services: IdentityServices
) -> Sequence[PeriodicTask]:
    """Make what identity does in the background."""
    mail = MailSender(parts.stores.outbox, settings.identity.mail, parts.now)
    retention = IdentityRetention(store.identity, parts.now)
    answer = services.reset_requests.answer
    answering = Schedule(every_s=_ANSWER_EVERY_S, finishing=True)
    return (
        mail.task,
        PeriodicTask("old sign-ins", retention.cleanup, Schedule(every_s=_CLEANUP_EVERY_S)),
        PeriodicTask("reset links", answer, answering),
    )


def _crypto(
    identity: Identity, keys: Keys, keyring: Keyring, hasher: PasswordHasher, now: Now
) -> Crypto:
    """Say how things are hashed, signed and sealed."""
    return Crypto(
        hashing=hasher,
        one_time=Totp(identity.issuer),
        recovery=RecoveryCodes(),
        opaque=OpaqueTokens(keys.derivation.key(_TOKENS)),
        access=AccessTokens(keyring, Audience(identity.issuer, identity.audience), now),
        sealing=keys.sealer,
    )


def _stores(store: Store, sealer: Sealer) -> Stores:
    """Name where identity is kept; mail is sealed there."""
    return Stores(
        users=store.identity.users,
        sessions=store.identity.sessions,
        challenges=store.identity.challenges,
        failures=store.identity.failures,
        outbox=SealedOutbox(store.identity.outbox, sealer),
        signing_keys=store.identity.signing_keys,
        audit=store.audit,
    )


def _identity_settings(origin: str, identity: Identity) -> IdentitySettings:
    """Read how long things last, and how often somebody may be wrong."""
    tries = identity.tries
    return IdentitySettings(
        origin=origin,
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

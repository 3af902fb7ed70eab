"""Identity assembled: the crafts, the operations over them, and what runs in the background."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
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
    IdentitySettings,
    OnSecurityEvent,
    Stores,
    ignore_event,
)
from gateway.operations.identity.services import (
    IdentityServices,
    build_identity_services,
)
from gateway.runtime.mail_sender import MailSender
from gateway.runtime.periodic_task import Turning
from gateway.security.identity.access_tokens import AccessTokens, Audience
from gateway.security.identity.opaque_tokens import OpaqueTokens
from gateway.security.identity.passwords import PasswordHasher
from gateway.security.identity.recovery_codes import RecoveryCodes
from gateway.security.identity.sealed_mail import SealedOutbox
from gateway.security.identity.signing_keys import Keyring, new_signing_key
from gateway.security.identity.totp import Totp
from gateway.security.keys import Keys
from gateway.security.sealing import Sealer
from gateway.store.engine import Store

_log = logging.getLogger(__name__)

_TOKENS = "opaque tokens"
_TIDY_EVERY_S = 600.0
_ANSWER_EVERY_S = 1.0
"""How often wishes for reset links are answered: by the clock, so that no wish is felt."""

_KEPT = timedelta(days=7)
"""How long what is over stays: whoever shows an old token is told from a stranger."""

_LONGEST_IDLE = timedelta(hours=1)
"""The most that ``session.idle_s`` may be: no browser that comes back is forgotten before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """
    Identity, ready to be started.

    Attributes:
        services: The operations.
        answering: Sends the reset links that were asked for.
        keyring: What ``/.well-known/jwks.json`` publishes.
    """

    parts: IdentityContext
    services: IdentityServices
    keyring: Keyring
    hasher: PasswordHasher
    mail: MailSender
    tidying: Tidying
    answering: Turning

    async def start(self) -> None:
        """
        Make the first signing key where there is none, and begin to send mail.

        Raises:
            StoreUnavailable: the store does not answer.
        """
        await self.services.signing_keys.ensure()
        self.mail.start()
        self.tidying.turning.start()
        self.answering.start()

    async def close(self) -> None:
        """Stop what runs in the background; let the hashing threads go."""
        await self.mail.stop()
        await self.tidying.turning.stop()
        await self.answering.stop()
        self.hasher.close()


class Tidying:
    """
    Forgets, now and then, what of people's comings and goings is long over.

    Attributes:
        turning: Has it done in the background.
    """

    def __init__(self, store: Store, now: Now) -> None:
        """Tidy up in ``store``."""
        self._store = store
        self._now = now
        self.turning = Turning("old sign-ins", self.tidy, _TIDY_EVERY_S)

    async def tidy(self) -> int:
        """Forget what was over a week ago, and browsers that went; return how many sign-ins."""
        kept, now = self._store.identity, self._now()
        before = now - _KEPT
        await kept.panels.forget(now - _LONGEST_IDLE, now)
        for each in (kept.challenges, kept.failures, kept.outbox):
            await each.forget(before)
        return await kept.sessions.forget(before)


def assemble_people(
    settings: Settings, store: Store, keys: Keys, now: Now, notice: OnSecurityEvent = ignore_event
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
        on_security_event=notice,
    )
    services = build_identity_services(
        parts, store.companies, partial(new_signing_key, sealer=keys.sealer)
    )
    return People(
        parts=parts,
        services=services,
        keyring=keyring,
        hasher=hasher,
        mail=MailSender(parts.stores.outbox, identity.mail, now),
        tidying=Tidying(store, now),
        answering=Turning(
            "reset links", services.reset_requests.answer, _ANSWER_EVERY_S, last=True
        ),
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

"""Builds identity: users, sessions, and the panel's browser sessions."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final

from msgspec.structs import asdict

from gateway.app.kernel import Kernel
from gateway.companies.service import find_company, known_company
from gateway.config.settings import Settings
from gateway.deliveries.sender import Sender, SenderConfig
from gateway.http.gates import PanelPolicies, UserPolicies
from gateway.http.panel.pages.kept import LABEL, KeptForms
from gateway.http.panel.pages.templates import Templates
from gateway.http.panel.static import read_static
from gateway.identity.context import Crypto, IdentityContext, IdentitySettings
from gateway.identity.cookies import DEVICE_LABEL, PANEL_LABEL, DeviceCookies, PanelCookies
from gateway.identity.mail import SealedMailbox
from gateway.identity.panel_sessions import PanelSessions, PanelSettings
from gateway.identity.panel_surface import Panel, PanelResponses
from gateway.identity.passkey_challenges import PasskeyChallenges
from gateway.identity.passwords import PasswordHasher
from gateway.identity.services import IdentityServices
from gateway.identity.signing_keys import Keyring
from gateway.identity.tokens import AccessTokens, Audience, OpaqueTokens
from gateway.identity.webauthn import RelyingParty
from gateway.security.sealing import Sealer
from gateway.single_sign_on.attempts import LABEL as ATTEMPTS
from gateway.single_sign_on.attempts import Attempts
from gateway.single_sign_on.issuers import Issuers
from gateway.single_sign_on.sign_in import SingleSignOn
from gateway.single_sign_on.store import IdentityProviderRecords
from policies.authentication.bearer import BearerToken
from policies.authentication.session import (
    HARDENED,
    INSECURE,
    BrowserCookie,
    DeviceCookie,
    SessionCookie,
)
from policies.authorization.user import RequiresSecondFactor
from policies.traffic.quota import PERSON, WithinAddressQuota, WithinPersonQuota

_TOKENS: Final = "opaque tokens"
_CHALLENGES: Final = "passkey challenges"
_OF_ADDRESSES: Final = ("anonymous", "keys", "sign_in", "second_factor", "recovery")
_RETURNED: Final = frozenset({"sign_in", "second_factor"})
"""Quotas of guesses: whoever was right gets the draw back."""


def build_identity(kernel: Kernel, hasher: PasswordHasher | None = None) -> IdentityServices:
    """Build identity; nothing is started. Without ``hasher``, hashes have the full cost."""
    store, keys, settings = kernel.store, kernel.keys, kernel.settings
    keyring = Keyring(store.identity.signing_keys.list, keys.sealer, kernel.now, kernel.monotonic)
    hasher = hasher or PasswordHasher(keys.password_peppers)
    identity = settings.identity
    context = IdentityContext(
        stores=replace(store.identity, mailbox=SealedMailbox(store.database, keys.sealer)),
        audit=store.audit,
        crypto=Crypto(
            hashing=hasher,
            opaque=OpaqueTokens(keys.derivation.key(_TOKENS)),
            access=AccessTokens(keyring, Audience(identity.issuer, identity.audience), kernel.now),
            challenges=PasskeyChallenges(keys.derivation.key(_CHALLENGES)),
            sealing=keys.sealer,
        ),
        settings=IdentitySettings(
            origin=settings.origin,
            issuer=identity.issuer,
            access=timedelta(seconds=identity.access_s),
            refresh=timedelta(seconds=identity.refresh_s),
            sessions=identity.sessions,
            throttles=identity.tries,
        ),
        now=kernel.now,
        new_id=kernel.new_id,
        pause=kernel.sleep,
        relying_party=RelyingParty(settings.origin, identity.issuer),
        events=kernel.events,
        local_sign_in=IdentityProviderRecords(store.database, keys.sealer).local_sign_in,
        os_user=store.database.os_user,
    )
    return IdentityServices(context, keyring, partial(known_company, store.database))


def build_panel(kernel: Kernel, identity: IdentityServices, policies: UserPolicies) -> Panel:
    """Build the panel's sessions; nothing is started."""
    settings, keys = kernel.settings, kernel.keys.derivation
    form = INSECURE if settings.session.insecure_dev else HARDENED
    devices = DeviceCookies(list(keys.keys(DEVICE_LABEL).values()), kernel.now)
    session = settings.session
    sessions = PanelSessions(
        store=kernel.store.identity.panels,
        find_company=partial(find_company, kernel.store.database),
        cookies=PanelCookies(list(keys.keys(PANEL_LABEL).values())),
        identity=identity.context,
        factors=identity.second_factors,
        settings=PanelSettings(
            idle=timedelta(seconds=session.idle_s), renewal=timedelta(seconds=session.renew_s)
        ),
    )
    device, sealing = DeviceCookie(form, devices.read), keys.keys(LABEL)
    static = read_static()
    return Panel(
        sessions=sessions,
        identity=identity,
        responses=PanelResponses(form, settings.environment, devices, settings.factor_roles),
        policies=PanelPolicies(
            users=policies,
            browser=BrowserCookie(form, sessions.find),
            device=device,
            session=SessionCookie(
                form=form, find=sessions.find, authenticate=sessions.authenticate
            ),
        ),
        kept=KeptForms(Sealer(sealing, next(iter(sealing))), device, kernel.now),
        static=static,
        templates=Templates(static.address),
    )


def build_sign_on(kernel: Kernel, identity: IdentityServices) -> SingleSignOn:
    """Build single sign-on; no provider is called yet."""
    keys, settings = kernel.keys.derivation.keys(ATTEMPTS), kernel.settings
    return SingleSignOn(
        records=IdentityProviderRecords(kernel.store.database, kernel.keys.sealer),
        issuers=Issuers(
            build_sender(kernel), kernel.monotonic, allow_local=settings.events.allow_local
        ),
        attempts=Attempts(
            Sealer(keys, next(iter(keys))),
            kernel.now,
            os.urandom,
            secure=not settings.session.insecure_dev,
        ),
        context=identity.context,
    )


def build_sender(kernel: Kernel) -> Sender:
    """Return a client for typed addresses, with connections of its own."""
    config = SenderConfig(
        allow_local=kernel.settings.events.allow_local,
        own_networks=kernel.settings.events.networks,
    )
    return Sender(config, kernel.shared_now, kernel.monotonic)


def build_user_policies(kernel: Kernel, identity: IdentityServices) -> UserPolicies:
    """Build the gates for users."""
    settings, count = kernel.settings, kernel.observer.count
    given = asdict(settings.ratelimits)
    by_address = {name: given[name] for name in _OF_ADDRESSES}
    shared = kernel.shared
    addresses = WithinAddressQuota(by_address, kernel.monotonic, count, _RETURNED, shared)
    users = WithinPersonQuota({PERSON: given[PERSON]}, kernel.monotonic, count, shared)

    def take(fresh: Settings) -> None:
        """Apply new quotas from now on."""
        given = asdict(fresh.ratelimits)
        addresses.change(given)
        users.change(given)

    kernel.reloads.append(take)
    return UserPolicies(
        bearer=BearerToken(identity.sessions.authenticate),
        factor=RequiresSecondFactor(settings.factor_roles),
        address_quota=addresses,
        user_quota=users,
        origin=lambda: settings.origin,
    )

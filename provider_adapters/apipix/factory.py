"""The factory of API Pix adapters and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec

from gateway.banks.port.capabilities import Capabilities
from gateway.banks.port.provider_callbacks import ProofRefused
from gateway.core.account import Environment
from provider_adapters.apipix.adapter import ApiPixAdapter
from provider_adapters.apipix.documents import HARMLESS
from provider_adapters.apipix.efi.calls import Efi
from provider_adapters.apipix.inter.calls import Inter
from provider_adapters.apipix.profiles import EFI, PROFILES, Name, Profile
from provider_adapters.apipix.secrets import ApiPixSecrets
from provider_adapters.kit.client import ProviderClient
from provider_adapters.kit.factory import AdapterContext, AdapterRefused
from provider_adapters.kit.proofs import PeerCertificate
from provider_adapters.kit.secrets import SecretsKind, client_of_accounts
from provider_adapters.kit.settings import ClientLimits, TlsFiles, address_of, settings_of
from provider_adapters.kit.tokens import AccessTokens

_KINDS: Final[Mapping[Name, type[ApiPixAdapter]]] = {Name.EFI: Efi, Name.INTER: Inter}
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


class ApiPixSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Settings: the bank and its address.

    Attributes:
        profile: The bank.
        base_url: Its address; empty for its profile's address in the environment.
        token_url: Where it gives tokens; empty for the same address, or the profile's.
        due_charges: Charges with a due date are looked for too; false for an account whose
            contract does not have them.
        callback_authority: A file with the authorities' certificates for the one that the bank
            shows with callbacks; empty has them proven by the secret of ``callbacks``.
        callback_names: Host or common names, one of which that certificate must bear.
    """

    profile: Name
    base_url: str = ""
    token_url: str = ""
    due_charges: bool = True
    callback_authority: str = ""
    callback_names: tuple[str, ...] = ()
    limits: ClientLimits = ClientLimits()
    tls: TlsFiles = TlsFiles()


class ApiPixFactory:
    """Makes adapters of API Pix; an ``AdapterFactory`` with profiles."""

    PORT = 1
    settings = ApiPixSettings
    account_secrets = ApiPixSecrets
    adapter = Efi
    """It has every call that a profile declares."""
    profiles: Mapping[str, Capabilities] = {
        name.value: profile.capabilities for name, profile in PROFILES.items()
    }
    capabilities = replace(
        EFI.capabilities,
        calls=reduce(or_, (profile.capabilities.calls for profile in PROFILES.values())),
    )

    def secrets_for(self, settings: Mapping[str, object]) -> SecretsKind:
        """Return the secrets' type for the bank of these settings."""
        profile = settings.get("profile")
        known = {name.value: each.secrets for name, each in PROFILES.items()}
        return known.get(str(profile), ApiPixSecrets)

    def __call__(self, settings: Mapping[str, object], context: AdapterContext) -> ApiPixAdapter:
        """Make the adapter; raises ``AdapterRefused`` as ``AdapterFactory`` does."""
        chosen = settings_of(context.name, ApiPixSettings, settings)
        profile = PROFILES[chosen.profile]
        base_url = _address(context, profile, "base_url", chosen.base_url, profile.base_urls)
        bank = _client(context, profile, base_url, chosen)
        tokens_at = _token_client(context, profile, chosen)
        return _KINDS.get(chosen.profile, ApiPixAdapter)(
            capabilities=profile.capabilities,
            profile=profile,
            client=bank,
            clients=(bank,) if tokens_at is None else (bank, tokens_at),
            tokens=AccessTokens(tokens_at or bank, profile.token, context),
            environment=context.environment,
            now=context.runtime.now,
            due=chosen.due_charges,
            authority=_authority(context, chosen),
            derives=urlsplit(base_url).hostname in _LOOPBACK,
        )


def _client(
    context: AdapterContext, profile: Profile, base_url: str, chosen: ApiPixSettings
) -> ProviderClient:
    """Make a client whose calls show each account's certificate."""
    limits = chosen.limits.within(profile.limits)
    return client_of_accounts(context, base_url, HARMLESS, limits, chosen.tls)


def _token_client(
    context: AdapterContext, profile: Profile, chosen: ApiPixSettings
) -> ProviderClient | None:
    """Make the client of a host that gives tokens alone; None for a bank that gives its own."""
    if not (chosen.token_url or profile.token_urls):
        return None
    address = _address(context, profile, "token_url", chosen.token_url, profile.token_urls)
    return _client(context, profile, address, chosen)


def _address(
    context: AdapterContext,
    profile: Profile,
    setting: str,
    given: str,
    known: Mapping[Environment, str],
) -> str:
    """Return an address of the settings, or the profile's; raises ``AdapterRefused``."""
    place = f"providers.{context.name}.settings.{setting}"
    text = given or known.get(context.environment, "")
    if not text:
        message = f"{place}: no source names a host of this environment: give one"
        raise AdapterRefused(message)
    return address_of(place, text, context.environment, profile.capabilities.hosts)


def _authority(context: AdapterContext, chosen: ApiPixSettings) -> PeerCertificate | None:
    """Read who signs the certificate of callbacks; raises ``AdapterRefused``."""
    if not chosen.callback_authority:
        return None
    place = f"providers.{context.name}.settings.callback_authority"
    try:
        pem = Path(chosen.callback_authority).read_text(encoding="ascii")
        return PeerCertificate(pem, context.runtime.now, chosen.callback_names)
    except (OSError, UnicodeDecodeError) as problem:
        message = f"{place}: the file cannot be read"
        raise AdapterRefused(message) from problem
    except ProofRefused as problem:
        message = f"{place}: {problem}"
        raise AdapterRefused(message) from problem

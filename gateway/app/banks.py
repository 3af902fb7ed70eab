"""A configured provider's adapter, and the address and proof of its callbacks."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from msgspec import to_builtins

from gateway.banks.checked_adapter import CheckedAdapter, checked_calls
from gateway.banks.connections import ConfiguredProvider, limits_of, proxy_of
from gateway.banks.followup_rate import FollowupRate, followup_share
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.provider_callbacks import CallbackProver, CallbackSecrets, ProofRefused
from gateway.banks.port.providers import ProviderAdapter
from gateway.callbacks.reception import CallbackAddress
from gateway.config.settings import Settings
from gateway.config.upstream import Provider
from gateway.core.account import BankSecrets, Environment, GivenSecrets
from gateway.core.cache import Cache
from gateway.net.common.names import HostNames
from gateway.net.common.runtime import Runtime
from gateway.security.keys import Derivation
from gateway.telemetry.ports import Event
from gateway.telemetry.records import Observer
from provider_adapters.checks import check_adapter, refused_if_raised, without_values
from provider_adapters.kit.factory import AdapterContext, AdapterRefused
from provider_adapters.kit.secrets import open_secrets, read_secrets, secrets_kind
from provider_adapters.kit.settings import ALL_OPERATIONS, ClientLimits
from provider_adapters.registry import find

_ASKED_BY_LOOKS: Final = (PortCall.FIND_PAYOUT, PortCall.LIST_STATEMENT, ALL_OPERATIONS)
_TOKEN_DIGITS: Final = 32
"""128 bits in hexadecimal digits: not to be guessed, and short enough to copy."""


def connect(
    name: str,
    settings: Settings,
    observer: Observer,
    runtime: Runtime | None = None,
    cache: Cache | None = None,
) -> ConfiguredProvider:
    """
    Build the adapter of one provider, with its answers checked; nothing is opened yet.

    An adapter whose settings have ``limits`` and ``tls`` gets the provider's, unless it was given
    its own. ``runtime`` holds its clocks, randomness and fail points; ``cache`` keeps what the
    adapter fetches for a while.

    Raises:
        AdapterRefused: the adapter is unknown, does not take its settings, or
            does not satisfy the port; the reason quotes no setting.
    """
    provider = settings.providers[name]
    told: list[ClientLimits] = []
    names = HostNames(partial(observer.count, Event.LOOK_UP_FAILED, name))
    context = AdapterContext(
        name=name,
        environment=settings.environment,
        observer=observer,
        runtime=replace(runtime or Runtime(), names=names, proxy=proxy_of(provider)),
        on_limits=told.append,
        cache=cache,
    )
    adapter = checked_calls(name, _made(provider, context), observer.count)
    kind = secrets_kind(find(provider.adapter), provider.settings)
    opener = None if kind is None else partial(open_secrets, kind, environment=settings.environment)
    return ConfiguredProvider(
        adapter,
        provider.read_only,
        opener,
        provider.adapter,
        provider.in_flight,
        _followup_rate(told, provider),
    )


def account_secrets(settings: Settings, provider: str, given: GivenSecrets) -> BankSecrets:
    """
    Read the secrets entered for an account, as its provider's adapter declares them.

    Raises:
        BankSecretsRefused: the secrets do not fit, or are incomplete.
        AdapterRefused: the adapter cannot be loaded.
    """
    chosen = settings.providers[provider]
    kind = secrets_kind(find(chosen.adapter), chosen.settings)
    return read_secrets(kind, given, settings.environment)


async def start(name: str, connection: ConfiguredProvider) -> None:
    """
    Start the adapter of one provider.

    Raises:
        AdapterRefused: it cannot be started; the reason quotes no setting.
    """
    with refused_if_raised(f"providers.{name}: the adapter's start"):
        await connection.adapter.start()


def _followup_rate(told: Sequence[ClientLimits], provider: Provider) -> FollowupRate:
    """Return the follow-up share; the configured default for an adapter without our client."""
    if not told:
        return followup_share(provider.in_flight, 0, ())
    allowed = told[0].account_limits
    rates = (allowed.rates.get(name) for name in _ASKED_BY_LOOKS)
    return followup_share(
        told[0].bulkhead.in_flight,
        told[0].account_in_flight,
        [each.rate for each in rates if each is not None],
    )


def _made(provider: Provider, context: AdapterContext) -> ProviderAdapter:
    """Build an adapter with the provider's limits and TLS where it takes them, and check it."""
    path = f"providers.{context.name}"
    try:
        factory = find(provider.adapter)
    except AdapterRefused as problem:
        message = f"{path}: {problem}"
        raise AdapterRefused(message) from problem
    _refuse_unknown_operations(context.name, provider)
    ours = {"limits": limits_of(provider), "tls": to_builtins(provider.tls)}
    known = factory.settings.__struct_fields__
    taken = {part: value for part, value in ours.items() if part in known}
    where = f"{path}: adapter {provider.adapter!r}"
    try:
        with refused_if_raised(where):
            adapter = factory({**taken, **provider.settings}, context)
    except AdapterRefused as problem:
        raise AdapterRefused(without_values(str(problem), provider.settings)) from problem
    check_adapter(adapter, factory, where)
    return adapter


def _refuse_unknown_operations(name: str, provider: Provider) -> None:
    """Refuse a rate for an operation that no bank has; raises ``AdapterRefused``."""
    known = (*PortCall, ALL_OPERATIONS)
    for operation in provider.account_limits.rates.keys() - set(known):
        near = difflib.get_close_matches(operation, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        message = f"providers.{name}.account_limits.rates: no such operation{hint}"
        raise AdapterRefused(message)


def make_addresses(
    settings: Settings, derivation: Derivation, adapters: Mapping[str, ProviderAdapter]
) -> Mapping[str, CallbackAddress]:
    """
    Build the addresses of the providers whose banks send callbacks, with their proofs.

    Raises:
        AdapterRefused: see ``make_address``.
    """
    return {
        name: address
        for name, adapter in adapters.items()
        if (address := make_address(name, settings, derivation, adapter)) is not None
    }


def make_address(
    name: str, settings: Settings, derivation: Derivation, adapter: ProviderAdapter
) -> CallbackAddress | None:
    """
    Build the callback address of one provider; None for a bank that sends no callbacks.

    Raises:
        AdapterRefused: the secret that proves its callbacks is missing or cannot be
            used, or the bank sends no callbacks and a secret for them is configured.
    """
    prover = prover_of(adapter)
    if prover is None:
        given = settings.providers[name].callbacks
        if given.secret or given.retired_secrets:
            message = f"providers.{name}.callbacks: the adapter takes no callbacks"
            raise AdapterRefused(message)
        return None
    try:
        with refused_if_raised(f"providers.{name}.callbacks: the proof"):
            proof = prover.callback_proof(secrets_of(name, settings, derivation))
    except ProofRefused as problem:
        message = f"providers.{name}.callbacks: {problem}"
        raise AdapterRefused(message) from problem
    return CallbackAddress(proof=proof, tokens=tokens_of(name, derivation))


def prover_of(adapter: ProviderAdapter) -> CallbackProver | None:
    """Return the prover of a provider's callbacks; None where its bank sends none."""
    made = adapter.checked if isinstance(adapter, CheckedAdapter) else adapter
    return made if isinstance(made, CallbackProver) else None


def path_of(name: str, derivation: Derivation) -> str:
    """
    Return the path of a provider's callbacks, below our own address.

    The last segment is derived from the sealing key alone, never from a secret shared with the
    bank: the proof of some banks is public.
    """
    return f"/callbacks/{name}/{tokens_of(name, derivation)[0]}"


def secrets_of(name: str, settings: Settings, derivation: Derivation) -> CallbackSecrets:
    """Return the secrets shared with a provider's bank."""
    given = settings.providers[name].callbacks
    is_sandbox = settings.environment is Environment.SANDBOX
    return CallbackSecrets(
        current=given.secret.encode(),
        former=tuple(each.encode() for each in given.retired_secrets.values()),
        # what is derived is kept nowhere
        derived=tuple(derivation.keys(f"callbacks {name}").values()) if is_sandbox else (),
    )


def tokens_of(name: str, derivation: Derivation) -> tuple[str, ...]:
    """Return the address tokens: of the current sealing key, then of retired keys."""
    keys = derivation.keys(f"callback address {name}").values()
    return tuple(key.hex()[:_TOKEN_DIGITS] for key in keys)

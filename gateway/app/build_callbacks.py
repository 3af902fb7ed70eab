"""Callbacks assembled: who may tell us what, and what is done about it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from gateway.config.settings import Settings
from gateway.domain.backoffice.callbacks import CallbackProof
from gateway.domain.backoffice.callbacks import Callbacks as CallbackStore
from gateway.domain.kernel.clocks import Now
from gateway.operations.backoffice.callbacks import Reception
from gateway.security.keys import Derivation
from gateway.telemetry.ports import Count
from provider_adapters._shared.factory import AdapterRefused, CallbackFactory
from provider_adapters.registry import find
from provider_adapters.sandbox.callbacks import sign

if TYPE_CHECKING:
    from provider_adapters.sandbox.bank.callbacks import CallbackListener

_SANDBOX: Final = "sandbox"


def make_proofs(
    settings: Settings, derivation: Derivation, now: Now
) -> Mapping[str, CallbackProof]:
    """
    Make the proofs of the providers that send callbacks.

    Raises:
        AdapterRefused: one that sends none was given a secret for them.
    """
    return {
        name: factory.proof(_secrets(settings, derivation, name), now)
        for name, factory in _senders(settings).items()
    }


def paths(settings: Settings, derivation: Derivation) -> Mapping[str, str]:
    """
    Return where each provider's bank sends its callbacks, below our own address.

    Raises:
        AdapterRefused: as ``make_proofs`` does.
    """
    return {
        name: f"/callbacks/{name}/{factory.token(_secrets(settings, derivation, name)[0])}"
        for name, factory in _senders(settings).items()
    }


def make_reception(
    store: CallbackStore,
    proofs: Mapping[str, CallbackProof],
    now: Now,
    count: Count,
    wake: Callable[[], None],
) -> Reception:
    """Make what takes callbacks."""
    return Reception(
        store=store,
        proofs=proofs,
        now=now,
        new_id=lambda: str(uuid.uuid4()),
        count=count,
        wake=wake,
    )


def sandbox_provider(settings: Settings) -> str | None:
    """Name the provider that the sandbox bank speaks for: the first of its adapter, or None."""
    known = (name for name, each in settings.providers.items() if each.adapter == _SANDBOX)
    return next(known, None)


def listener_of(
    settings: Settings, derivation: Derivation, gateway: Callable[[], str]
) -> CallbackListener | None:
    """
    Say where the sandbox bank tells us of what happens; None where no provider is its.

    Args:
        settings: Of the gateway that is told.
        derivation: Its keys.
        gateway: Its address as the bank reaches it, without a slash at the end;
            asked for each time.
    """
    name = sandbox_provider(settings)
    if name is None:
        return None
    path, secret = paths(settings, derivation)[name], _secrets(settings, derivation, name)[0]
    from provider_adapters.sandbox.bank.callbacks import CallbackListener  # noqa: PLC0415 - see the assembly

    return CallbackListener(lambda: gateway() + path, partial(sign, secret))


def sender(name: str, settings: Settings) -> CallbackFactory | None:
    """
    Return the adapter of a provider whose bank sends callbacks; None for one that sends none.

    Raises:
        AdapterRefused: it was given a secret for what it does not send.
    """
    provider = settings.providers[name]
    factory = find(provider.adapter)
    if isinstance(factory, CallbackFactory):
        return factory
    if provider.callbacks.secret or provider.callbacks.retired_secrets:
        message = f"providers.{name}.callbacks: {provider.adapter} sends no callbacks"
        raise AdapterRefused(message)
    return None


def _senders(settings: Settings) -> dict[str, CallbackFactory]:
    """Return those of all providers, by name."""
    found = {name: sender(name, settings) for name in settings.providers}
    return {name: factory for name, factory in found.items() if factory is not None}


def _secrets(settings: Settings, derivation: Derivation, name: str) -> Sequence[bytes]:
    """Return what a provider's callbacks are signed with, the one in force first."""
    given = settings.providers[name].callbacks
    # what is derived is kept nowhere
    current = given.secret.encode() or derivation.key(f"callbacks {name}")
    return [current, *(each.encode() for each in given.retired_secrets.values())]

"""Callbacks assembled: who may tell us what, and what is done about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from gateway.app.kernel import Kernel
from gateway.banks.checked_adapter import CheckedAdapter
from gateway.banks.health import Connection
from gateway.banks.port.provider_callbacks import CallbackProver, CallbackSecrets, ProofRefused
from gateway.banks.port.providers import ProviderAdapter
from gateway.callbacks.reception import CallbackAddress, Reception
from gateway.callbacks.store import CallbackRecords
from gateway.config.settings import Settings
from gateway.core.account import Environment
from gateway.security.keys import Derivation
from provider_adapters.checks import refused_if_raised
from provider_adapters.kit.factory import AdapterRefused

_TOKEN_DIGITS: Final = 32
"""128 bits in hexadecimal digits: not to be guessed, and short enough to copy."""


def make_addresses(
    settings: Settings, derivation: Derivation, adapters: Mapping[str, ProviderAdapter]
) -> Mapping[str, CallbackAddress]:
    """
    Make the addresses of the providers whose banks send callbacks, with their proofs.

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
    Make the address of one provider; None for a bank that sends no callbacks.

    Raises:
        AdapterRefused: what it would prove its callbacks with is missing or cannot be
            used, or it sends none and was given a secret for them.
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
    return CallbackAddress(proof=proof, tokens=_tokens(name, derivation))


def prover_of(adapter: ProviderAdapter) -> CallbackProver | None:
    """Return what makes the proof of a provider's callbacks; None where its bank sends none."""
    made = adapter.checked if isinstance(adapter, CheckedAdapter) else adapter
    return made if isinstance(made, CallbackProver) else None


def path_of(name: str, derivation: Derivation) -> str:
    """
    Return where a provider's bank sends its callbacks, below our own address.

    The last step comes from the sealing key alone, never from what is shared with the bank:
    some banks prove themselves with what everybody knows.
    """
    return f"/callbacks/{name}/{_tokens(name, derivation)[0]}"


def secrets_of(name: str, settings: Settings, derivation: Derivation) -> CallbackSecrets:
    """Return what a provider's bank and we both know."""
    given = settings.providers[name].callbacks
    is_sandbox = settings.environment is Environment.SANDBOX
    return CallbackSecrets(
        current=given.secret.encode(),
        former=tuple(each.encode() for each in given.retired_secrets.values()),
        # what is derived is kept nowhere
        derived=tuple(derivation.keys(f"callbacks {name}").values()) if is_sandbox else (),
    )


def build_callbacks(
    kernel: Kernel, connections: Mapping[str, Connection], wake: Callable[[], None]
) -> Reception:
    """
    Build what takes callbacks; ``wake`` is called for each new one.

    Raises:
        AdapterRefused: see ``make_address``.
    """
    adapters = {name: each.adapter for name, each in connections.items()}
    return Reception(
        store=CallbackRecords(kernel.store.database),
        addresses=make_addresses(kernel.settings, kernel.keys.derivation, adapters),
        now=kernel.now,
        new_id=kernel.new_id,
        note=kernel.observer.callback,
        wake=wake,
    )


def _tokens(name: str, derivation: Derivation) -> tuple[str, ...]:
    """Return the last step of our address: of the sealing key in force, then of retired ones."""
    keys = derivation.keys(f"callback address {name}").values()
    return tuple(key.hex()[:_TOKEN_DIGITS] for key in keys)

"""Callbacks assembled: who may tell us what, and what is done about it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from gateway.config.settings import Settings
from gateway.domain.callbacks import CallbackProof
from gateway.domain.clocks import Now
from gateway.domain.office_stores import Callbacks as CallbackStore
from gateway.operations.callbacks import Reception, Seen
from gateway.security.derivation import Derivation
from provider_adapters.sandbox.bank.notices import Listener
from provider_adapters.sandbox.callbacks import SandboxProof, sign, token_of

_SANDBOX: Final = "sandbox"


def make_proofs(
    settings: Settings, derivation: Derivation, now: Now
) -> Mapping[str, CallbackProof]:
    """Make the proofs of the providers that send callbacks."""
    return {
        name: SandboxProof(_secret(derivation, name), now) for name in _sandbox_providers(settings)
    }


def make_reception(
    store: CallbackStore,
    proofs: Mapping[str, CallbackProof],
    now: Now,
    seen: Seen,
    wake: Callable[[], None],
) -> Reception:
    """Make what takes callbacks."""
    return Reception(
        store=store,
        proofs=proofs,
        now=now,
        new_id=lambda: str(uuid.uuid4()),
        seen=seen,
        wake=wake,
    )


def listener_of(
    settings: Settings, derivation: Derivation, port: Callable[[], int]
) -> Listener | None:
    """Say where the embedded bank tells us of what happens; None where no provider is its."""
    name = next(iter(_sandbox_providers(settings)), None)
    if name is None:
        return None
    secret = _secret(derivation, name)
    path = f"/callbacks/{name}/{token_of(secret)}"
    host = settings.server.host
    return Listener(lambda: f"http://{host}:{port()}{path}", partial(sign, secret))


def _sandbox_providers(settings: Settings) -> list[str]:
    return [name for name, each in settings.providers.items() if each.adapter == _SANDBOX]


def _secret(derivation: Derivation, name: str) -> bytes:
    """Return what a provider's callbacks are signed with; it is kept nowhere."""
    return derivation.key(f"callbacks {name}")

"""Search parameters of callbacks."""

from __future__ import annotations

from typing import Final

from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.callbacks.model import CallbackSearch, CallbackState
from gateway.core.calls import Input
from policies.validation.backoffice import inputs

SEARCH: Final[Input[CallbackSearch]] = inputs.search(
    CallbackSearch,
    inputs.text_filter("provider", "Of this provider."),
    inputs.word_filter("kind", CallbackKind),
    inputs.word_filter("state", CallbackState),
    kind=CallbackKind,
    state=CallbackState,
)

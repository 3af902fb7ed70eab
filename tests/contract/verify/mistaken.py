"""Adapters with one mistake each: a right one that mishears, misasks, or was changed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from gateway.core.clocks import Deadline
from provider_adapters.kit.answers import ProviderAnswer
from provider_adapters.kit.client import ProviderClient
from provider_adapters.kit.factory import AdapterContext, AdapterFactory
from provider_adapters.kit.requests import ProviderRequest
from provider_adapters.sandbox.adapter import SandboxAdapter
from provider_adapters.sandbox.factory import SandboxFactory
from provider_adapters.testing.stages import SandboxStage
from provider_adapters.testing.verify.trial import MakeStage

Hear = Callable[[ProviderRequest, ProviderAnswer], ProviderAnswer]
"""What the adapter makes of an answer before it reads it."""
Ask = Callable[[ProviderRequest], ProviderRequest]
"""What the adapter asks instead."""
Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """
    An adapter with one mistake.

    Attributes:
        case: The case of the suite that catches it.
        sane: A case that it passes all the same: nothing else is wrong with it.
    """

    name: str
    case: str
    factory: AdapterFactory
    stage: MakeStage = SandboxStage
    sane: str = "reads.empty"


class MistakenClient:
    def __init__(self, behind: ProviderClient, hear: Hear, ask: Ask) -> None:
        self._behind, self._hear, self._ask = behind, hear, ask

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)

    async def read(
        self, request: ProviderRequest, translate: Any, by: Deadline | None = None
    ) -> Any:
        return await self._behind.read(self._ask(request), self._heard(request, translate), by)

    async def pay(self, request: ProviderRequest, translate: Any, send_by: Deadline) -> Any:
        return await self._behind.pay(self._ask(request), self._heard(request, translate), send_by)

    async def change(self, request: ProviderRequest, translate: Any) -> Any:
        return await self._behind.change(self._ask(request), self._heard(request, translate))

    def _heard(self, request: ProviderRequest, translate: Any) -> Any:
        return lambda answer: translate(self._hear(request, answer))


def rightly(_: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
    return answer


def same(request: ProviderRequest) -> ProviderRequest:
    return request


class WrongFactory(SandboxFactory):
    def __init__(
        self, kind: type[SandboxAdapter] = SandboxAdapter, hear: Hear = rightly, ask: Ask = same
    ) -> None:
        self.adapter = kind
        self._hear, self._ask = hear, ask

    def __call__(self, settings: Mapping[str, object], context: AdapterContext) -> SandboxAdapter:
        made = super().__call__(settings, context)
        parts = {each.name: getattr(made, each.name) for each in dataclasses.fields(made)}
        return self.adapter(
            **{**parts, "client": MistakenClient(made.client, self._hear, self._ask)}
        )


def hearing(name: str, case: str, hear: Hear, **more: Any) -> Wrong:
    return Wrong(name=name, case=case, factory=WrongFactory(hear=hear), **more)


def asking(name: str, case: str, ask: Ask, **more: Any) -> Wrong:
    return Wrong(name=name, case=case, factory=WrongFactory(ask=ask), **more)


def being(name: str, case: str, kind: type[SandboxAdapter], **more: Any) -> Wrong:
    return Wrong(name=name, case=case, factory=WrongFactory(kind), **more)


def document_of(body: bytes) -> Document:
    """Read a document; empty for what is none."""
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def saying(answer: ProviderAnswer, document: object, status: int = 0) -> ProviderAnswer:
    """Put another document in an answer's place, and another status."""
    body = json.dumps(document).encode()
    return msgspec.structs.replace(answer, body=body, status=status or answer.status)


REJECTED: Final = {"error": {"code": "REJECTED", "message": ""}}

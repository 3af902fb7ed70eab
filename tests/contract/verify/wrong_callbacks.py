"""Mistakes about callbacks, as tired people make them."""

from __future__ import annotations

import dataclasses
import json
import logging
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.payout_orders import PayoutOrder
from gateway.banks.port.provider_callbacks import (
    ONLY_OURS,
    CallbackKind,
    CallbackProof,
    CallbackSecrets,
    Delivery,
    NamedBy,
    Notice,
)
from gateway.banks.port.providers import Outcome, ProviderAccount
from gateway.core.clocks import Deadline
from provider_adapters.kit.proofs import only_value
from provider_adapters.kit.transcript import Transcript
from provider_adapters.sandbox.adapter import SandboxAdapter
from provider_adapters.sandbox.callbacks import SandboxProof
from provider_adapters.sandbox.documents import HARMLESS
from provider_adapters.testing.sandbox import sign
from provider_adapters.testing.stages import SandboxStage
from provider_adapters.testing.verify.stage import SentHeaders
from tests.contract.verify.mistaken import Wrong, being, document_of

EVENT: Final = "Webhook-Id"
LOG: Final = logging.getLogger("pixgate.provider.sandbox")


class Proof:
    """A correct proof; a subclass adds the fault."""

    rests = ONLY_OURS

    def __init__(self, right: SandboxProof, secrets: CallbackSecrets) -> None:
        self.right, self.secrets = right, secrets
        self.seen: list[Sequence[Notice]] = []
        self.events: set[str] = set()

    async def check(self, came: Delivery) -> Sequence[Notice] | None:
        notices = await self.right.check(came)
        if notices is not None:
            self.seen.append(notices)
        return notices if notices is None else self.told(came, notices)

    def told(self, came: Delivery, notices: Sequence[Notice]) -> Sequence[Notice] | None:
        return notices


class Believes(Proof):
    """Asks for no proof."""

    async def check(self, came: Delivery) -> Sequence[Notice] | None:
        said = document_of(came.body)
        kind = CallbackKind.CHARGE if said.get("tipo") == "cobranca" else CallbackKind.PAYOUT
        subject = said.get("referencia") or said.get("chave") or ""
        return (Notice(event=str(only_value(came.headers, EVENT)), kind=kind, subject=subject),)


class Remembers(Proof):
    """Believes an event that it has believed before."""

    async def check(self, came: Delivery) -> Sequence[Notice] | None:
        event = only_value(came.headers, EVENT)
        if event and event in self.events:
            return self.seen[-1]
        notices = await super().check(came)
        if notices is not None:
            self.events.add(event)
        return notices


class Once(Remembers):
    """Says nothing of what it has believed before."""

    async def check(self, came: Delivery) -> Sequence[Notice] | None:
        if only_value(came.headers, EVENT) in self.events:
            return ()
        return await super().check(came)


class NewEvents(Proof):
    def told(self, came: Delivery, notices: Sequence[Notice]) -> Sequence[Notice]:
        return [dataclasses.replace(each, event=uuid.uuid4().hex) for each in notices]


class OneEvent(Proof):
    """Takes a company's name for an event's."""

    def told(self, came: Delivery, notices: Sequence[Notice]) -> Sequence[Notice]:
        return [dataclasses.replace(each, event="evt") for each in notices]


class Nameless(Proof):
    """Does not say which payout it is."""

    def told(self, came: Delivery, notices: Sequence[Notice]) -> Sequence[Notice]:
        return [dataclasses.replace(each, subject="") for each in notices]


class Piling(Proof):
    """Says everything that was said so far."""

    def told(self, came: Delivery, notices: Sequence[Notice]) -> Sequence[Notice]:
        return [each for some in self.seen for each in some]


class Telling(Proof):
    """Logs what it could not believe."""

    async def check(self, came: Delivery) -> Sequence[Notice] | None:
        notices = await super().check(came)
        if notices is None:
            LOG.warning("not proven by %s", self.secrets.current.hex())
        return notices


class Proving(SandboxAdapter):
    proof: type[Proof] = Proof

    def callback_proof(self, secrets: CallbackSecrets) -> CallbackProof:  # type: ignore[override]
        return self.proof(SandboxAdapter.callback_proof(self, secrets), secrets)


class Keyed(Proof):
    def told(self, came: Delivery, notices: Sequence[Notice]) -> Sequence[Notice]:
        key = {"account": "loja1@example.com", "named_by": NamedBy.KEY}
        return [dataclasses.replace(each, **key) for each in notices]  # type: ignore[arg-type]


class Keyless(Proving):
    """Of a bank that lists no keys."""

    proof = Keyed

    def __init__(self, **parts: Any) -> None:
        can = parts["capabilities"]
        calls = can.calls - {PortCall.LIST_KEYS, PortCall.GET_KEY}
        super().__init__(**{**parts, "capabilities": dataclasses.replace(can, calls=calls)})


def proving(name: str, case: str, kind: type[Proof]) -> Wrong:
    return being(name, case, type(kind.__name__, (Proving,), {"proof": kind}))


class Ageless(SandboxAdapter):
    """Believes whatever was signed once."""

    def callback_proof(self, secrets: CallbackSecrets) -> CallbackProof:  # type: ignore[override]
        return _AnyTime(secrets)


class _AnyTime:
    rests = ONLY_OURS

    def __init__(self, secrets: CallbackSecrets) -> None:
        self.secrets = secrets

    async def check(self, came: Delivery) -> Sequence[Notice] | None:
        signed = only_value(came.headers, "Webhook-Timestamp")
        if not signed.isdigit():
            return None
        at = datetime.fromtimestamp(int(signed)).astimezone()
        return await SandboxProof(self.secrets.shared, lambda: at).check(came)


class Abrupt(SandboxAdapter):
    def callback_proof(self, secrets: CallbackSecrets) -> SandboxProof:
        return SandboxProof((secrets.current,), self.now)


class Own(SandboxAdapter):
    """Knows no payout but those that it has ordered itself."""

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        ORDERED.setdefault(id(self), set()).add(order.provider_key)
        return await SandboxAdapter.create_payout(self, account, order, send_by)

    def callback_proof(self, secrets: CallbackSecrets) -> CallbackProof:  # type: ignore[override]
        return _Own(SandboxAdapter.callback_proof(self, secrets), secrets, id(self))


ORDERED: dict[int, set[str]] = {}


class _Own(Proof):
    def __init__(self, right: SandboxProof, secrets: CallbackSecrets, whose: int) -> None:
        super().__init__(right, secrets)
        self.whose = whose

    def told(self, came: Delivery, notices: Sequence[Notice]) -> Sequence[Notice]:
        ordered = ORDERED.get(self.whose, set())
        return [each for each in notices if each.subject in ordered]


class Open(SandboxAdapter):
    async def start(self) -> None:
        shown = HARMLESS | {"documento", "nome"}
        self.client._behind.transcript = Transcript("bank", shown)  # type: ignore[attr-defined]
        await SandboxAdapter.start(self)


class Batches(SandboxStage):
    """A bank with several notices in one callback."""

    async def callback_of_several(
        self, account: ProviderAccount, subjects: Sequence[str], at: datetime
    ) -> Delivery:
        told = [{"tipo": "cobranca", "referencia": each} for each in subjects]
        body = json.dumps({"avisos": told}).encode()
        headers = sign(self.callback_secrets.current, "evt_of_several", at, body)
        return Delivery(headers=SentHeaders(headers), body=body)


class Several(Proof):
    """Reads each thing of a body; a right proof of such a bank."""

    def told(self, came: Delivery, notices: Sequence[Notice]) -> Sequence[Notice] | None:
        things = document_of(came.body).get("avisos")
        return notices if things is None else [self.one(each) for each in things]

    def one(self, thing: dict[str, str]) -> Notice:
        part = json.dumps(thing).encode()
        subject = thing["referencia"]
        return Notice(event="", kind=CallbackKind.CHARGE, subject=subject, part=part)


class First(Several):
    """Reads the first thing of a body."""

    def told(self, came: Delivery, notices: Sequence[Notice]) -> Sequence[Notice] | None:
        return (super().told(came, notices) or ())[:1]


class Mixed(Several):
    def one(self, thing: dict[str, str]) -> Notice:
        return dataclasses.replace(super().one(thing), part=b"")


def batching(name: str, case: str, kind: type[Proof]) -> Wrong:
    return dataclasses.replace(proving(name, case, kind), stage=Batches)


RIGHT: Final = batching("several at once", "callbacks.several", Several)
"""Passes."""

WRONG: Final[tuple[Wrong, ...]] = (
    proving("anybody is believed", "callbacks.proven", Believes),
    proving("an event is believed for good", "callbacks.altered", Remembers),
    proving("each callback is an event", "callbacks.any_order", NewEvents),
    proving("all callbacks are one event", "callbacks.any_order", OneEvent),
    proving("a repetition says nothing", "callbacks.any_order", Once),
    proving("what was said is said again", "callbacks.any_order", Piling),
    proving("nobody knows which payout", "callbacks.proven", Nameless),
    proving("secrets are logged", "callbacks.nothing_told", Telling),
    being("nobody lists the keys that name an account", "callbacks.proven", Keyless),
    being("transcripts show people", "callbacks.nothing_told", Open),
    being("signatures do not age", "callbacks.late", Ageless),
    being("a former secret is dropped", "callbacks.rotated", Abrupt),
    being("others' payouts are ignored", "callbacks.proven", Own),
    batching("the first of several is read", "callbacks.several", First),
    batching("several things share a body", "callbacks.several", Mixed),
)

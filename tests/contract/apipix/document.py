"""What several tests of document share."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any

import jsonpatch
import yaml

from gateway.banks.port.charges import ChargeOrder, ChargeType, Payer
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.banks.port.refunds import RefundOrder
from gateway.core.money import Money
from provider_adapters.apipix.profiles import PROFILES, Name
from provider_adapters.testing.verify.stage import Charge, ChargePaid, Received
from provider_adapters.testing.verify.trial import far, new_provider_key
from tests.contract.apipix.conftest import Exchange, Watched
from tests.world.standing import around_today
from tests.world.tree import ROOT

DOCUMENT = ROOT / "tests/vectors/documents/bacen-pix-api"
BASE = "/v2"
URL = "http://127.0.0.1:1/callbacks/efi/token"


class _Text(yaml.SafeLoader):
    """A loader to which instants are texts, as they are in JSON."""


_Text.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in known if tag != "tag:yaml.org,2002:timestamp"]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def corrected() -> dict[str, Any]:
    """Read the document with the corrections of forms that no value can fit as published."""
    text = (DOCUMENT / "openapi-2.9.0.yaml").read_text(encoding="utf-8")
    published = yaml.load(text, Loader=_Text)  # noqa: S506 - a safe loader
    corrections = json.loads((DOCUMENT / "corrections.rfc6902.json").read_text(encoding="utf-8"))
    made: dict[str, Any] = jsonpatch.apply_patch(published, corrections)
    return made


def charge(efi: Watched, **more: Any) -> ChargeOrder:
    asked = {"reference": "pedido/1", "type": ChargeType.DYNAMIC, "value": Money(1050)}
    return ChargeOrder(**{**asked, "key": efi.key, **more})


async def create(efi: Watched) -> None:
    payer = Payer(name="Maria Silva", tax_number="52998224725")
    await efi.adapter.create_charge(
        efi.account, charge(efi, expires_in=600, payer=payer, description="Nota 1")
    )


async def create_bare(efi: Watched) -> None:
    await efi.adapter.create_charge(efi.account, charge(efi, reference="pedido/2"))


async def read(efi: Watched) -> None:
    reference = await efi.stage.put(efi.account, Charge(value=Money(1050)))
    await efi.adapter.get_charge(efi.account, reference)


async def read_paid(efi: Watched) -> None:
    reference = await efi.stage.put(efi.account, Charge(value=Money(1050)))
    await efi.stage.put(efi.account, ChargePaid(reference=reference))
    await efi.adapter.get_charge_payment(efi.account, reference)


async def cancel(efi: Watched) -> None:
    reference = await efi.stage.put(efi.account, Charge(value=Money(1050)))
    await efi.adapter.cancel_charge(efi.account, reference)


async def received(efi: Watched) -> None:
    for _ in range(3):
        await efi.stage.put(efi.account, Received(value=Money(1050)))
    page = await efi.adapter.list_received(efi.account, around_today(), None, 2)
    await efi.adapter.list_received(efi.account, around_today(), page.next_cursor, 2)
    await efi.adapter.find_received(efi.account, page.items[0].e2e_id)


async def refund(efi: Watched) -> None:
    e2e_id = await efi.stage.put(efi.account, Received(value=Money(1050)))
    order = RefundOrder(
        provider_key=new_provider_key(),
        reference="troco",
        payment_e2e_id=e2e_id,
        value=Money(40),
        description="Troco",
    )
    await efi.adapter.create_refund(efi.account, order, far())
    await efi.adapter.create_refund(efi.account, order, far())
    await efi.stage.settle()
    await efi.adapter.find_refund(efi.account, order.provider_key)
    await efi.adapter.list_refunds(efi.account, around_today(), None, 10)


async def webhook(efi: Watched) -> None:
    made = await efi.adapter.register_callback(
        efi.account, CallbackOrder(url=URL, secret=b"shared")
    )
    await efi.adapter.list_callbacks(efi.account)
    await efi.adapter.remove_callback(efi.account, made.id)


ACTS: dict[str, Callable[[Watched], Awaitable[None]]] = {
    act.__name__: act
    for act in (create, create_bare, read, read_paid, cancel, received, refund, webhook)
}


def standard(asked: Iterable[Exchange], name: Name = Name.EFI) -> list[Exchange]:
    """Leave out what is a bank's own, and have all paths begin as the document's do."""
    known = PROFILES[name]
    begins = [f"{base}/" for base in (known.pix, known.charges) if base]
    own = tuple(f"{base}gn/" for base in begins)
    return [
        replace(each, path=f"{BASE}/{each.path.removeprefix(base)}")
        for each in asked
        for base in begins
        if each.path.startswith(base) and not each.path.startswith(own)
    ]

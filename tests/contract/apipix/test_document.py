"""What our adapter asks and simulators answer, judged by the central bank's document."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

import jsonpatch
import pytest
import yaml
from openapi_core import Config, OpenAPI
from openapi_core.testing import MockRequest, MockResponse

from gateway.domain.bank.charges import ChargeOrder, ChargeType, Payer
from gateway.domain.bank.provider_callbacks import CallbackOrder
from gateway.domain.bank.providers import NotFound, Refused
from gateway.domain.bank.refunds import RefundOrder
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import Window
from provider_adapters.apipix.profiles import PROFILES, Name
from provider_adapters.verify.stage import Charge, ChargePaid, Received
from provider_adapters.verify.trial import far, new_provider_key
from tests.architecture.tree import ROOT
from tests.contract.apipix.conftest import Exchange, Watched, simulated

DOCUMENT = ROOT / "tests/vectors/documents/bacen-pix-api"
BASE = "/v2"
HOST = "https://pix.example.com"
# Of the document's OAuth 2, which openapi-core leaves to whoever asks.
pytestmark = pytest.mark.filterwarnings("ignore:Unsupported scheme type")
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


@cache
def judge() -> OpenAPI:
    """Make a judge of the corrected document."""
    config = Config(
        spec_validator_cls=None,
        extra_media_type_deserializers={"application/problem+json": json.loads},
    )
    return OpenAPI.from_dict(corrected(), config=config)


def wrong_with(exchange: Exchange) -> list[str]:
    """Return what the document holds against a request or its answer."""
    request = MockRequest(
        HOST,
        exchange.method,
        "/api" + exchange.path.removeprefix(BASE),
        args=dict(exchange.query),
        headers=dict(exchange.headers),
        data=exchange.body or None,
    )
    answer = exchange.written
    kind = "application/json" if exchange.status < 400 else "application/problem+json"
    response = MockResponse(answer, exchange.status, content_type=kind)
    asked = judge().unmarshal_request(request).errors
    told = judge().unmarshal_response(request, response).errors
    return [_sentence(each) for each in (*asked, *told)]


def _sentence(error: BaseException) -> str:
    inner: Iterable[Any] = getattr(error.__cause__, "schema_errors", ())
    return f"{error!r}: {[each.message for each in inner] or error.__cause__!r}"


def today() -> Window:
    day = datetime.now(UTC).date()
    return Window(day, day)


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
    page = await efi.adapter.list_received(efi.account, today(), None, 2)
    await efi.adapter.list_received(efi.account, today(), page.next_cursor, 2)
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
    await efi.adapter.list_refunds(efi.account, today(), None, 10)


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


@pytest.mark.parametrize("act", ACTS)
async def test_the_document_knows_every_request_and_answer(efi: Watched, act: str):
    await ACTS[act](efi)

    seen = standard(efi.asked())
    assert seen
    assert {
        f"{each.method} {each.path}": wrong_with(each) for each in seen if wrong_with(each)
    } == {}


@pytest.mark.parametrize("name", [name for name in Name if name is not Name.EFI])
async def test_the_document_knows_the_other_banks_too(name: Name):
    """Their paths begin elsewhere, and name the account in other ways: the rest is the same."""
    async with simulated(name) as (stage, adapter):
        bank = Watched(stage, adapter)
        for act in ACTS.values():
            await act(bank)
        asked = bank.asked()

    seen = standard(asked, name)
    assert len(seen) == len(asked)
    assert {
        f"{each.method} {each.path}": wrong_with(each) for each in seen if wrong_with(each)
    } == {}


async def test_the_document_knows_what_is_refused(efi: Watched):
    """Absent things, and a charge that is changed twice."""
    for absent in (
        efi.adapter.get_charge(efi.account, "nada/1"),
        efi.adapter.find_received(efi.account, "E" + "0" * 31),
    ):
        with pytest.raises(NotFound):
            await absent
    reference = await efi.stage.put(efi.account, Charge(value=Money(1050)))
    await efi.adapter.cancel_charge(efi.account, reference)
    with pytest.raises(Refused):
        await efi.adapter.create_charge(efi.account, charge(efi, reference=reference))

    seen = [each for each in standard(efi.asked()) if each.status >= 400]
    assert {each.status for each in seen} >= {404}
    assert [wrong_with(each) for each in seen if wrong_with(each)] == []


async def test_the_judge_sees_what_is_wrong(efi: Watched):
    """A form that the document does not have, in a request and in an answer."""
    await create_bare(efi)
    (made,) = [each for each in efi.asked() if each.method == "PUT"]
    body = {**made.document, "valor": {"original": "10.5"}}
    asked = Exchange(**{**vars(made), "body": json.dumps(body).encode()})
    told = Exchange(**{**vars(made), "answer": {**dict(made.answer), "txid": "1"}})  # type: ignore[call-overload]

    assert [bool(wrong_with(each)) for each in (made, asked, told)] == [False, True, True]

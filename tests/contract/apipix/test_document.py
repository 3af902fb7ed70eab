"""What our adapter asks and simulators answer, judged by the central bank's document."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest
from openapi_core import Config, OpenAPI
from openapi_core.testing import MockRequest, MockResponse

from gateway.banks.port.providers import NotFound, Refused
from gateway.core.money import Money
from provider_adapters.apipix.profiles import Name
from provider_adapters.testing.verify.stage import Charge
from tests.contract.apipix.conftest import Exchange, Watched, simulated
from tests.contract.apipix.document import ACTS, BASE, charge, corrected, create_bare, standard

HOST = "https://pix.example.com"
# Of the document's OAuth 2, which openapi-core leaves to whoever asks.
pytestmark = pytest.mark.filterwarnings("ignore:Unsupported scheme type")


@cache
def judge() -> OpenAPI:
    config = Config(
        spec_validator_cls=None,
        extra_media_type_deserializers={"application/problem+json": json.loads},
    )
    return OpenAPI.from_dict(corrected(), config=config)


def wrong_with(exchange: Exchange) -> list[str]:
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


@pytest.mark.parametrize("act", ACTS)
async def test_the_document_describes_every_request_and_answer(efi: Watched, act: str):
    await ACTS[act](efi)

    seen = standard(efi.asked())
    assert seen
    assert {
        f"{each.method} {each.path}": wrong_with(each) for each in seen if wrong_with(each)
    } == {}


@pytest.mark.parametrize("name", [name for name in Name if name is not Name.EFI])
async def test_the_document_describes_the_other_banks_too(name: Name):
    """Their paths have other prefixes and account headers; the rest is the same."""
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


async def test_the_document_lists_every_refusal(efi: Watched):
    """Absent records, and a second change of a charge."""
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


async def test_the_document_checker_finds_faults(efi: Watched):
    """Shapes that the document does not have, in a request and in an answer."""
    await create_bare(efi)
    (made,) = [each for each in efi.asked() if each.method == "PUT"]
    body = {**made.document, "valor": {"original": "10.5"}}
    asked = Exchange(**{**vars(made), "body": json.dumps(body).encode()})
    told = Exchange(**{**vars(made), "answer": {**dict(made.answer), "txid": "1"}})  # type: ignore[call-overload]

    assert [bool(wrong_with(each)) for each in (made, asked, told)] == [False, True, True]

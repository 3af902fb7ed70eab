"""Comparing answers reveals nothing to a stranger."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

import pytest
import pytest_asyncio

from gateway.security.secrets import new_client_id, new_client_secret
from provider_adapters.testing.demo.ensure import Pair
from tests.world.gateway import routes
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import World, other_secret

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("prepared")]

OWN = frozenset({"X-Trace-ID", "Date", "RateLimit"})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def strangers(world: World) -> Mapping[str, Pair]:
    """Pairs that open nothing, each for another reason."""
    unknown = Pair(
        client_id=new_client_id(lambda size: b"n" * size),
        client_secret=new_client_secret(lambda size: b"n" * size),
    )
    return {
        "unknown id": unknown,
        "wrong secret": other_secret(world.pair("full")),
        "revoked": world.pair("revoked"),
        "revoked, wrong secret": other_secret(world.pair("revoked")),
        "mistyped": Pair(client_id=unknown["client_id"], client_secret="gws_short"),
        "nobody": Pair(client_id="", client_secret=""),
        "an id of megabytes": Pair(client_id="x" * 5000, client_secret=unknown["client_secret"]),
    }


def seen(answer: Answer) -> tuple[int, bytes, list[tuple[str, str]]]:
    """Return all of an answer that does not differ by itself."""
    headers = sorted((name, value) for name, value in answer.headers.items() if name not in OWN)
    return answer.status, answer.without_trace, headers


async def test_every_invalid_credential_is_refused_identically(
    world: World, strangers: Mapping[str, Pair]
):
    """Status, body and headers, byte for byte."""
    answers = [
        await world.ask("GET", world.at("/balance"), pair=pair) for pair in strangers.values()
    ]

    first, *others = map(seen, answers)
    assert first[0] == 401
    assert all(each == first for each in others)


@pytest.mark.parametrize("by", ["full", "company"])
async def test_an_absent_account_and_a_foreign_one_are_refused_identically(world: World, by: str):
    """So that callers cannot find out which accounts exist."""
    foreign = await world.ask("GET", world.at("/balance", "other_company"), by=by)
    absent = await world.ask("GET", f"/baas/v1/account/{uuid.uuid4()}/balance", by=by)

    assert seen(foreign) == seen(absent)
    assert foreign.verdict == (404, "SVC.ACC.001")


@pytest.mark.parametrize("name", ["banking.pix_key", "banking.qrcode", "banking.pix_transaction"])
async def test_an_absent_record_and_a_foreign_one_are_refused_identically(world: World, name: str):
    place = next(each for each in routes.PARTNER if each.route.name == name)
    theirs = {
        "key_id": world.demo["pix_keys"]["other_company"][0],
        "reference": world.demo["charges"]["other_company"],
    }
    none = {"key_id": str(uuid.uuid4()), "reference": "demo-none"}

    foreign = await routes.ask(world, place, steps=theirs)
    absent = await routes.ask(world, place, steps=none)

    assert (foreign.status, seen(foreign)) == (404, seen(absent))


async def test_no_quota_is_shown_before_the_credential_is_known(
    world: World, strangers: Mapping[str, Pair]
):
    """A quota header would reveal that a client id exists."""
    answers = [
        await world.ask("GET", world.at("/balance"), pair=pair) for pair in strangers.values()
    ]

    told = {name for answer in answers for name in answer.headers if name.startswith("RateLimit")}
    assert told == set()


async def test_no_part_of_a_request_is_echoed(world: World):
    marker = "canary-7351"
    headers = {"Authorization": f"Basic {marker}", "X-Other": marker, "User-Agent": marker}

    answers = [
        await world.call("GET", world.at(f"/{marker}?{marker}=1"), headers=headers),
        await world.call("GET", world.at(f"/pix/qrcode/{marker}"), headers=headers),
        await world.call(marker.upper().replace("-", ""), world.at("/balance"), headers=headers),
        await world.pay({marker: marker}),
    ]

    assert all(answer.status >= 400 for answer in answers)
    assert not any(marker.encode() in answer.body for answer in answers)
    assert not any(marker in value for answer in answers for value in answer.headers.values())

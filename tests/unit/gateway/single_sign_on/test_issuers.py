"""Identity providers over HTTP: what they publish is checked, and kept."""

from __future__ import annotations

import asyncio

import pytest

from gateway.single_sign_on.issuers import AT_ONCE, Discovery, Issuers, IssuerUnreachable
from tests.unit.gateway.single_sign_on.world import SignOnWorld
from tests.world.waiting import until


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://sso.other.example"},
        {"authorization_endpoint": "http://10.0.0.1/authorize"},
        {"token_endpoint": "https://10.0.0.1/token"},
        {"token_endpoint": None},
        {"jwks_uri": "file:///etc/passwd"},
    ],
)
async def test_a_document_of_another_issuer_or_with_unusable_addresses_is_not_taken(
    sign_on_world: SignOnWorld, document: dict[str, object]
):
    sign_on_world.issuer.document = document

    with pytest.raises(IssuerUnreachable):
        await sign_on_world.sign_on.issuers.discovery(sign_on_world.issuer.origin)


async def test_discovery_and_keys_are_read_once_an_hour(sign_on_world: SignOnWorld):
    issuers, origin = sign_on_world.sign_on.issuers, sign_on_world.issuer.origin
    for _ in range(2):
        await issuers.discovery(origin)
        await issuers.keys(origin, "")
    kept = list(sign_on_world.issuer.asked)
    sign_on_world.identity.clock.passes(3_600)
    await issuers.keys(origin, "")

    assert kept == ["/.well-known/openid-configuration", "/keys"]
    assert sign_on_world.issuer.asked[2:] == kept


async def test_a_provider_on_this_machine_is_not_called_where_that_is_not_allowed(
    sign_on_world: SignOnWorld,
):
    allowed = sign_on_world.sign_on.issuers
    strict = Issuers(allowed.sender, allowed.clock, allow_local=False)

    with pytest.raises(IssuerUnreachable):
        await strict.discovery(sign_on_world.issuer.origin)


async def test_few_wait_for_a_provider_that_hangs(sign_on_world: SignOnWorld):
    """All sign-ins share the places of strangers; those of other companies go on."""
    issuers, issuer = sign_on_world.sign_on.issuers, sign_on_world.issuer
    issuer.hangs = asyncio.Event()
    wanted = AT_ONCE + 1

    asking = [asyncio.create_task(issuers.discovery(issuer.origin)) for _ in range(wanted)]
    await until(lambda: issuer.asked)
    are_refused = [each.done() for each in asking]
    issuer.hangs.set()
    *found, refused = await asyncio.gather(*asking, return_exceptions=True)

    assert are_refused == [False] * AT_ONCE + [True]
    assert isinstance(refused, IssuerUnreachable)
    assert all(isinstance(each, Discovery) for each in found)
    assert await issuers.keys(issuer.origin, "")

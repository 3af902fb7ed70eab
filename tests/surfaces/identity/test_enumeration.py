"""Whether a person exists shows in nothing."""

from __future__ import annotations

import statistics
import time

from tests.surfaces.identity.attacks import seen
from tests.world.gateway.identity_api import ApiClient
from tests.world.identity import EMAIL, PASSWORD

TRIES = 60
LOOSE = 1.6
"""Medians on a shared machine; what is looked for is a digest that is left out."""

NOBODY = "nobody@example.com"


async def test_every_wrong_password_is_refused_alike(api_client: ApiClient, maria):
    """Nobody's, a wrong one, a disabled person's, one who never accepted: byte by byte."""
    services = api_client.identity_world.services
    disabled = await api_client.identity_world.person("off@example.com")
    await services.users.disable("cli", disabled.id)

    answers = [
        await api_client.login(NOBODY, PASSWORD),
        await api_client.login(EMAIL, "wrong wrong wrong"),
        await api_client.login("off@example.com", PASSWORD),
        await api_client.login("not an address", PASSWORD),
    ]

    first, *others = map(seen, answers)
    assert first[0] == 401
    assert all(each == first for each in others)


async def test_a_forgotten_password_tells_nothing(api_client: ApiClient, maria):
    """The same answer for a person, for nobody, and for the fourth wish."""
    answers = [
        await api_client.ask("POST", "/iam/v1/auth/password/forgot", {"email": email})
        for email in (EMAIL, NOBODY, EMAIL, EMAIL, EMAIL)
    ]

    first, *others = map(seen, answers)
    assert first[0] == 202
    assert all(each == first for each in others)
    await api_client.send_reset_links()
    assert len(await api_client.identity_world.mails()) == 3


async def test_a_challenge_that_is_none_is_refused_like_one_that_is_over(
    api_client: ApiClient, maria
):
    await api_client.identity_world.enrol()
    token = (await api_client.login()).document["mfa_token"]
    api_client.clock.passes(301)

    answers = [
        await api_client.ask("POST", "/iam/v1/auth/mfa", {"mfa_token": each, "code": "123456"})
        for each in (token, "made up")
    ]

    assert seen(answers[0]) == seen(answers[1])
    assert answers[0].verdict == (401, "MFA_EXPIRED")


async def test_links_that_are_none_are_refused_alike(api_client: ApiClient, maria):
    await api_client.ask("POST", "/iam/v1/auth/password/forgot", {"email": EMAIL})
    await api_client.send_reset_links()
    token = await api_client.identity_world.link()
    api_client.clock.passes(1801)

    answers = [
        await api_client.ask(
            "POST", "/iam/v1/auth/password/reset", {"token": each, "password": "outra frase longa"}
        )
        for each in (token, "made up")
    ]

    assert seen(answers[0]) == seen(answers[1])
    assert answers[0].verdict == (400, "VALIDATION_FAILED")


async def test_the_time_of_an_answer_tells_nothing(api_client: ApiClient, maria):
    """The medians of tries for a person and for nobody are close."""
    took: dict[str, list[float]] = {EMAIL: [], NOBODY: []}

    for number in range(TRIES):
        for email, times in took.items():
            api_client.clock.passes(1000)
            began = time.perf_counter()
            await api_client.login(email, f"wrong wrong {number}")
            times.append(time.perf_counter() - began)

    known, unknown = (statistics.median(times) for times in took.values())
    assert 1 / LOOSE < known / unknown < LOOSE

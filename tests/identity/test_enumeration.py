"""Whether somebody is known here, nobody finds out: not by words, not by the clock."""

import statistics
import time
from dataclasses import replace

import pytest

from gateway.domain.kernel.errors import ServiceError
from gateway.operations.identity.ports import ClientInfo
from gateway.security.identity.passwords import PasswordHasher
from tests.identity.enumeration import run
from tests.world.gateway.identity_api import api_client_on
from tests.world.identity import EMAIL, PASSWORD

PAIRS = 40
TRIALS = 8
NOBODY = "nobody@example.com"


@pytest.fixture
async def dear(here):
    """The first node with digests that cost what they cost in production."""
    hasher = PasswordHasher({"p": b"p" * 32})
    context = replace(here.context, crypto=replace(here.context.crypto, hashing=hasher))
    here.services = replace(
        here.services,
        sign_in=replace(here.services.sign_in, context=context),
        users=replace(here.services.users, context=context),
    )
    await here.person()
    yield here
    hasher.close()


async def refusal(identity_world, email: str, number: int) -> tuple[float, str]:
    """Try a wrong password from an address of its own; return how long it took, and the answer."""
    client = ClientInfo(address=f"198.51.{number // 250}.{number % 250}")
    began = time.perf_counter()
    with pytest.raises(ServiceError) as refused:
        await identity_world.services.sign_in.login(email, "wrong password", client)
    took = time.perf_counter() - began
    error, problem = refused.value.error, refused.value
    return took, repr((error, problem.reason, dict(problem.headers), problem.detail))


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
async def test_a_wrong_password_takes_as_long_for_nobody(dear):
    """Medians within 10 %; a busy machine may need another trial, a leak fails them all."""
    ratios = []
    for trial in range(TRIALS):
        known, unknown = [], []
        for number in range(PAIRS):
            address = trial * PAIRS + number
            known.append((await refusal(dear, EMAIL, address))[0])
            unknown.append((await refusal(dear, NOBODY, address))[0])
        # an hour on, so that nothing of this trial counts in the next
        dear.clock.passes(3601)
        ratios.append(statistics.median(known) / statistics.median(unknown))
        if 0.9 <= ratios[-1] <= 1.1:
            return

    pytest.fail(f"medians differ: {ratios}")


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("name", "status"), [("login", 401), ("forgot", 202), ("mfa", 401)])
async def test_people_and_nobody_are_answered_with_the_same_bytes(here, clock, name, status):
    """Status, headers and body; 2,000 pairs, and their time, by ``make enumeration``."""
    async with api_client_on(here.store, clock) as api_client:
        told = await run(api_client, 30, name)

    assert len(told.answers) == 1
    assert {each for each, _, _ in told.answers} == {status}
    assert len(told.known) == len(told.unknown) == 30


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", ["forgot", "mfa"])
async def test_nobody_is_found_out_by_the_clock(here, clock, name):
    """Medians within 10 %; a busy machine may need another trial, a leak fails them all."""
    ratios = []
    async with api_client_on(here.store, clock) as api_client:
        for _ in range(TRIALS):
            ratios.append((await run(api_client, PAIRS, name)).ratio)
            if 0.9 <= ratios[-1] <= 1.1:
                return

    pytest.fail(f"medians differ: {ratios}")


async def test_all_refusals_are_one_answer(here, maria):
    """Wrong, unknown, disabled, without a password, and no address at all."""
    await here.person("gone@example.com")
    await here.services.users.disable("cli", "gone@example.com")

    answers = {
        (await refusal(here, email, number))[1]
        for number, email in enumerate((EMAIL, NOBODY, "gone@example.com", "", "no address", "é@é"))
    }

    assert len(answers) == 1


async def test_the_throttle_knows_nobody_either(here, maria):
    """The same tries end in the same refusals."""
    seen = {}
    for email in (EMAIL, NOBODY):
        seen[email] = [
            (await refusal(here, email, 1 if email == EMAIL else 2))[1] for _ in range(7)
        ]

    assert seen[EMAIL] == seen[NOBODY]


async def test_a_link_is_promised_to_everybody(here, maria):
    answers = [
        await here.services.passwords.forgot(email, ClientInfo(address=f"203.0.113.{number}"))
        for number, email in enumerate((EMAIL, NOBODY, "no address", ""))
    ]

    assert answers == [None] * 4
    assert await here.mails() == []
    await here.services.reset_requests.answer()
    assert len(await here.mails()) == 1
    assert PASSWORD not in (await here.mails())[0]

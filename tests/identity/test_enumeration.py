"""Neither the answer nor its duration reveals whether an address is known."""

import pytest

from gateway.core.browsers import ClientInfo
from gateway.core.errors import ServiceError
from gateway.core.schemas import ReasonBody
from tests.identity.enumeration import run
from tests.identity.work import recording
from tests.world.gateway.identity_api import api_client_on
from tests.world.identity import EMAIL, LITTLE
from tests.world.people import CLI

PAIRS = 4
NOBODY = "nobody@example.com"
DIGEST = f"a digest m={LITTLE.kib},t={LITTLE.passes},p={LITTLE.lanes}"


async def refusal(identity_world, email: str, number: int) -> str:
    """Try a wrong password from an address of its own; return the refusal."""
    client = ClientInfo(address=f"198.51.{number // 250}.{number % 250}")
    with pytest.raises(ServiceError) as refused:
        await identity_world.services.sign_in.login(email, "wrong password", client)
    error, problem = refused.value.error, refused.value
    return repr((error, problem.reason, dict(problem.headers), problem.detail))


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("name", "status", "digests"), [("login", 401, 1), ("forgot", 202, 0), ("mfa", 401, 0)]
)
async def test_known_and_unknown_addresses_cost_the_same_and_get_one_answer(
    here, clock, name, status, digests
):
    """
    Status, headers and body; the cost of digests, and the statements to the store.

    ``make enumeration`` measures the time.
    """
    async with api_client_on(here.store, clock) as api_client:
        with recording(here.store) as work:

            def lap() -> tuple[str, ...]:
                done = tuple(work)
                work.clear()
                return done

            told = await run(api_client, PAIRS, name, lap)

    assert {each for each, _, _ in told.answers} == {status}
    assert len(told.answers) == 1
    assert told.known == told.unknown
    assert [each.count(DIGEST) for each in told.known] == [digests] * PAIRS
    assert all(told.known)


async def test_all_sign_in_refusals_are_identical(here, maria):
    """Wrong, unknown, disabled and passwordless users, and a malformed address."""
    await here.person("gone@example.com")
    await here.services.users.disable(CLI, "gone@example.com", ReasonBody())

    answers = {
        (await refusal(here, email, number))
        for number, email in enumerate((EMAIL, NOBODY, "gone@example.com", "", "no address", "é@é"))
    }

    assert len(answers) == 1

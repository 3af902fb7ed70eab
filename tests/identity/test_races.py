"""What happens once, happens once: on two nodes, over both databases."""

import asyncio

import pytest

from gateway.core.browsers import ClientInfo
from gateway.core.errors import ServiceError
from gateway.core.schemas import ReasonBody
from gateway.identity.sessions import SignedIn
from tests.identity.races import run
from tests.world.extent import WHOLE
from tests.world.identity import EMAIL, HOME, PASSWORD
from tests.world.people import CLI

ROUNDS = 200 if WHOLE else 10


async def test_a_refresh_token_raced_by_ten_callers_has_one_winner(nodes, maria):
    """Contract 4.2; ``make races`` runs ten thousand."""
    await run(nodes, ROUNDS)


async def test_concurrent_requests_send_at_most_three_links(here, there, maria):
    for node in (here, there) * 5:
        await node.services.passwords.forgot(EMAIL, HOME)

    await asyncio.gather(*(node.services.reset_requests.answer() for node in (here, there) * 2))

    assert len(await here.mails()) == 3


async def test_guesses_on_two_nodes_share_one_limit(here, there, maria):
    answers = await asyncio.gather(
        *(
            (here, there)[number % 2].services.sign_in.login(EMAIL, f"guess {number}", HOME)
            for number in range(20)
        ),
        return_exceptions=True,
    )

    statuses = sorted(each.error.status for each in answers)
    assert statuses == [401] * 5 + [429] * 15


async def test_simultaneous_sign_ins_leave_five_sessions(here, there, maria):
    visitors = [ClientInfo(address=f"203.0.113.{number}") for number in range(8)]

    came = await asyncio.gather(
        *(
            (here, there)[number % 2].sign_in(client=client)
            for number, client in enumerate(visitors)
        )
    )

    assert len(await here.services.sessions.list(came[0].person)) == 5


async def test_a_user_disabled_during_a_sign_in_has_no_session(here, there, maria):
    """Whichever comes first: a surviving session would evade the block."""
    for _ in range(5):
        await there.services.users.enable(CLI, maria.id)
        answers = await asyncio.gather(
            here.services.sign_in.login(EMAIL, PASSWORD, HOME),
            there.services.users.disable(CLI, maria.id, ReasonBody()),
            return_exceptions=True,
        )
        if isinstance(answers[0], SignedIn):
            with pytest.raises(ServiceError):
                await here.who(answers[0])

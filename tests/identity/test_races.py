"""What happens once, happens once: on two nodes, over both databases."""

import asyncio

import pytest

from gateway.core.browsers import ClientInfo
from gateway.core.errors import ServiceError
from gateway.core.schemas import ReasonBody
from gateway.identity.sessions import SignedIn
from gateway.identity.sign_in import SecondFactorRequired
from tests.identity.races import race, run
from tests.world.extent import WHOLE
from tests.world.identity import EMAIL, HOME, PASSWORD
from tests.world.people import CLI

ROUNDS = 200 if WHOLE else 10


async def asked(node) -> SecondFactorRequired:
    answer = await node.services.sign_in.login(EMAIL, PASSWORD, HOME)
    assert isinstance(answer, SecondFactorRequired)
    return answer


def opened(answers: list) -> int:
    """Count the winners; every other answer is a refusal."""
    assert all(isinstance(each, SignedIn | ServiceError) for each in answers), answers
    return sum(isinstance(each, SignedIn) for each in answers)


async def test_a_refresh_token_raced_by_ten_callers_has_one_winner(nodes, maria):
    """Contract 4.2; ``make races`` runs ten thousand."""
    await run(nodes, ROUNDS)


async def test_a_late_replay_on_another_node_ends_the_family(here, there, maria):
    came = await here.sign_in()
    pair = await race((here, there), came.tokens.refresh_token)
    here.clock.passes(11)

    with pytest.raises(ServiceError) as replayed:
        await there.services.tokens.refresh(came.tokens.refresh_token)

    assert replayed.value.error.code == "REFRESH_INVALID"
    for node in (here, there):
        with pytest.raises(ServiceError) as ended:
            await node.services.sessions.authenticate(pair.access_token)
        assert ended.value.reason == "session_over"
    assert there.security_events.count(("authn_token_reuse", maria.id)) == 1


async def test_one_code_of_the_app_opens_one_of_two_challenges(here, there, maria):
    await here.enrol()
    challenges = [await asked(node) for node in (here, there)]
    code = here.code()

    answers = await asyncio.gather(
        *(
            node.services.sign_in.submit_code(challenge.mfa_token, code, HOME)
            for node, challenge in zip((here, there), challenges, strict=True)
        ),
        return_exceptions=True,
    )

    assert opened(answers) == 1


async def test_one_recovery_code_opens_one_of_two_challenges(here, there, maria):
    codes = await here.enrol()
    challenges = [await asked(node) for node in (here, there)]

    answers = await asyncio.gather(
        *(
            node.services.sign_in.submit_code(challenge.mfa_token, codes[0], HOME)
            for node, challenge in zip((here, there), challenges, strict=True)
        ),
        return_exceptions=True,
    )

    assert opened(answers) == 1


async def test_one_challenge_opens_once(here, there, maria):
    codes = await here.enrol()
    challenge = await asked(here)

    answers = await asyncio.gather(
        *(
            node.services.sign_in.submit_code(challenge.mfa_token, code, HOME)
            for node, code in zip((here, there, here), codes, strict=False)
        ),
        return_exceptions=True,
    )

    assert opened(answers) == 1


async def test_one_link_sets_one_password(here, there, maria):
    await here.request_reset()
    link = await here.link()

    answers = await asyncio.gather(
        *(
            node.services.passwords.reset(link, f"uma frase bem nova {number}", HOME)
            for number, node in enumerate((here, there, here, there))
        ),
        return_exceptions=True,
    )

    assert answers.count(maria.id) == 1


async def test_of_two_links_used_at_once_one_sets_the_password(here, there, maria):
    """Using one ends all, also those that are being used."""
    links = []
    for _ in range(3):
        await here.request_reset()
        links.append(await here.link())
        here.clock.passes(1)

    answers = await asyncio.gather(
        *(
            node.services.passwords.reset(link, f"uma frase bem nova {number}", HOME)
            for number, (node, link) in enumerate(zip((here, there, here), links, strict=True))
        ),
        return_exceptions=True,
    )

    assert answers.count(maria.id) == 1


async def test_wishes_at_once_send_no_more_than_three_links(here, there, maria):
    for node in (here, there) * 5:
        await node.services.passwords.forgot(EMAIL, HOME)

    await asyncio.gather(*(node.services.reset_requests.answer() for node in (here, there) * 2))

    assert len(await here.mails()) == 3


async def test_many_guesses_on_two_nodes_are_not_more_than_allowed(here, there, maria):
    answers = await asyncio.gather(
        *(
            (here, there)[number % 2].services.sign_in.login(EMAIL, f"guess {number}", HOME)
            for number in range(20)
        ),
        return_exceptions=True,
    )

    statuses = sorted(each.error.status for each in answers)
    assert statuses == [401] * 5 + [429] * 15


async def test_sign_ins_at_once_leave_five_sessions(here, there, maria):
    visitors = [ClientInfo(address=f"203.0.113.{number}") for number in range(8)]

    came = await asyncio.gather(
        *(
            (here, there)[number % 2].sign_in(client=client)
            for number, client in enumerate(visitors)
        )
    )

    assert len(await here.services.sessions.list(came[0].person)) == 5


async def test_a_person_disabled_while_signing_in_is_out(here, there, maria):
    """Whichever is first: a session that outlives it would be a way around."""
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

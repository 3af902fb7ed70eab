"""Signing in."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

import pytest

from gateway.core.browsers import ClientInfo, KnownBrowser
from gateway.core.errors import ServiceError
from gateway.core.schemas import ReasonBody
from gateway.core.storage import StoreUnavailable
from gateway.identity.passwords import Cost, PasswordHasher
from gateway.identity.second_factor_codes import SecondFactorCodes
from gateway.identity.second_factors import Enrolment
from gateway.identity.sessions import SignedIn, TokenPair
from gateway.identity.sign_in import SecondFactorRequired
from gateway.identity.store import StoredChallenges
from tests.world.identity import (
    ELSEWHERE,
    EMAIL,
    HOME,
    PASSWORD,
    IdentityWorld,
    refusal,
    refusal_of,
)
from tests.world.people import CLI
from tests.world.standing import NOON


def test_no_token_or_secret_shows_in_a_log():
    pair = TokenPair(
        session_id="s",
        access_token="hidden",
        expires_at=NOON,
        refresh_token="hidden",
        refresh_expires_at=NOON,
    )

    assert "hidden" not in repr(
        [pair, SecondFactorRequired("hidden", NOON), Enrolment("hidden", "hidden")]
    )


async def asked(identity_world: IdentityWorld, client: ClientInfo = HOME) -> SecondFactorRequired:
    answer = await identity_world.services.sign_in.login(EMAIL, PASSWORD, client)
    assert isinstance(answer, SecondFactorRequired)
    return answer


async def test_a_password_alone_signs_in_without_a_factor(identity_world, maria):
    answer = await identity_world.services.sign_in.login(" Maria@Example.com ", PASSWORD, HOME)

    assert isinstance(answer, SignedIn)
    assert (answer.person.user_id, answer.person.factor_at) == (maria.id, None)
    assert await identity_world.who(answer) == answer.person
    assert ("authn_login_success", maria.id) in identity_world.security_events


async def test_tokens_are_valid_for_ten_minutes_and_eight_hours(identity_world, maria):
    tokens = (await identity_world.sign_in()).tokens

    assert (tokens.expires_at - identity_world.clock.now()).total_seconds() == 600
    assert (tokens.refresh_expires_at - identity_world.clock.now()).total_seconds() == 28_800


async def test_the_session_has_the_address_of_its_sign_in(identity_world, maria):
    came = await identity_world.sign_in(client=replace(HOME, user_agent="a\nb" * 300, panel=True))

    session = (await identity_world.services.sessions.list(came.person))[0]

    assert (session.address, session.panel) == (HOME.address, True)
    assert session.user_agent.isprintable()
    assert 0 < len(session.user_agent) <= 256


async def test_with_a_second_factor_the_password_alone_reveals_no_user_data(identity_world, maria):
    """Contract 2.9: no name, e-mail or roles."""
    await identity_world.enrol()

    answer = await asked(identity_world)

    assert (answer.ends_at - identity_world.clock.now()).total_seconds() == 300
    assert {name for name in dir(answer) if not name.startswith("_")} == {"mfa_token", "ends_at"}


async def test_a_right_code_signs_in_with_a_fresh_factor(identity_world, maria):
    await identity_world.enrol()

    came = await identity_world.sign_in()

    assert came.person.factor_at == identity_world.clock.now()
    assert came.person.has_factor


async def test_a_code_works_once(identity_world, maria):
    """RFC 6238, part 5.2: not in another challenge either."""
    await identity_world.enrol()
    await identity_world.sign_in()

    assert await refusal_of(identity_world.sign_in()) == ("mfa_invalid", "code")


async def test_an_earlier_code_does_not_work_after_a_later_one(identity_world, maria):
    await identity_world.enrol()
    first, second = await asked(identity_world), await asked(identity_world)
    await identity_world.services.sign_in.submit_code(
        first.mfa_token, identity_world.code(off=1), HOME
    )

    assert await refusal_of(
        identity_world.services.sign_in.submit_code(second.mfa_token, identity_world.code(), HOME)
    ) == ("mfa_invalid", "code")


async def test_a_challenge_accepts_five_tries(identity_world, maria):
    await identity_world.enrol()
    challenge = await asked(identity_world)
    for _ in range(5):
        assert await refusal_of(
            identity_world.services.sign_in.submit_code(
                challenge.mfa_token, identity_world.wrong_code(), HOME
            )
        ) == ("mfa_invalid", "code")

    assert await refusal_of(
        identity_world.services.sign_in.submit_code(
            challenge.mfa_token, identity_world.code(), HOME
        )
    ) == ("mfa_expired", "challenge_over")


async def test_ten_wrong_codes_lock_the_factor_for_fifteen_minutes(identity_world, maria):
    """Over any number of challenges; the eleventh guess is refused."""
    await identity_world.enrol()
    for _ in range(2):
        challenge = await asked(identity_world)
        for _ in range(5):
            with pytest.raises(ServiceError):
                await identity_world.services.sign_in.submit_code(
                    challenge.mfa_token, identity_world.wrong_code(), HOME
                )
    challenge = await asked(identity_world)

    with pytest.raises(ServiceError) as refused:
        await identity_world.services.sign_in.submit_code(
            challenge.mfa_token, identity_world.code(), HOME
        )

    assert refusal(refused.value) == ("too_many_attempts", "factor")
    assert refused.value.headers["Retry-After"] == "900"
    identity_world.clock.passes(900)
    await identity_world.sign_in()


async def test_of_two_concurrent_right_codes_one_signs_in(identity_world, maria, monkeypatch):
    """Both codes are right, and both are checked before either challenge is used up."""
    await identity_world.enrol()
    challenge = await asked(identity_world)
    use, is_accepted, both = StoredChallenges.use, asyncio.Event(), asyncio.Barrier(2)

    async def use_together(stored: StoredChallenges, digest: bytes, at: datetime) -> bool:
        is_accepted.set()
        await both.wait()
        return await use(stored, digest, at)

    def submit(code: str) -> Coroutine[object, object, SignedIn]:
        return identity_world.services.sign_in.submit_code(challenge.mfa_token, code, HOME)

    monkeypatch.setattr(StoredChallenges, "use", use_together)
    earlier = asyncio.create_task(submit(identity_world.code()))
    await is_accepted.wait()
    answers = await asyncio.gather(
        earlier, submit(identity_world.code(off=1)), return_exceptions=True
    )

    assert sum(isinstance(each, SignedIn) for each in answers) == 1


async def test_a_challenge_expires_after_five_minutes(identity_world, maria):
    await identity_world.enrol()
    challenge = await asked(identity_world)
    identity_world.clock.passes(300)

    assert await refusal_of(
        identity_world.services.sign_in.submit_code(
            challenge.mfa_token, identity_world.code(), HOME
        )
    ) == ("mfa_expired", "challenge_over")


@pytest.mark.parametrize("bound_to", ["", "another"])
async def test_a_challenge_is_bound_to_its_browser(identity_world, maria, bound_to: str):
    await identity_world.enrol()
    challenge = await asked(identity_world, replace(HOME, bound_to="this"))

    assert await refusal_of(
        identity_world.services.sign_in.submit_code(
            challenge.mfa_token, identity_world.code(), replace(HOME, bound_to=bound_to)
        )
    ) == ("mfa_expired", "challenge_unknown")


async def test_an_unknown_challenge_is_refused(identity_world, maria):
    assert await refusal_of(
        identity_world.services.sign_in.submit_code("made up", "123456", HOME)
    ) == ("mfa_expired", "challenge_unknown")


@pytest.mark.parametrize(("act", "more"), [("disable", (ReasonBody(),)), ("reset_mfa", ())])
async def test_a_change_of_the_user_invalidates_their_challenges(
    identity_world, maria, act: str, more: tuple
):
    await identity_world.enrol()
    challenge = await asked(identity_world)
    code = identity_world.code()
    identity_world.clock.passes(1)
    await getattr(identity_world.services.users, act)(CLI, maria.id, *more)

    assert await refusal_of(
        identity_world.services.sign_in.submit_code(challenge.mfa_token, code, HOME)
    ) == ("mfa_expired", "person_changed")


async def test_a_recovery_code_works_once_and_its_use_is_mailed(identity_world, maria):
    codes = await identity_world.enrol()
    first, second = await asked(identity_world), await asked(identity_world)

    came = await identity_world.services.sign_in.submit_code(
        first.mfa_token, codes[3].lower(), HOME
    )

    assert await refusal_of(
        identity_world.services.sign_in.submit_code(second.mfa_token, codes[3], HOME)
    ) == ("mfa_invalid", "code")
    assert await SecondFactorCodes(identity_world.context).left(came.person.user_id) == 9
    assert "Restam 9" in "".join(await identity_world.mails())


async def test_an_outdated_password_digest_is_renewed_at_sign_in(identity_world, maria):
    dearer = PasswordHasher({"new": b"n" * 32, "p": b"p" * 32}, Cost(kib=128, passes=1))
    crypto = replace(identity_world.context.crypto, hashing=dearer)
    signing_in = replace(
        identity_world.services.sign_in, context=replace(identity_world.context, crypto=crypto)
    )

    came = await signing_in.login(EMAIL, PASSWORD, HOME)

    stored = await identity_world.store.identity.users.find(maria.id)
    assert "m=128" in stored.password
    assert isinstance(await signing_in.login(EMAIL, PASSWORD, HOME), SignedIn)
    assert await identity_world.who(came)
    dearer.close()


async def test_a_sixth_session_ends_the_oldest(identity_world, maria):
    came = []
    for _ in range(6):
        identity_world.clock.passes(1)
        came.append(await identity_world.sign_in())

    live = await identity_world.services.sessions.list(came[-1].person)

    assert [each.id for each in live] == [each.tokens.session_id for each in came[1:]]


async def test_every_outcome_of_a_password_is_counted(identity_world, maria):
    await identity_world.services.sign_in.login(EMAIL, PASSWORD, HOME)
    first = list(identity_world.counted)
    await identity_world.enrol()
    await identity_world.services.sign_in.login(EMAIL, PASSWORD, HOME)
    second = identity_world.counted[-1]
    for number in range(6):
        with pytest.raises(ServiceError):
            await identity_world.services.sign_in.login(EMAIL, f"wrong wrong {number}", HOME)

    assert {label for event, label in identity_world.counted if event == "login"} == {
        *("ok", "mfa_required", "bad_credentials", "locked")
    }
    assert (first, second) == ([("login", "ok")], ("login", "mfa_required"))
    assert identity_world.counted[-1] == ("login", "locked")


async def test_every_outcome_of_a_code_is_counted(identity_world, maria):
    codes = await identity_world.enrol()

    async def submits(code: str, token: str = "") -> None:
        challenge = await asked(identity_world)
        with suppress(ServiceError):
            await identity_world.services.sign_in.submit_code(
                token or challenge.mfa_token, code, HOME
            )

    await submits(identity_world.wrong_code())
    await submits(identity_world.code())
    await submits(codes[0])
    await submits(codes[0])
    await submits("123 456", "made up")

    assert [label for event, label in identity_world.counted if event == "mfa"] == [
        "totp.wrong",
        "totp.ok",
        "recovery.ok",
        "recovery.wrong",
        "totp.expired",
    ]


async def test_a_sign_in_without_a_store_is_not_counted(identity_world, maria, monkeypatch):
    async def fails(_email: str):
        raise StoreUnavailable

    monkeypatch.setattr(identity_world.store.identity.users, "find_by_email", fails)
    with pytest.raises(StoreUnavailable):
        await identity_world.services.sign_in.login(EMAIL, PASSWORD, HOME)

    assert identity_world.counted == []


async def test_a_sign_in_from_a_new_browser_is_mailed_to_its_user(identity_world, maria):
    """With the address, and without the user agent, which may be any text."""
    odd = replace(ELSEWHERE, panel=True, user_agent="call https://evil.example now")

    await identity_world.sign_in(client=odd)

    (mail,) = await identity_world.mails()
    assert "no painel" in mail
    assert ELSEWHERE.address in mail
    assert "evil" not in mail
    assert "://" not in mail


async def test_a_known_browser_or_program_sends_no_mail(identity_world, maria):
    """Another user's device cookie does not count; another network is new."""
    mine = replace(HOME, panel=True, known=KnownBrowser(user_id=maria.id, id="b"))
    theirs = replace(HOME, panel=True, known=KnownBrowser(user_id="another", id="b"))

    await identity_world.sign_in(client=mine)
    assert await identity_world.mails() == []
    for client, told in ((HOME, 1), (HOME, 1), (ELSEWHERE, 2), (theirs, 3)):
        await identity_world.sign_in(client=client)
        assert len(await identity_world.mails()) == told

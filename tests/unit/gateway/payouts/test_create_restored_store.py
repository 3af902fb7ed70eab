"""Looking before sending: only a bank that knows nothing of the payout is sent one."""

from dataclasses import replace

import pytest
from msgspec import structs

from gateway.banks.port.capabilities import Lookup
from gateway.banks.port.providers import (
    BadReply,
    Bank,
    NotFound,
    NotSent,
    NotSupported,
    Outcome,
    Phase,
    ProviderAccount,
    Unavailable,
    Unknown,
    Unreachable,
)
from gateway.config.settings import Payouts, Settings
from gateway.core.money import Money
from gateway.payouts.create import seen_before
from tests.world.payouts import (
    ACCEPTED,
    CAREFUL,
    IS_ACCEPTED,
    IS_REJECTED,
    IS_SETTLED,
    IS_UNKNOWN,
    NOT_SENT,
    OK,
    PAID,
    REJECTED,
    SENDING,
    UNKNOWN,
    UNSENT,
    PayoutWorld,
    ScriptedBank,
    asking,
    caller,
)
from tests.world.people import account
from tests.world.standing import Clock


def at(bank: ScriptedBank) -> Bank:
    return Bank("sandbox", bank, ProviderAccount(account_id="a", provider_account="b"), False)


@pytest.fixture
def payout():
    return PayoutWorld(None, ScriptedBank(), Clock())._payout()  # type: ignore[arg-type]


async def test_a_payout_unknown_to_the_bank_may_be_sent(payout):
    bank = ScriptedBank(knows=NotFound("absent"))

    assert await seen_before(payout, at(bank)) is None
    assert bank.lookups == [(payout.provider_key, "")]


@pytest.mark.parametrize(
    "said", [IS_ACCEPTED, IS_SETTLED, IS_REJECTED, IS_UNKNOWN], ids=lambda said: type(said).__name__
)
async def test_a_payout_known_to_the_bank_has_the_bank_s_outcome(payout, said: Outcome):
    assert await seen_before(payout, at(ScriptedBank(knows=said))) == said


async def test_a_payout_known_with_another_amount_is_unknown(payout):
    bank = ScriptedBank(knows=replace(IS_SETTLED, value=Money(1049)))

    seen = await seen_before(payout, at(bank))

    assert isinstance(seen, Unknown)
    assert seen.evidence.reason == "amount_mismatch"


@pytest.mark.parametrize("problem", [Unavailable, Unreachable, BadReply, NotSupported])
async def test_a_payout_is_not_sent_when_the_bank_cannot_be_queried(payout, problem):
    seen = await seen_before(payout, at(ScriptedBank(knows=problem("why"))))

    assert isinstance(seen, NotSent)
    assert (seen.evidence.phase, seen.evidence.bytes_left) == (Phase.REFUSED_HERE, False)
    assert seen.evidence.reason == "why"


async def test_a_payout_is_not_sent_to_a_bank_without_lookup_by_key(payout):
    bank = ScriptedBank(capabilities=replace(CAREFUL, lookup=frozenset({Lookup.BANK_ID})))

    seen = await seen_before(payout, at(bank))

    assert isinstance(seen, NotSent)
    assert bank.lookups == []


def looking_first(payout_world: PayoutWorld) -> PayoutWorld:
    """Let a node look before it sends."""
    payout_world.build(Settings(payouts=Payouts(look_first=True, similar_within_s=0)))
    return payout_world


@pytest.mark.parametrize(
    ("knows", "answer", "state", "sent"),
    [
        (NotFound("absent"), OK, ACCEPTED, 1),
        (IS_ACCEPTED, OK, ACCEPTED, 0),
        (IS_SETTLED, OK, PAID, 0),
        (IS_REJECTED, "400 SVC.PIX.010", REJECTED, 0),
        (IS_UNKNOWN, "502 SVC.PIX.010", UNKNOWN, 0),
        (Unavailable("down"), UNSENT, NOT_SENT, 0),
    ],
    ids=["unknown to it", "accepted", "settled", "rejected", "unclear", "down"],
)
async def test_after_a_restore_a_payout_is_looked_up_before_it_is_sent(
    payout_world: PayoutWorld, knows, answer: str, state, sent: int
):
    """Rule R10: the restored store may lack what was sent."""
    payout_world.bank.knows = knows

    answered = await looking_first(payout_world).post()

    assert answered == answer
    assert (await payout_world.row()).state is state
    assert len(payout_world.bank.orders) == sent


async def test_a_payout_possibly_sent_from_another_bank_account_is_not_sent(
    payout_world: PayoutWorld,
):
    """A forgotten attempt cannot be found at the present account."""
    before = await payout_world.stands(NOT_SENT)
    payout_world.bank.knows = NotFound("absent")
    moved = structs.replace(caller(), account=replace(account(), provider_account="conta-2"))

    assert await looking_first(payout_world).post(asking(), moved) == UNSENT
    assert (await payout_world.row(), payout_world.bank.orders) == (before, [])


async def test_without_look_first_the_bank_is_not_queried(payout_world: PayoutWorld):
    await payout_world.post()

    assert payout_world.bank.lookups == []
    assert (await payout_world.row()).state is not SENDING

"""What an adapter says of money: no outcome that contradicts itself or the order is believed."""

from __future__ import annotations

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    IN_USE,
    Accepted,
    Evidence,
    NotSent,
    Phase,
    PixReturn,
    Rejected,
    Settled,
    Unknown,
)
from gateway.core.money import Money
from tests.world.answers import (
    ANSWERED,
    CALLS,
    CANARY,
    KEY,
    MONEY,
    VALUE,
    CheckedWorld,
    changed,
    saying,
)
from tests.world.standing import NOON

OTHER = "fedcba9876543210fedcba9876543210"
ACCEPTED = CALLS["create_payout"].answer
SETTLED = CALLS["find_payout"].answer
NO_ANSWER = Evidence(phase=Phase.SENT, bytes_left=True, reason="timeout")
LEFT_UNSEEN = Evidence(phase=Phase.CONNECTED, bytes_left=True, reason="timeout")
NEVER_LEFT = Evidence(phase=Phase.REFUSED_HERE, bytes_left=False, reason="unsendable")
KNOWN = changed(ANSWERED, reason="duplicate")


D = "D9999999920261120134011ABCDEFGHI"
BACK = PixReturn(id=D, value=Money(400), at=NOON)


def rejected(evidence: object, **more: object) -> object:
    return changed(
        Rejected(evidence=ANSWERED, failure=FailureCode.OTHER), evidence=evidence, **more
    )


WRONG_ORDERS: dict[str, object] = {
    "accepted, another key": changed(ACCEPTED, provider_key=OTHER),
    "accepted, another value": changed(ACCEPTED, value=Money(1049)),
    "accepted without an answer": changed(ACCEPTED, evidence=NO_ANSWER),
    "accepted, never sent": changed(ACCEPTED, evidence=NEVER_LEFT),
    "a known key that nobody compared": changed(ACCEPTED, evidence=KNOWN),
    "held until no instant": changed(ACCEPTED, held_until=NOON.replace(tzinfo=None)),
    "settled, another key": changed(SETTLED, provider_key=OTHER),
    "settled, another value": changed(SETTLED, value=Money(1049)),
    "settled without an answer": changed(SETTLED, evidence=NO_ANSWER),
    "came back under no id": changed(SETTLED, returns=(changed(BACK, id=""),)),
    "came back under a payout's id": changed(SETTLED, returns=(changed(BACK, id="E" + D[1:]),)),
    "came back as nothing": changed(SETTLED, returns=(changed(BACK, value=Money(0)),)),
    "came back at no instant": changed(SETTLED, returns=(changed(BACK, at=None),)),
    "came back in a list": changed(SETTLED, returns=[BACK]),
    "not sent, though bytes left": NotSent(NO_ANSWER),
    "not sent, though answered": NotSent(ANSWERED),
    "not sent, though bytes left unseen": NotSent(LEFT_UNSEEN),
    "rejected without an answer": rejected(NO_ANSWER),
    "rejected, another key": rejected(ANSWERED, provider_key=OTHER),
    "unknown, though bytes left unseen": Unknown(LEFT_UNSEEN),
    "a status that is none": Unknown(changed(ANSWERED, http_status=99)),  # type: ignore[arg-type]
}
WRONG_FINDINGS: dict[str, object] = {
    "another key": changed(SETTLED, provider_key=OTHER),
    "not sent": NotSent(NEVER_LEFT),
    "rejected here": rejected(NEVER_LEFT),
    "accepted without an answer": changed(ACCEPTED, evidence=NO_ANSWER),
}


async def test_a_contradictory_answer_to_a_payout_is_invalid():
    """The outcome of the order is then unknown, whatever the answer says."""
    for name in sorted(MONEY):
        for lie in WRONG_ORDERS.values():
            await CheckedWorld(**{name: saying(lie)}).fails(name, "adapter_answer_invalid")


async def test_a_contradictory_answer_to_a_look_up_is_invalid():
    for lie in WRONG_FINDINGS.values():
        world = CheckedWorld(find_payout=saying(lie))

        await world.fails("find_payout", "adapter_answer_invalid")


UNAUTHORIZED = changed(ANSWERED, reason="credentials_refused", http_status=401)
TOO_MANY = changed(ANSWERED, reason="rate_limited", http_status=429)
NO_CONNECTION = Evidence(phase=Phase.CONNECTING, bytes_left=False, reason="connect_failed")
WITH_CODE = changed(ANSWERED, provider_code="CBE-101.a")
RIGHT: list[tuple[str, str, object]] = [
    ("no ids yet", "create_payout", Accepted(evidence=ANSWERED)),
    ("held", "create_payout", changed(ACCEPTED, held_until=NOON)),
    ("settled at once", "create_payout", Settled(evidence=ANSWERED, value=VALUE)),
    ("a listed refusal", "create_payout", rejected(WITH_CODE, forbidden=True)),
    ("never to be sent", "create_payout", rejected(NEVER_LEFT)),
    ("no connection", "create_payout", NotSent(NO_CONNECTION)),
    ("credentials refused", "create_payout", NotSent(UNAUTHORIZED)),
    ("rate limited", "create_payout", NotSent(TOO_MANY)),
    ("unknown", "create_payout", Unknown(NO_ANSWER)),
    ("came back", "find_payout", changed(SETTLED, returns=(BACK,))),
    ("failed", "find_payout", rejected(ANSWERED, provider_key=KEY)),
    ("another amount", "find_payout", changed(SETTLED, value=Money(1))),
    ("unknown word", "find_payout", Unknown(changed(ANSWERED, reason="unknown_status"))),
    ("a reason of refunds", "create_refund", rejected(changed(ANSWERED, reason=IN_USE))),
]


async def test_an_unusual_valid_outcome_is_accepted():
    """For a look-up the caller compares the amount: a different one goes to review."""
    for name, said in [each[1:] for each in RIGHT]:
        world = CheckedWorld(**{name: saying(said)})

        assert await world.ask(name) == said
        assert not world.counted


async def test_unlisted_reasons_and_unreadable_codes_are_replaced():
    """Evidence is shown to operators, and contains no text of the bank's."""
    for name in sorted(MONEY):
        evidence = changed(ANSWERED, reason=CANARY, provider_code=CANARY)
        world = CheckedWorld(**{name: saying(rejected(evidence))})

        said = await world.ask(name)

        assert isinstance(said, Rejected)
        assert said.evidence.reason == "unlisted_reason"
        assert said.evidence.provider_code == "unreadable"

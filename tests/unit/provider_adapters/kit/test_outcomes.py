"""Outcomes that adapters return: each proves one thing, and passes the check of answers."""

from __future__ import annotations

from gateway.domain.bank import outcomes as checks
from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import (
    Accepted,
    NotFound,
    NotSent,
    NotSupported,
    Outcome,
    ProviderError,
    RateLimited,
    Rejected,
    Settled,
    Unavailable,
    Unknown,
    Unreachable,
)
from gateway.net.client.messages import ProviderAnswer
from provider_adapters.kit.outcomes import (
    NeverSendable,
    RefusedBefore,
    is_known,
    read_back,
    refused_before,
    unsent,
)
from tests.world.answers import ANSWERED, KEY, VALUE, changed
from tests.world.tables import cases

LISTED: RefusedBefore = {
    (401, "INVALID_TOKEN"): Reason.CREDENTIALS_REFUSED,
    (429, "TOO_MANY"): Reason.RATE_LIMITED,
}
KNOWN = Accepted(evidence=changed(ANSWERED, reason=Reason.DUPLICATE))


def answering(status: int) -> ProviderAnswer:
    return ProviderAnswer(status=status, headers={"Retry-After": "30"}, body=b"")


@cases("pair", LISTED)
def test_a_listed_refusal_executed_nothing(pair: tuple[int, str]):
    """With the bank's wait, and believed by the gateway."""
    status, code = pair

    said = refused_before(answering(status), code, LISTED)

    assert isinstance(said, NotSent)
    assert (said.evidence.reason, said.evidence.provider_code) == (LISTED[pair], code)
    assert said.retry_after == 30.0
    assert checks.ordered(said, KEY, VALUE) == said


@cases("pair", [(401, ""), (429, "INVALID_TOKEN"), (403, "INVALID_TOKEN")])
def test_a_status_or_a_code_alone_is_not_listed(pair: tuple[int, str]):
    """A proxy says 401 too, and nobody knows what it let through before."""
    assert refused_before(answering(pair[0]), pair[1], LISTED) is None


@cases(
    "failure",
    [
        Unreachable("connect_failed"),
        Unavailable("timeout"),
        NotFound("not_found"),
        NotSupported("not_supported"),
        RateLimited("rate_limited", retry_after=5),
    ],
)
def test_what_fails_before_the_money_call_is_not_sent(failure: ProviderError):
    """Of a token or a look-up bytes may have left; of the money none has."""
    said = unsent(failure)

    assert isinstance(said, NotSent)
    assert (said.evidence.reason, said.evidence.bytes_left) == (failure.reason, False)
    assert said.retry_after == failure.retry_after
    assert checks.ordered(said, KEY, VALUE) == said


@cases("failure", [FailureCode.OTHER, FailureCode.ACCOUNT_INVALID])
def test_what_can_never_be_sent_is_rejected(failure: FailureCode):
    """Repeating the order cannot help, so the partner is told to correct it."""
    said = unsent(NeverSendable(failure))

    assert isinstance(said, Rejected)
    assert (said.failure, said.forbidden, said.evidence.bytes_left) == (failure, False, False)
    assert checks.ordered(said, KEY, VALUE) == said


OTHERS: list[Outcome] = [
    Accepted(evidence=ANSWERED),
    Settled(evidence=ANSWERED, value=VALUE),
    Unknown(ANSWERED),
]


@cases("said", OTHERS)
async def test_only_a_known_key_is_read_back(said: Outcome):
    async def look() -> Outcome:
        raise AssertionError

    assert not is_known(said)
    assert await read_back(said, look) is said


@cases("shown", OTHERS)
async def test_of_a_known_key_the_second_look_decides(shown: Outcome):
    async def look() -> Outcome:
        return shown

    assert await read_back(KNOWN, look) is shown


@cases("failure", [NotFound("not_found"), Unavailable("timeout")])
async def test_a_known_key_that_is_not_shown_is_unknown(failure: ProviderError):
    """Neither ours nor another's: not found proves nothing here either."""

    async def look() -> Outcome:
        raise failure

    said = await read_back(KNOWN, look)

    assert said == Unknown(KNOWN.evidence)
    assert checks.ordered(said, KEY, VALUE) == said

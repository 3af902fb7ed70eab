"""A payout of a credential with public keys is signed by one of them, and lately."""

from __future__ import annotations

from datetime import timedelta

import pytest
from multidict import CIMultiDict

from gateway.core.calls import RawRequest
from gateway.core.reasons import Unsigned
from policies.authentication.signature import NotSigned, SignedPayout
from tests.world.signing import COVERED, Signer
from tests.world.standing import NOON

PATH = "/baas/v1/account/1/withdraw"
BODY = b'{"value": 10.50}'
OURS, THEIRS = Signer(1), Signer(2)
SECOND = timedelta(seconds=1)
HERE = {"Host": "Pixgate.Example", "Authorization": "Basic YTpi"}
MORE = (*COVERED, "@authority", "authorization")
RIGHT = OURS.headers(PATH, BODY, NOON)


class Sent(RawRequest):
    """A request whose body has not arrived yet; ``is_read`` says whether a policy asked for it."""

    arrives: bytes = BODY
    is_read: bool = False


def sent(headers: dict[str, str] | list[tuple[str, str]], **changed: object) -> Sent:
    made = Sent(path={}, method="POST", target=PATH, headers=CIMultiDict(headers))

    async def read() -> bytes:
        made.is_read = True
        return made.arrives

    made.read_body = read
    for name, value in changed.items():
        setattr(made, name, value)
    return made


async def reason_of(asked: RawRequest) -> Unsigned | None:
    try:
        await SignedPayout(lambda: NOON)(asked, [Signer(3).public, OURS.public])
    except NotSigned as refusal:
        return refusal.reason
    return None


@pytest.mark.parametrize(
    "headers",
    [
        RIGHT,
        {name.lower(): value for name, value in RIGHT.items()},
        OURS.headers(PATH, BODY, NOON - 300 * SECOND),
        OURS.headers(PATH, BODY, NOON + 5 * SECOND),
        OURS.headers(PATH, BODY, NOON, lasts=timedelta(0)),
        HERE | OURS.headers(PATH, BODY, NOON, covered=MORE, sent=HERE),
    ],
    ids=["plain", "lower case", "oldest", "ahead", "expires now", "more is covered"],
)
async def test_a_correctly_signed_payout_is_accepted_with_its_body(headers: dict[str, str]):
    asked = sent(headers)

    assert await reason_of(asked) is None
    assert asked.body == BODY


REFUSED = {
    "nothing": ({}, Unsigned.MISSING),
    "a digest alone": ({"Content-Digest": RIGHT["Content-Digest"]}, Unsigned.MISSING),
    "no signature": (RIGHT | {"Signature": "sig=::"}, Unsigned.FORM),
    "no input": ({k: v for k, v in RIGHT.items() if k != "Signature-Input"}, Unsigned.FORM),
    "no digest": ({k: v for k, v in RIGHT.items() if k != "Content-Digest"}, Unsigned.FORM),
    "two signatures": ([*RIGHT.items(), ("signature", RIGHT["Signature"])], Unsigned.FORM),
    "no nonce": (OURS.headers(PATH, BODY, NOON, nonce=None), Unsigned.FORM),
    **{
        f"{name} not covered": (
            OURS.headers(PATH, BODY, NOON, covered=[each for each in COVERED if each != name]),
            Unsigned.COVERAGE,
        )
        for name in COVERED
    },
    "a header that did not come": (
        OURS.headers(PATH, BODY, NOON, covered=(*COVERED, "date"), sent={"Date": "today"}),
        Unsigned.COVERAGE,
    ),
    "a part that is not known": (
        OURS.headers(PATH, BODY, NOON, covered=(*COVERED, "@target-uri")),
        Unsigned.COVERAGE,
    ),
    "too old": (OURS.headers(PATH, BODY, NOON - 301 * SECOND), Unsigned.TIME),
    "of the future": (OURS.headers(PATH, BODY, NOON + 6 * SECOND), Unsigned.TIME),
    "expired": (
        OURS.headers(PATH, BODY, NOON - 9 * SECOND, lasts=8 * SECOND),
        Unsigned.TIME,
    ),
    "another credential's key": (THEIRS.headers(PATH, BODY, NOON), Unsigned.KEY),
    "another key under our id": (
        THEIRS.headers(PATH, BODY, NOON, key_id=OURS.public.key_id),
        Unsigned.SIGNATURE,
    ),
    "another path": (OURS.headers(PATH + "s", BODY, NOON), Unsigned.SIGNATURE),
    "another method": (OURS.headers(PATH, BODY, NOON, method="PUT"), Unsigned.SIGNATURE),
    "another digest": (
        RIGHT | {"Content-Digest": OURS.headers(PATH, b"{}", NOON)["Content-Digest"]},
        Unsigned.SIGNATURE,
    ),
}


@pytest.mark.parametrize(("headers", "reason"), REFUSED.values(), ids=REFUSED)
async def test_a_wrong_signature_is_refused_before_the_body_is_read(
    headers: dict[str, str] | list[tuple[str, str]], reason: Unsigned
):
    asked = sent(headers)

    assert await reason_of(asked) is reason
    assert not asked.is_read


@pytest.mark.parametrize("value", ["a\x0bb", "caf\udce9", ""])
async def test_a_signed_header_must_be_one_line_of_ascii(value: str):
    headers = OURS.headers(PATH, BODY, NOON, covered=(*COVERED, "x-note"), sent={"X-Note": "a"})

    assert await reason_of(sent({**headers, "X-Note": value})) is Unsigned.COVERAGE


async def test_a_body_that_does_not_match_its_digest_is_refused():
    assert await reason_of(sent(RIGHT, arrives=BODY + b" ")) is Unsigned.DIGEST

"""Who is calling: the Authorization header and the credential behind it (contract 5.1, 5.3)."""

import base64
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.accounts.credentials import Credential, SecretDigest
from gateway.domain.accounts.permissions import EVERY_PERMISSION, Permission
from gateway.domain.kernel import errors
from gateway.domain.kernel.catalogue import ErrorCode
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.requests.calls import Call, RawRequest
from gateway.domain.requests.ready import Ready
from gateway.security.digests import SecretDigester
from gateway.security.secrets import has_valid_checksum, new_client_secret
from policies.authentication.basic import BasicCredentials, SecretCheck, Stopwatch
from policies.traffic.throttle import FailureLimits, FailureThrottle
from tests.unit.people import ACCOUNT, CLIENT, COMPANY, call
from tests.unit.refusals import refused
from tests.unit.standing import NOON, Clock

HERE = "203.0.113.7"
RIGHT, WRONG = (new_client_secret(lambda size, one=one: one * size) for one in (b"r", b"w"))
MISTYPED = RIGHT[:-1] + ("0" if RIGHT[-1] != "0" else "1")
UNKNOWN = "cli_zzzzzzzzzzzzzzzzzzzz"
LIMITS = FailureLimits(per_address=6, per_address_and_client=2, hard_per_address=60, window_s=60.0)

MISSING, MALFORMED = errors.CREDENTIALS_MISSING, errors.CREDENTIALS_MALFORMED
SCHEME, INVALID = errors.BASIC_REQUIRED, errors.CREDENTIALS_INVALID


@dataclass
class Door:
    """The policy on a real digester, with a store that can be down and remembers who asked."""

    clock: Clock = field(default_factory=Clock)
    is_down: bool = False
    at_hand: bool = False
    asked: list[str] = field(default_factory=list)
    asked_again: list[tuple[str, float]] = field(default_factory=list)
    compared: list[int] = field(default_factory=list)
    used: list[tuple[str, bytes]] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    slow_s: float = 0.0
    stored: dict[str, Credential] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.digester = SecretDigester({"p1": b"p" * 32}, "p1")
        self.throttle = FailureThrottle(LIMITS, self.clock.monotonic)
        self.policy = BasicCredentials(
            find=self.have if self.at_hand else self.find,
            find_again=self.find_again,
            check=SecretCheck(
                well_formed=has_valid_checksum, matching=self.matching, used=self.use
            ),
            throttle=self.throttle,
            now=self.clock.now,
            stopwatch=Stopwatch(self.clock.monotonic, self.took.append),
        )
        self.stored[CLIENT] = credential(self.digester)

    async def find(self, client_id: str) -> Credential | None:
        self.asked.append(client_id)
        self.clock.passes(self.slow_s)
        if self.is_down:
            raise StoreUnavailable
        return self.stored.get(client_id)

    async def find_again(self, client_id: str, instant: float) -> Credential | None:
        self.asked_again.append((client_id, instant))
        if self.is_down:
            raise StoreUnavailable
        return self.stored.get(client_id)

    def have(self, client_id: str) -> Awaitable[Credential | None]:
        """Answer without waiting, unless there is a failure to wait for."""
        if self.is_down:
            return self.find(client_id)
        self.asked.append(client_id)
        self.clock.passes(self.slow_s)
        return Ready(self.stored.get(client_id))

    def matching(self, secret: str, digests: Sequence[SecretDigest]) -> SecretDigest | None:
        self.compared.append(len(digests))
        return self.digester.matching(secret, digests, self.clock.now)

    def use(self, client_id: str, digest: bytes) -> None:
        self.used.append((client_id, digest))

    async def sees(self, *headers: str, at: str = HERE) -> Call:
        asking = call(RawRequest(path={}, authorization=headers, address=at))
        waiting = self.policy(asking)
        if waiting is not None:
            await waiting
        return asking


def credential(digester: SecretDigester) -> Credential:
    key_id, digest = digester.digest(RIGHT)
    return Credential(
        client_id=CLIENT,
        company_id=COMPANY,
        account_id=ACCOUNT,
        name="ERP",
        permissions=frozenset(EVERY_PERMISSION[:2]),
        secrets=(SecretDigest(key_id=key_id, digest=digest, created_at=NOON),),
        created_at=NOON,
    )


def basic(client_id: str, secret: str, scheme: str = "Basic") -> str:
    return f"{scheme} {base64.b64encode(f'{client_id}:{secret}'.encode()).decode()}"


GOOD = basic(CLIENT, RIGHT)
TOKEN = GOOD.removeprefix("Basic ")


@pytest.fixture(params=[True, False], ids=["at hand", "looked up"])
def door(request: pytest.FixtureRequest) -> Door:
    """The same door, whether its records have to be waited for or not."""
    return Door(at_hand=request.param)


@pytest.mark.parametrize("scheme", ["Basic", "basic", "BASIC", "bAsIc", "Basic  "])
async def test_a_right_secret_makes_a_principal(door: Door, scheme: str):
    """Schemes have no letter case; more than one space is one."""
    asking = await door.sees(basic(CLIENT, RIGHT, scheme))

    who = asking.principal
    assert who is not None
    assert (who.client_id, who.company_id, who.account_id) == (CLIENT, COMPANY, ACCOUNT)
    assert who.permissions == frozenset(EVERY_PERMISSION[:2])
    assert door.used == [(CLIENT, door.stored[CLIENT].secrets[0].digest)]


@pytest.mark.parametrize(
    ("headers", "error"),
    [
        ([], MISSING),
        ([""], MALFORMED),
        ([" "], MALFORMED),
        (["Basic"], MALFORMED),
        (["Basic "], MALFORMED),
        ([f"Basic{TOKEN}"], MALFORMED),
        (["Basicabc"], MALFORMED),
        ([TOKEN], MALFORMED if TOKEN.endswith("=") else SCHEME),
        (["Basic not base64"], MALFORMED),
        ([f"Basic {TOKEN} "], MALFORMED),
        ([f"Basic {TOKEN},"], MALFORMED),
        ([f"Basic {TOKEN} x"], MALFORMED),
        ([f"Basic {TOKEN[:10]} {TOKEN[10:]}"], MALFORMED),
        ([f"Basic {TOKEN[:10]}!{TOKEN[10:]}"], MALFORMED),
        (["Basic " + base64.b64encode(b"no colon").decode()], MALFORMED),
        (["Basic " + base64.b64encode(b"\xff\xfe:x").decode()], MALFORMED),
        (["Basic " + base64.b64encode(b"a:b\x00").decode()], MALFORMED),
        (["Basic " + base64.b64encode(b"a\r\n:b").decode()], MALFORMED),
        ([GOOD, GOOD], MALFORMED),
        ([GOOD, ""], MALFORMED),
        (["Bearer x", "Bearer x"], MALFORMED),
        (["Bearer"], SCHEME),
        (["Bearer eyJhbGciOiJub25lIn0.e30."], SCHEME),
        ([f"Bearer {TOKEN}"], SCHEME),
        ([f"xBasic {TOKEN}"], SCHEME),
        ([f"Basicx {TOKEN}"], SCHEME),
        (["Digest username=x"], SCHEME),
        (["Negotiate !!!"], SCHEME),
        ([basic("", "")], INVALID),
        ([basic(CLIENT, "")], INVALID),
        ([basic("", RIGHT)], INVALID),
        ([basic(CLIENT, RIGHT + ":")], INVALID),
        ([basic(CLIENT, f" {RIGHT}")], INVALID),
        ([basic(CLIENT, "a:b:c")], INVALID),
        ([basic(CLIENT, WRONG)], INVALID),
        ([basic(UNKNOWN, RIGHT)], INVALID),
        ([basic(CLIENT.upper(), RIGHT)], INVALID),
        ([basic(f"{CLIENT} ", RIGHT)], INVALID),
        ([basic("x" * 4000, RIGHT)], INVALID),
    ],
    ids=lambda each: ascii(each)[:48],
)
async def test_each_header_has_its_answer(door: Door, headers: list[str], error: ErrorCode):
    with refused(error) as refusal:
        await door.sees(*headers)
    assert refusal.value.error.status == 401
    assert door.used == []


@given(st.lists(st.text(max_size=30), max_size=3))
async def test_any_header_is_refused_with_one_of_the_four(headers: list[str]):
    with pytest.raises(errors.ServiceError) as refusal:
        await Door().sees(*headers)
    assert refusal.value.error in {MISSING, MALFORMED, SCHEME, INVALID}


MALFORMED_HEADERS = [[], [""], ["Bearer x"], ["Basic x"], [GOOD, GOOD]]


@pytest.mark.parametrize("headers", [*MALFORMED_HEADERS, [basic(CLIENT, MISTYPED)]], ids=repr)
async def test_no_store_is_asked_before_the_secret_is_well_formed(door: Door, headers: list[str]):
    """A mistyped secret is refused while the store is down, too."""
    door.is_down = True

    with pytest.raises(errors.ServiceError) as refusal:
        await door.sees(*headers)
    assert refusal.value.error.status == 401
    assert (door.asked, door.compared) == ([], [])


async def test_a_store_that_is_down_is_no_wrong_secret(door: Door):
    door.is_down = True

    with refused(errors.AUTH_UNAVAILABLE) as refusal:
        await door.sees(GOOD)
    assert refusal.value.headers == {"Retry-After": "2"}
    for _ in range(50):
        with refused(errors.AUTH_UNAVAILABLE):
            await door.sees(GOOD)


async def test_an_unknown_id_does_the_work_of_a_wrong_secret(door: Door):
    for client_id in (UNKNOWN, CLIENT):
        with refused(INVALID) as refusal:
            await door.sees(basic(client_id, WRONG))
        assert (refusal.value.reason, refusal.value.headers) == ("invalid", {})

    assert door.asked == [UNKNOWN, CLIENT]
    assert door.asked_again == [(each, door.clock.monotonic()) for each in (UNKNOWN, CLIENT)]
    assert door.compared == [0, 0, 1, 1]


REVOKED = {"revoked_at": NOON}
EXPIRED = {"expires_at": NOON}


@pytest.mark.parametrize(
    ("ended", "reason"),
    [(REVOKED, "revoked"), (EXPIRED, "expired"), (REVOKED | EXPIRED, "revoked")],
)
async def test_what_has_ended_is_refused_like_a_wrong_secret(
    door: Door, ended: dict[str, object], reason: str
):
    """The caller is told one thing; only the log knows the reason."""
    door.stored[CLIENT] = replace(door.stored[CLIENT], **ended)

    with refused(INVALID) as refusal:
        await door.sees(GOOD)
    assert refusal.value.reason == reason
    assert door.compared == [1, 1]
    assert door.used == []


async def test_a_secret_rotated_a_moment_ago_is_no_wrong_one(door: Door):
    """What is kept does not have it yet; the store has. Nobody is counted as refused."""
    _, digest = door.digester.digest(WRONG)
    new = SecretDigest(key_id="p1", digest=digest, created_at=NOON)
    old = door.stored[CLIENT]
    rotated = replace(old, secrets=(new, *old.secrets))

    async def stored_by_now(_client_id: str, _instant: float) -> Credential | None:
        return rotated

    door.policy = replace(door.policy, find_again=stored_by_now)

    asking = await door.sees(basic(CLIENT, WRONG))

    assert asking.principal is not None
    assert door.used == [(CLIENT, digest)]
    assert door.throttle.wait_when_refused(HERE, CLIENT) == 0


async def test_a_right_secret_causes_no_second_look(door: Door):
    await door.sees(GOOD)

    assert door.asked_again == []


async def test_nobody_is_refused_by_what_is_kept_while_the_store_is_down(door: Door):
    """401 would say that the secret is wrong; nobody can tell."""
    door.policy = replace(door.policy, find=lambda _id: Ready(door.stored[CLIENT]))
    door.is_down = True

    with refused(errors.AUTH_UNAVAILABLE):
        await door.sees(basic(CLIENT, WRONG))


async def test_a_wrong_secret_of_a_revoked_credential_is_just_wrong(door: Door):
    """Else the log would call a guess a leak."""
    door.stored[CLIENT] = replace(door.stored[CLIENT], revoked_at=NOON)

    with refused(INVALID) as refusal:
        await door.sees(basic(CLIENT, WRONG))
    assert refusal.value.reason == "invalid"


async def test_a_credential_lives_to_its_instant(door: Door):
    door.stored[CLIENT] = replace(door.stored[CLIENT], expires_at=NOON + timedelta(seconds=1))
    await door.sees(GOOD)

    door.clock.passes(1)

    with refused(INVALID):
        await door.sees(GOOD)


async def test_both_secrets_work_while_one_is_rotated_away(door: Door):
    _, digest = door.digester.digest(WRONG)
    new = SecretDigest(key_id="p1", digest=digest, created_at=NOON)
    old = replace(door.stored[CLIENT].secrets[0], expires_at=NOON + timedelta(seconds=5))
    door.stored[CLIENT] = replace(door.stored[CLIENT], secrets=(new, old))
    await door.sees(GOOD)
    await door.sees(basic(CLIENT, WRONG))

    door.clock.passes(5)

    with refused(INVALID):
        await door.sees(GOOD)
    await door.sees(basic(CLIENT, WRONG))


async def exhausted(door: Door, times: int, client_id: str = "") -> None:
    for number in range(times):
        with pytest.raises(errors.ServiceError):
            await door.sees(basic(client_id or f"cli_{number}", MISTYPED))


async def test_the_refusal_over_the_address_s_limit_is_a_429(door: Door):
    await exhausted(door, 6)

    for headers in [[basic(UNKNOWN, WRONG)], *MALFORMED_HEADERS]:
        with refused(errors.TOO_MANY_REQUESTS) as refusal:
            await door.sees(*headers)
        assert refusal.value.headers == {"Retry-After": "60"}
    with refused(INVALID):
        await door.sees(basic(UNKNOWN, WRONG), at="198.51.100.2")


async def test_the_refusal_over_the_limit_of_address_and_client_is_a_429(door: Door):
    await exhausted(door, 2, CLIENT)

    with refused(errors.TOO_MANY_REQUESTS):
        await door.sees(basic(CLIENT, WRONG))
    with refused(INVALID):
        await door.sees(basic(UNKNOWN, WRONG))


async def test_a_correct_credential_is_served_all_the_same(door: Door):
    """A partner behind the same address as somebody who guesses, or with a stray old client."""
    await exhausted(door, 7)
    await exhausted(door, 5, CLIENT)

    asking = await door.sees(GOOD)

    assert asking.principal is not None


async def test_headers_without_a_credential_are_not_counted(door: Door):
    """Nothing was guessed."""
    for headers in MALFORMED_HEADERS * 10:
        with pytest.raises(errors.ServiceError):
            await door.sees(*headers)

    with refused(INVALID):
        await door.sees(basic(CLIENT, WRONG))


async def test_a_429_ends_with_the_window(door: Door):
    await exhausted(door, 7)

    door.clock.passes(60)

    with refused(INVALID):
        await door.sees(basic(UNKNOWN, WRONG))


async def test_a_credential_without_a_permission_is_a_credential(door: Door):
    none: frozenset[Permission] = frozenset()
    door.stored[CLIENT] = replace(door.stored[CLIENT], permissions=none, account_id=None)

    asking = await door.sees(GOOD)

    assert asking.principal is not None
    assert (asking.principal.permissions, asking.principal.account_id) == (none, None)


async def test_how_long_it_took_is_told_of_right_credentials_alone(door: Door):
    """Refusals have their own clock, else a flood of them would hide a slow store."""
    door.slow_s = 0.25
    await door.sees(GOOD)
    with refused(INVALID):
        await door.sees(basic(CLIENT, WRONG))

    assert door.took == [0.25]


def test_every_refusal_is_declared(door: Door):
    assert set(door.policy.refuses) == {
        MISSING,
        MALFORMED,
        SCHEME,
        INVALID,
        errors.AUTH_UNAVAILABLE,
        errors.TOO_MANY_REQUESTS,
    }

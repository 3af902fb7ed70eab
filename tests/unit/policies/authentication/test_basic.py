"""Who is calling: the Authorization header and the credential behind it (contract 5.1, 5.3)."""

import base64
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from gateway.core import errors
from gateway.core.calls import Call, RawRequest, Ready
from gateway.core.catalogue import ErrorCode
from gateway.core.permissions import EVERY_PERMISSION, Permission
from gateway.core.storage import StoreUnavailable
from gateway.credentials.model import Credential
from gateway.security.secrets import SecretDigest, SecretDigester, has_valid_checksum
from policies.authentication.basic import (
    BasicCredentials,
    RightHeaders,
    SecretCheck,
    Shown,
)
from policies.authentication.signature import SignedPayout
from policies.traffic.throttle import FailureLimits, FailureThrottle
from tests.unit.policies.authentication.basic import RIGHT, WRONG, credential
from tests.unit.refusals import refused
from tests.world.people import ACCOUNT, CLIENT, COMPANY, call
from tests.world.shared_limits import Counting
from tests.world.signing import Signer
from tests.world.standing import NOON, Clock

HERE = "203.0.113.7"
MISTYPED = RIGHT[:-1] + ("0" if RIGHT[-1] != "0" else "1")
UNKNOWN = "cli_zzzzzzzzzzzzzzzzzzzz"
LIMITS = FailureLimits(per_address=6, per_address_and_client=2, hard_per_address=60, window_s=60.0)

MISSING, MALFORMED = errors.CREDENTIALS_MISSING, errors.CREDENTIALS_MALFORMED
SCHEME, INVALID = errors.BASIC_REQUIRED, errors.CREDENTIALS_INVALID


@dataclass
class PolicyWorld:
    """The policy on a real digester, with a store that can be down and records its reads."""

    clock: Clock = field(default_factory=Clock)
    is_down: bool = False
    at_hand: bool = False
    asked: list[str] = field(default_factory=list)
    asked_again: list[tuple[str, float]] = field(default_factory=list)
    digested: list[str] = field(default_factory=list)
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
                well_formed=has_valid_checksum,
                digests=self.digests,
                matching=self.matching,
                used=self.use,
            ),
            known=RightHeaders(b"k" * 32),
            throttle=self.throttle,
            now=self.clock.now,
            clock=self.clock.monotonic,
            signature=SignedPayout(self.clock.now),
            took=self.took.append,
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

    def digests(self, secret: str) -> Mapping[str, bytes]:
        self.digested.append(secret)
        return self.digester.digests(secret)

    def matching(
        self, made: Mapping[str, bytes], stored: Sequence[SecretDigest]
    ) -> SecretDigest | None:
        self.compared.append(len(stored))
        return self.digester.matching(made, stored, self.clock.now)

    def use(self, client_id: str, digest: bytes, address: str) -> None:
        self.used.append((client_id, digest, address))

    async def sees(self, *headers: str, at: str = HERE, **asked: Any) -> Call:
        asking = call(RawRequest(path={}, authorization=headers, address=at, **asked))
        waiting = self.policy(asking)
        if waiting is not None:
            await waiting
        return asking


def basic(client_id: str, secret: str, scheme: str = "Basic") -> str:
    return f"{scheme} {base64.b64encode(f'{client_id}:{secret}'.encode()).decode()}"


GOOD = basic(CLIENT, RIGHT)
TOKEN = GOOD.removeprefix("Basic ")


@pytest.fixture(params=[True, False], ids=["at hand", "looked up"])
def policy_world(request: pytest.FixtureRequest) -> PolicyWorld:
    """The same door, whether its records have to be waited for or not."""
    return PolicyWorld(at_hand=request.param)


@pytest.mark.parametrize("scheme", ["Basic", "basic", "BASIC", "bAsIc", "Basic  "])
async def test_a_correct_secret_authenticates_its_credential(
    policy_world: PolicyWorld, scheme: str
):
    """Schemes have no letter case; more than one space is one."""
    asking = await policy_world.sees(basic(CLIENT, RIGHT, scheme))

    who = asking.principal
    assert who is not None
    assert (who.client_id, who.company_id, who.account_id) == (CLIENT, COMPANY, ACCOUNT)
    assert who.permissions == frozenset(EVERY_PERMISSION[:2])
    assert policy_world.used == [(CLIENT, policy_world.stored[CLIENT].secrets[0].digest, HERE)]


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
async def test_each_invalid_header_has_its_error(
    policy_world: PolicyWorld, headers: list[str], error: ErrorCode
):
    with refused(error) as refusal:
        await policy_world.sees(*headers)
    assert refusal.value.error.status == 401
    assert policy_world.used == []


@given(st.lists(st.text(max_size=30), max_size=3))
async def test_any_other_header_is_refused_with_a_basic_error(headers: list[str]):
    with pytest.raises(errors.ServiceError) as refusal:
        await PolicyWorld().sees(*headers)
    assert refusal.value.error in {MISSING, MALFORMED, SCHEME, INVALID}


MALFORMED_HEADERS = [[], [""], ["Bearer x"], ["Basic x"], [GOOD, GOOD]]


@pytest.mark.parametrize("headers", [*MALFORMED_HEADERS, [basic(CLIENT, MISTYPED)]], ids=repr)
async def test_the_store_is_not_asked_about_a_malformed_secret(
    policy_world: PolicyWorld, headers: list[str]
):
    """A mistyped secret is refused while the store is down, too."""
    policy_world.is_down = True

    with pytest.raises(errors.ServiceError) as refusal:
        await policy_world.sees(*headers)
    assert refusal.value.error.status == 401
    assert (policy_world.asked, policy_world.compared) == ([], [])


async def test_an_unavailable_store_does_not_count_as_a_wrong_secret(policy_world: PolicyWorld):
    policy_world.is_down = True

    with refused(errors.AUTH_UNAVAILABLE) as refusal:
        await policy_world.sees(GOOD)
    assert refusal.value.headers == {"Retry-After": "2"}
    for _ in range(50):
        with refused(errors.AUTH_UNAVAILABLE):
            await policy_world.sees(GOOD)


async def test_an_unknown_client_id_costs_the_same_work_as_a_wrong_secret(
    policy_world: PolicyWorld,
):
    for client_id in (UNKNOWN, CLIENT):
        with refused(INVALID) as refusal:
            await policy_world.sees(basic(client_id, WRONG))
        assert (refusal.value.reason, refusal.value.headers) == ("invalid", {})

    assert policy_world.asked == [UNKNOWN, CLIENT]
    assert policy_world.asked_again == [
        (each, policy_world.clock.monotonic()) for each in (UNKNOWN, CLIENT)
    ]
    assert policy_world.compared == [0, 0, 1, 1]


async def test_a_refusal_is_counted_for_all_processes_before_the_answer(
    policy_world: PolicyWorld,
):
    """An unknown id waits as a wrong secret does; a right one does not wait."""
    shared = Counting(policy_world.clock.monotonic)
    throttle = FailureThrottle(LIMITS, policy_world.clock.monotonic, shared)
    policy_world.policy = replace(policy_world.policy, throttle=throttle)
    calls = []

    for client_id, secret in ((CLIENT, WRONG), (UNKNOWN, RIGHT), (CLIENT, MISTYPED)):
        with refused(INVALID):
            await policy_world.sees(basic(client_id, secret))
        calls.append(shared.calls)
    await policy_world.sees(GOOD)
    with refused(MISSING):
        await policy_world.sees()

    assert [*calls, shared.calls] == [1, 2, 3, 3]


REVOKED = {"revoked_at": NOON}
EXPIRED = {"expires_at": NOON}


@pytest.mark.parametrize(
    ("ended", "reason"),
    [(REVOKED, "revoked"), (EXPIRED, "expired"), (REVOKED | EXPIRED, "revoked")],
)
async def test_an_ended_credential_is_refused_like_a_wrong_secret(
    policy_world: PolicyWorld, ended: dict[str, object], reason: str
):
    """The caller gets one answer; only the log has the reason."""
    policy_world.stored[CLIENT] = replace(policy_world.stored[CLIENT], **ended)

    with refused(INVALID) as refusal:
        await policy_world.sees(GOOD)
    assert refusal.value.reason == reason
    assert policy_world.compared == [1, 1]
    assert policy_world.used == []


async def test_a_secret_rotated_a_moment_ago_is_accepted(policy_world: PolicyWorld):
    """The cached record lacks it, but the store has it. No failure is counted."""
    _, digest = policy_world.digester.digest(WRONG)
    new = SecretDigest(key_id="p1", digest=digest, created_at=NOON)
    old = policy_world.stored[CLIENT]
    rotated = replace(old, secrets=(new, *old.secrets))

    async def stored_by_now(_client_id: str, _instant: float) -> Credential | None:
        return rotated

    policy_world.policy = replace(policy_world.policy, find_again=stored_by_now)

    asking = await policy_world.sees(basic(CLIENT, WRONG))

    assert asking.principal is not None
    assert policy_world.used == [(CLIENT, digest, HERE)]
    assert policy_world.throttle.wait_when_refused(HERE, CLIENT) == 0


async def test_a_correct_secret_needs_only_one_store_read(policy_world: PolicyWorld):
    await policy_world.sees(GOOD)

    assert policy_world.asked_again == []


async def test_a_cached_credential_refuses_no_secret_while_the_store_is_down(
    policy_world: PolicyWorld,
):
    """401 would say that the secret is wrong, which is unknown."""
    policy_world.policy = replace(
        policy_world.policy, find=lambda _id: Ready(policy_world.stored[CLIENT])
    )
    policy_world.is_down = True

    with refused(errors.AUTH_UNAVAILABLE):
        await policy_world.sees(basic(CLIENT, WRONG))


async def test_a_wrong_secret_for_a_revoked_credential_is_reported_as_invalid(
    policy_world: PolicyWorld,
):
    """Otherwise the log would report a guess as a leaked secret."""
    policy_world.stored[CLIENT] = replace(policy_world.stored[CLIENT], revoked_at=NOON)

    with refused(INVALID) as refusal:
        await policy_world.sees(basic(CLIENT, WRONG))
    assert refusal.value.reason == "invalid"


async def test_a_credential_is_refused_from_its_expiry_on(policy_world: PolicyWorld):
    policy_world.stored[CLIENT] = replace(
        policy_world.stored[CLIENT], expires_at=NOON + timedelta(seconds=1)
    )
    await policy_world.sees(GOOD)

    policy_world.clock.passes(1)

    with refused(INVALID):
        await policy_world.sees(GOOD)


async def test_both_secrets_work_during_a_rotation(policy_world: PolicyWorld):
    _, digest = policy_world.digester.digest(WRONG)
    new = SecretDigest(key_id="p1", digest=digest, created_at=NOON)
    old = replace(policy_world.stored[CLIENT].secrets[0], expires_at=NOON + timedelta(seconds=5))
    policy_world.stored[CLIENT] = replace(policy_world.stored[CLIENT], secrets=(new, old))
    await policy_world.sees(GOOD)
    await policy_world.sees(basic(CLIENT, WRONG))

    policy_world.clock.passes(5)

    with refused(INVALID):
        await policy_world.sees(GOOD)
    await policy_world.sees(basic(CLIENT, WRONG))


@pytest.mark.parametrize(
    ("credential_s", "secret_s", "shown"),
    [
        (None, None, None),
        (60, None, "2026-11-20T12:01:00Z"),
        (None, 90, "2026-11-20T12:01:30Z"),
        (60, 90, "2026-11-20T12:01:00Z"),
        (90, 60, "2026-11-20T12:01:00Z"),
    ],
)
async def test_answers_show_when_the_credential_or_its_secret_ends(
    policy_world: PolicyWorld, credential_s: int | None, secret_s: int | None, shown: str | None
):
    kept = policy_world.stored[CLIENT]
    old = replace(kept.secrets[0], expires_at=_after(secret_s))
    policy_world.stored[CLIENT] = replace(kept, secrets=(old,), expires_at=_after(credential_s))

    call = await policy_world.sees(GOOD)

    assert call.headers.get("X-Credential-Expires") == shown


def _after(seconds: int | None) -> datetime | None:
    return None if seconds is None else NOON + timedelta(seconds=seconds)


async def exhausted(policy_world: PolicyWorld, times: int, client_id: str = "") -> None:
    for number in range(times):
        with pytest.raises(errors.ServiceError):
            await policy_world.sees(basic(client_id or f"cli_{number}", MISTYPED))


async def test_exceeding_the_address_limit_is_answered_429(policy_world: PolicyWorld):
    await exhausted(policy_world, 6)

    for headers in [[basic(UNKNOWN, WRONG)], *MALFORMED_HEADERS]:
        with refused(errors.TOO_MANY_REQUESTS) as refusal:
            await policy_world.sees(*headers)
        assert refusal.value.headers == {"Retry-After": "60"}
    with refused(INVALID):
        await policy_world.sees(basic(UNKNOWN, WRONG), at="198.51.100.2")


async def test_exceeding_the_address_and_client_limit_is_answered_429(policy_world: PolicyWorld):
    await exhausted(policy_world, 2, CLIENT)

    with refused(errors.TOO_MANY_REQUESTS):
        await policy_world.sees(basic(CLIENT, WRONG))
    with refused(INVALID):
        await policy_world.sees(basic(UNKNOWN, WRONG))


async def test_a_correct_credential_is_accepted_despite_failures_from_its_address(
    policy_world: PolicyWorld,
):
    """Such as a partner sharing an address with an attacker or with an outdated client."""
    await exhausted(policy_world, 7)
    await exhausted(policy_world, 5, CLIENT)

    asking = await policy_world.sees(GOOD)

    assert asking.principal is not None


async def test_headers_without_a_credential_do_not_count_as_failures(policy_world: PolicyWorld):
    """Nothing was guessed."""
    for headers in MALFORMED_HEADERS * 10:
        with pytest.raises(errors.ServiceError):
            await policy_world.sees(*headers)

    with refused(INVALID):
        await policy_world.sees(basic(CLIENT, WRONG))


async def test_a_429_ends_with_the_window(policy_world: PolicyWorld):
    await exhausted(policy_world, 7)

    policy_world.clock.passes(60)

    with refused(INVALID):
        await policy_world.sees(basic(UNKNOWN, WRONG))


async def test_a_credential_without_permissions_can_authenticate(policy_world: PolicyWorld):
    none: frozenset[Permission] = frozenset()
    policy_world.stored[CLIENT] = replace(
        policy_world.stored[CLIENT], permissions=none, account_id=None
    )

    asking = await policy_world.sees(GOOD)

    assert asking.principal is not None
    assert (asking.principal.permissions, asking.principal.account_id) == (none, None)


async def test_a_repeated_correct_header_is_compared_but_not_digested_again(
    policy_world: PolicyWorld,
):
    await policy_world.sees(GOOD)

    asking = await policy_world.sees(GOOD)

    assert asking.principal is not None
    assert (policy_world.digested, policy_world.compared) == ([RIGHT], [1, 1])
    assert len(policy_world.used) == 2


async def test_a_wrong_secret_is_digested_each_time(policy_world: PolicyWorld):
    """Who guesses finds nothing out by how long it takes, and fills no memory."""
    for _ in range(2):
        with refused(INVALID):
            await policy_world.sees(basic(CLIENT, WRONG))

    assert policy_world.digested == [WRONG, WRONG]


@pytest.mark.parametrize(
    "ending",
    [
        {"revoked_at": NOON},
        {"expires_at": NOON},
        {"secrets": ()},
        {"secrets": (SecretDigest(key_id="p1", digest=b"\0" * 32, created_at=NOON),)},
        None,
    ],
    ids=["revoked", "expired", "without secrets", "another secret", "unknown"],
)
async def test_a_cached_header_is_refused_once_its_credential_ends(
    policy_world: PolicyWorld, ending: Mapping[str, Any] | None
):
    await policy_world.sees(GOOD)
    held = policy_world.stored.pop(CLIENT)
    if ending is not None:
        policy_world.stored[CLIENT] = replace(held, **ending)

    for _ in range(2):
        with refused(INVALID):
            await policy_world.sees(GOOD)

    with refused(errors.TOO_MANY_REQUESTS):
        await policy_world.sees(GOOD)
    assert policy_world.asked_again[0][0] == CLIENT


async def test_a_second_authorization_header_is_malformed(policy_world: PolicyWorld):
    await policy_world.sees(GOOD)

    with refused(MALFORMED):
        await policy_world.sees(GOOD, GOOD)


async def test_the_header_cache_stores_neither_header_nor_secret(policy_world: PolicyWorld):
    await policy_world.sees(GOOD)

    kept = repr(vars(policy_world.policy.known))

    assert CLIENT in kept
    assert not [each for each in (RIGHT, RIGHT[4:-6], TOKEN) if each in kept]


def test_a_cached_header_is_found_only_with_the_same_key():
    one, other = RightHeaders(b"one"), RightHeaders(b"other")
    shown = Shown(CLIENT, {"p1": b"digest"})

    one.keep("a\udc80", shown)

    assert one.find(["a\udc80"]) == Shown(CLIENT, {"p1": b"digest"}, is_kept=True)
    assert other.find(["a\udc80"]) is None
    assert vars(one)["_kept"].keys().isdisjoint(vars(other)["_kept"])


def test_the_oldest_cached_header_is_evicted():
    known, shown = RightHeaders(b"k"), Shown(CLIENT, {})

    for each in range(10_001):
        known.keep(str(each), shown)

    assert known.find(["0"]) is None
    assert known.find(["1"]) == known.find(["10000"]) == Shown(CLIENT, {}, is_kept=True)


@pytest.mark.parametrize(("at_hand", "took"), [(True, []), (False, [0.25])])
async def test_only_store_reads_for_correct_credentials_are_timed(
    *, at_hand: bool, took: list[float]
):
    """A flood of refusals, or of cached credentials, would hide a slow store."""
    world = PolicyWorld(at_hand=at_hand, slow_s=0.25)
    await world.sees(GOOD)
    with refused(INVALID):
        await world.sees(basic(CLIENT, WRONG))

    assert world.took == took


async def test_requests_of_one_credential_share_its_principal(policy_world: PolicyWorld):
    first, second = [(await policy_world.sees(GOOD)).principal for _ in range(2)]
    stored = policy_world.stored[CLIENT]
    policy_world.stored[CLIENT] = replace(stored, permissions=frozenset())
    changed = (await policy_world.sees(GOOD)).principal

    assert first is second is stored.principal
    assert changed is not None
    assert changed.permissions == frozenset()


def test_basic_authentication_declares_its_refusals(policy_world: PolicyWorld):
    assert set(policy_world.policy.refuses) == {
        MISSING,
        MALFORMED,
        SCHEME,
        INVALID,
        errors.AUTH_UNAVAILABLE,
        errors.TOO_MANY_REQUESTS,
    }


SIGNER = Signer()


def signing(policy_world: PolicyWorld) -> None:
    found = policy_world.stored[CLIENT]
    policy_world.stored[CLIENT] = replace(found, public_keys=(SIGNER.public,))


async def test_a_post_must_be_signed_when_the_credential_has_keys(policy_world: PolicyWorld):
    signing(policy_world)
    headers = SIGNER.headers("/a", b"", NOON)

    with refused(INVALID) as unsigned:
        await policy_world.sees(GOOD, method="POST")
    read = await policy_world.sees(GOOD, method="GET")
    paid = await policy_world.sees(GOOD, method="POST", target="/a", headers=CIMultiDict(headers))

    assert unsigned.value.reason == "signature_missing"
    assert read.principal == paid.principal == policy_world.stored[CLIENT].principal


async def test_a_missing_signature_counts_as_a_wrong_secret(policy_world: PolicyWorld):
    signing(policy_world)
    for _ in range(LIMITS.per_address_and_client):
        with refused(INVALID):
            await policy_world.sees(GOOD, method="POST")

    with refused(errors.TOO_MANY_REQUESTS):
        await policy_world.sees(GOOD, method="POST")


async def test_a_newly_added_key_requires_a_signature_after_the_second_read(
    policy_world: PolicyWorld,
):
    """The record at hand had an older secret."""
    old = policy_world.stored[CLIENT]
    signing(policy_world)
    new, looked = policy_world.stored[CLIENT], replace(old, secrets=())
    policy_world.stored[CLIENT] = looked
    asked = policy_world.policy.find_again

    async def find_again(client_id: str, instant: float) -> Credential | None:
        policy_world.stored[CLIENT] = new
        return await asked(client_id, instant)

    policy_world.policy = replace(policy_world.policy, find_again=find_again)

    with refused(INVALID) as unsigned:
        await policy_world.sees(GOOD, method="POST")
    assert unsigned.value.reason == "signature_missing"

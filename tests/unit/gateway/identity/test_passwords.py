"""Digests of passwords."""

import asyncio
import hmac
import threading

import pytest
from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from gateway.core.errors import ServiceError
from gateway.core.user_errors import TOO_MANY_ATTEMPTS
from gateway.identity import passwords
from gateway.identity.passwords import Cost, PasswordHasher, PoolSize

PEPPERS = {"new": b"n" * 32, "old": b"o" * 32}
CHEAP = Cost(kib=64, passes=1)
PASSWORD = "uma frase bem comprida"


@pytest.fixture
def hasher():
    made = PasswordHasher(PEPPERS, CHEAP)
    yield made
    made.close()


async def test_only_the_right_password_matches(hasher):
    stored = await hasher.make(PASSWORD)

    assert await hasher.matches(PASSWORD, stored)
    assert not await hasher.matches(PASSWORD + " ", stored)
    assert not await hasher.matches("", stored)


async def test_password_digests_have_owasp_s_argon2id_costs():
    hasher = PasswordHasher(PEPPERS)

    digest = passwords.read(await hasher.make(PASSWORD))

    hasher.close()
    assert digest is not None
    assert digest.cost == Cost(kib=19_456, passes=2, lanes=1)
    assert digest.phc.startswith("$argon2id$v=19$m=19456,t=2,p=1$")


async def test_a_digest_written_by_an_earlier_release_matches(hasher):
    stored = (
        "$argon2id$v=19$m=64,t=1,p=1,keyid=bmV3"
        "$c3Nzc3Nzc3Nzc3Nzc3Nzcw$wrSQAgk3WtwrgCIPi1baMGVTNVo3zJPzM3R3OT10PNI"
    )

    assert await hasher.matches(PASSWORD, stored)
    assert not await hasher.matches(PASSWORD + " ", stored)
    assert not hasher.is_outdated(stored)


async def test_a_new_digest_is_the_standard_text_with_the_pepper_s_id(hasher):
    """PHC: any library reads it without the id, given the peppered password."""
    stored = await hasher.make(PASSWORD)
    head, _, rest = stored.partition(",keyid=bmV3")

    peppered = hmac.digest(PEPPERS["new"], PASSWORD.encode(), "sha256")
    Argon2id.verify_phc_encoded(peppered, head + rest)
    assert passwords.read(stored) == passwords.read(str(passwords.read(stored)))


@pytest.mark.parametrize(
    "changed",
    [
        ("m=64", "m=2097152"),
        ("m=64", "m=7"),
        ("t=1", "t=17"),
        ("t=1", "t=0"),
        ("p=1", "p=17"),
        ("p=1", "p=0"),
        ("keyid=bmV3", "keyid=b"),
        ("v=19", "v=16"),
        ("argon2id", "argon2i"),
        (",keyid=bmV3", ""),
    ],
)
async def test_a_forged_digest_never_matches(hasher, changed: tuple[str, str]):
    """Including one that would cost minutes, and one without a pepper."""
    stored = (await hasher.make(PASSWORD)).replace(*changed)

    assert passwords.read(stored) is None
    assert not await hasher.matches(PASSWORD, stored)


async def test_a_truncated_digest_never_matches(hasher):
    """A shorter digest would be easier to match."""
    cut = (await hasher.make(PASSWORD))[:-21]

    assert passwords.read(cut) is None
    assert not await hasher.matches(PASSWORD, cut)


async def test_two_digests_of_one_password_differ(hasher):
    assert await hasher.make(PASSWORD) != await hasher.make(PASSWORD)


async def test_a_digest_without_its_pepper_matches_no_password(hasher):
    """A stolen table alone cannot be attacked."""
    stored = await hasher.make(PASSWORD)
    digest = passwords.read(stored)
    assert digest is not None

    with pytest.raises(InvalidKey):
        Argon2id.verify_phc_encoded(PASSWORD.encode(), digest.phc)


async def test_a_digest_under_a_former_pepper_matches_and_is_outdated(hasher):
    before = PasswordHasher({"old": PEPPERS["old"]}, CHEAP)
    stored = await before.make(PASSWORD)
    before.close()

    assert await hasher.matches(PASSWORD, stored)
    assert hasher.is_outdated(stored)
    assert not hasher.is_outdated(await hasher.make(PASSWORD))


async def test_a_cheaper_digest_matches_and_is_outdated(hasher):
    dearer = PasswordHasher(PEPPERS, Cost(kib=128, passes=1))
    stored = await hasher.make(PASSWORD)

    assert await dearer.matches(PASSWORD, stored)
    assert dearer.is_outdated(stored)
    dearer.close()


@pytest.mark.parametrize("stored", ["", "nonsense", "gone"])
async def test_checking_an_unknown_user_costs_the_same_and_never_matches(
    hasher, monkeypatch, stored: str
):
    """Timing does not reveal unknown users: the same work is done for them."""
    if stored == "gone":
        other = PasswordHasher({"gone": b"g" * 32}, CHEAP)
        stored = await other.make(PASSWORD)
        other.close()
    costs: list[Cost] = []
    work = hasher._verify

    def noting(password, digest):
        costs.append(digest.cost)
        return work(password, digest)

    monkeypatch.setattr(hasher, "_verify", noting)

    assert not await hasher.matches(PASSWORD, stored)
    assert costs == [CHEAP]


async def test_a_password_matches_in_another_unicode_form(hasher):
    stored = await hasher.make("a\u0301rvore de natal")

    assert await hasher.matches("\u00e1rvore de natal", stored)


async def test_a_password_with_a_lone_surrogate_does_not_match(hasher):
    assert not await hasher.matches("\ud800", await hasher.make(PASSWORD))


async def test_a_full_hashing_queue_refuses_with_retry_after():
    """Two run and a limited number wait; the next one is refused."""
    hasher = PasswordHasher(PEPPERS, CHEAP, PoolSize(threads=1, waiting=1))
    gate = threading.Event()
    hasher._pool.submit(gate.wait)
    waiting = [asyncio.create_task(hasher.make(PASSWORD)) for _ in range(2)]
    await asyncio.sleep(0)

    with pytest.raises(ServiceError) as refused:
        await hasher.make(PASSWORD)

    gate.set()
    await asyncio.gather(*waiting)
    assert refused.value.error is TOO_MANY_ATTEMPTS
    assert refused.value.headers == {"Retry-After": "1"}
    assert await hasher.matches(PASSWORD, await hasher.make(PASSWORD))
    hasher.close()


async def test_a_known_browser_waits_for_at_most_one_stranger():
    hasher = PasswordHasher(PEPPERS, CHEAP)
    stored, order = await hasher.make(PASSWORD), []
    gate = threading.Event()
    hasher._pool.submit(gate.wait)

    async def check(name: str, *, is_stranger: bool) -> None:
        await hasher.matches(PASSWORD, stored, is_stranger=is_stranger)
        order.append(name)

    async with asyncio.TaskGroup() as group:
        for name in ("stranger 1", "stranger 2", "stranger 3", "known"):
            group.create_task(check(name, is_stranger=name != "known"))
            await asyncio.sleep(0)
        gate.set()

    hasher.close()
    assert order == ["stranger 1", "known", "stranger 2", "stranger 3"]


async def test_a_cancelled_caller_keeps_its_slot_until_the_thread_ends():
    """Otherwise leaving at once would evade the limit."""
    hasher = PasswordHasher(PEPPERS, CHEAP, PoolSize(threads=1, waiting=0))
    gate = threading.Event()
    started = threading.Event()

    def held(*_: object) -> str:
        started.set()
        gate.wait()
        return "$$"

    hasher._derive = held
    leaving = asyncio.create_task(hasher.make(PASSWORD))
    await asyncio.to_thread(started.wait)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)

    with pytest.raises(ServiceError):
        await hasher.make(PASSWORD)

    gate.set()
    hasher.close()


def test_the_hasher_recognises_a_common_password(hasher):
    assert hasher.is_common("password1234")

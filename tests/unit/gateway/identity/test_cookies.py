"""The cookie by which a browser is known for who signed in there."""

from datetime import timedelta

import pytest

from gateway.core.browsers import KnownBrowser
from gateway.identity.cookies import DeviceCookies
from tests.world.standing import Clock

MARIA = "6e7f9a50-3c1d-4b8e-9a51-0123456789ab"
JOAO = "7e7f9a50-3c1d-4b8e-9a51-0123456789ab"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cookies(clock: Clock) -> DeviceCookies:
    return DeviceCookies([b"k" * 32], clock.now)


def test_a_device_cookie_names_one_user_and_one_browser(cookies: DeviceCookies):
    first, second = (cookies.read(cookies.make(MARIA, None)) for _ in range(2))

    assert first is not None
    assert second is not None
    assert first.user_id == second.user_id == MARIA
    assert first.id != second.id


def test_a_browser_keeps_its_id_for_the_same_user_alone(cookies: DeviceCookies):
    known = cookies.read(cookies.make(MARIA, None))

    again, other = (cookies.read(cookies.make(who, known)) for who in (MARIA, JOAO))

    assert again == known
    assert other is not None
    assert known is not None
    assert other.id != known.id


def test_a_device_cookie_is_valid_for_ninety_days_after_the_last_sign_in(
    cookies: DeviceCookies, clock: Clock
):
    value = cookies.make(MARIA, None)

    clock.passes(timedelta(days=90).total_seconds() - 1)
    known = cookies.read(value)
    renewed = cookies.make(MARIA, known)
    clock.passes(1)

    assert known is not None
    assert cookies.read(value) is None
    assert cookies.read(renewed) == known


def test_a_device_cookie_of_a_former_key_is_accepted_and_of_a_foreign_key_refused(clock: Clock):
    value = DeviceCookies([b"a" * 32], clock.now).make(MARIA, None)

    assert DeviceCookies([b"b" * 32, b"a" * 32], clock.now).read(value) is not None
    assert DeviceCookies([b"b" * 32], clock.now).read(value) is None


def test_a_changed_cookie_is_refused(cookies: DeviceCookies):
    """Whichever character was changed, including the last: each cookie has one spelling."""
    value = cookies.make(MARIA, None)

    for place in range(len(value)):
        other = "A" if value[place] != "A" else "B"
        assert cookies.read(value[:place] + other + value[place + 1 :]) is None, place
    for text in ("", "v1.", value[:-1], value + "A", value.replace("v1", "v2"), value + "\n"):
        assert cookies.read(text) is None


def test_a_device_cookie_does_not_show_the_user_s_id(cookies: DeviceCookies):
    assert cookies.read(cookies.make(MARIA, KnownBrowser(user_id=JOAO, id="00" * 16))) is not None
    assert MARIA not in cookies.make(MARIA, None)

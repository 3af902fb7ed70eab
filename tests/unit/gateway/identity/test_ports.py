"""What identity works with."""

from datetime import timedelta

from gateway.identity.ports import IdentitySettings, ignore_event


def test_the_documented_rules_are_the_defaults():
    settings = IdentitySettings(origin="https://pix.example")

    assert (settings.access, settings.refresh) == (timedelta(minutes=10), timedelta(hours=8))
    assert (settings.grace, settings.sessions) == (timedelta(seconds=10), 5)
    assert (settings.challenge, settings.tries) == (timedelta(minutes=5), 5)
    assert settings.reset == timedelta(minutes=30)
    throttles = settings.throttles
    assert (throttles.account_ip, throttles.address, throttles.account) == (5, 20, 50)
    assert (throttles.consecutive, throttles.factor, throttles.device) == (100, 10, 10)
    assert (throttles.resets, throttles.address_resets) == (3, 10)


def test_nobody_need_be_told():
    assert ignore_event("authn_login_fail", "") is None

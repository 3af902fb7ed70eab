"""What identity works with."""

from datetime import timedelta

from gateway.operations.identity.ports import Rules, Throttles, unnoticed


def test_the_documented_rules_are_the_defaults():
    rules = Rules(origin="https://pix.example")

    assert (rules.access, rules.refresh) == (timedelta(minutes=10), timedelta(hours=8))
    assert (rules.grace, rules.sessions) == (timedelta(seconds=10), 5)
    assert (rules.challenge, rules.tries) == (timedelta(minutes=5), 5)
    assert (rules.reset, rules.fresh) == (timedelta(minutes=30), timedelta(minutes=5))
    throttles = Throttles()
    assert (throttles.account_ip, throttles.address, throttles.account) == (5, 20, 50)
    assert (throttles.consecutive, throttles.factor, throttles.device) == (100, 10, 10)
    assert (throttles.resets, throttles.address_resets) == (3, 10)


def test_nobody_need_be_told():
    assert unnoticed("authn_login_fail", "") is None

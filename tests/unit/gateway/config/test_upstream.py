"""The banks behind the gateway."""

from gateway.config.upstream import Breaker, Provider, same_bank


def test_provider_timeouts_have_their_documented_defaults():
    """Connect 2 s, reads 8 s, payouts 20 s; 64 calls in flight, 64 waiting at most 1 s."""
    provider = Provider(adapter="x")

    assert (provider.connect_timeout_s, provider.read_timeout_s) == (2, 8)
    assert provider.payout_timeout_s == 20
    assert provider.first_byte_timeout_s == 0
    assert (provider.in_flight, provider.waiting, provider.waiting_s) == (64, 64, 1)


def test_the_breaker_has_its_documented_defaults():
    """Five in a row, or half of at least 20 in 30 s; then 10 s times n up to 120 s."""
    breaker = Breaker()

    assert (breaker.consecutive, breaker.share, breaker.calls) == (5, 0.5, 20)
    assert (breaker.window_s, breaker.open_s, breaker.longest_open_s) == (30, 10, 120)
    assert breaker.jitter == 0.2


def test_providers_with_the_same_adapter_profile_and_address_are_one_bank():
    settings = {
        "a": Provider(adapter="x", settings={"base_url": "https://Bank.example/pix/"}),
        "a again": Provider(adapter="x", settings={"base_url": "https://bank.example/pix"}),
        "a, by default": Provider(adapter="x", read_only=True),
        "b": Provider(adapter="x", settings={"base_url": "https://other.example"}),
        "profile p": Provider(adapter="x", settings={"profile": "p"}),
        "another adapter": Provider(adapter="y"),
    }
    alike = {
        "a": {"a", "a again", "a, by default"},
        "a again": {"a", "a again", "a, by default"},
        "a, by default": {"a", "a again", "a, by default", "b"},
        "b": {"b", "a, by default"},
        "profile p": {"profile p"},
        "another adapter": {"another adapter"},
    }

    assert {name: same_bank(name, settings) for name in settings} == alike

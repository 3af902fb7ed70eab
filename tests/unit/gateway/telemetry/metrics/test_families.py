"""What is declared about a metric."""

from prometheus_client import Gauge

from gateway.telemetry.metrics.families import Family, Label
from tests.world.metrics import WORDS


def test_label_values_are_limited_to_the_routes_and_the_configuration():
    cases = [
        ("surface", {"banking", "none"}),
        ("route", {"banking.balance", "none"}),
        ("provider", {"sandbox"}),
        ("operation", {"get_balance"}),
        ("policy", {"read"}),
    ]

    wrong = [(name, allowed) for name, allowed in cases if WORDS.allowed(Label(name)) != allowed]

    assert wrong == []


def test_a_label_with_values_in_code_allows_only_these():
    assert WORDS.allowed(Label("provider", ("a", "b"))) == {"a", "b"}


def test_a_label_set_only_by_our_code_is_unlimited():
    """Such as version and digest."""
    assert WORDS.allowed(Label("version")) is None


def test_a_family_keeps_its_metric_kind_and_label_order():
    family = Family(name="x", metric=Gauge, meaning="", labels=(Label("b"), Label("a")))

    assert (family.kind, family.label_names) == ("gauge", ("b", "a"))

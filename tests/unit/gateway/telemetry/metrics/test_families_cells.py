"""Numbers between two scrapes."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gateway.telemetry.metrics.families import (
    OTHER,
    Family,
    Kind,
    Label,
    Timings,
    Values,
    Vocabulary,
)

NOTHING = frozenset[str]()
WORDS = Vocabulary(
    surface=NOTHING,
    route=NOTHING,
    provider=NOTHING,
    operation=NOTHING,
    policy=NOTHING,
)
COLOUR = Label("colour", ("blue", "red"))
SIZE = Label("size", tuple(map(str, range(40))))


def family(kind: Kind, *labels: Label, bounds: tuple[float, ...] = ()) -> Family:
    return Family(name="things_total", kind=kind, meaning="Things.", labels=labels, bounds=bounds)


def samples(cells: Values | Timings) -> dict[tuple[str, ...], float]:
    """Read what a scrape would find; without a type, names are left as they are."""
    families = text_string_to_metric_families("".join(cells.written()))
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


def test_a_counter_adds_up():
    counter = Values(family(Kind.COUNTER, COLOUR), WORDS)

    counter.add(("red",))
    counter.add(("red",), 2)

    assert samples(counter) == {("things_total", "blue"): 0, ("things_total", "red"): 3}


@pytest.mark.parametrize("kind", [Kind.COUNTER, Kind.GAUGE])
def test_a_value_outside_of_its_set_adds_no_series(kind: Kind):
    """A caller must not be able to fill memory with label values."""
    cells = Values(family(kind, COLOUR, SIZE), WORDS)

    for number in range(1000):
        cells.add((f"made up {number}", "7"))

    assert samples(cells) == {("things_total", OTHER, "7"): 1000}


def test_a_timing_outside_of_its_set_adds_no_series():
    timings = Timings(family(Kind.HISTOGRAM, COLOUR, bounds=(1,)), WORDS)

    for number in range(1000):
        timings.observe((f"made up {number}",), 0.5)

    assert timings.get(OTHER) == (1000, 500)
    assert len(samples(timings)) == 4


def test_few_keys_start_at_zero_and_many_do_not():
    """An increase from nothing to one is invisible to ``increase()``."""
    few = Values(family(Kind.COUNTER, COLOUR), WORDS)
    many = Values(family(Kind.COUNTER, COLOUR, SIZE), WORDS)

    assert (len(samples(few)), len(samples(many))) == (2, 0)


def test_a_gauge_nobody_set_is_absent():
    """Zero would be a statement."""
    assert samples(Values(family(Kind.GAUGE), WORDS)) == {}


def test_a_gauge_is_set_and_moved():
    gauge = Values(family(Kind.GAUGE, COLOUR), WORDS)

    gauge.put(("red",), 5)
    gauge.put(("red",), 7)
    gauge.add(("red",), -1)

    assert gauge.get("red") == 6


def test_a_number_is_there_as_it_is_at_the_scrape():
    """What is kept from one scrape to the next is never a number."""
    counter = Values(family(Kind.COUNTER, COLOUR), WORDS)
    timings = Timings(family(Kind.HISTOGRAM, bounds=(1,)), WORDS)
    timings.observe((), 0.5)
    before = samples(counter), samples(timings)

    counter.add(("red",))
    timings.observe((), 2)

    assert [one["things_total", "red"] for one in (before[0], samples(counter))] == [0, 1]
    assert before[1]["things_total_count",] == 1
    assert samples(timings)["things_total_count",] == 2


def test_a_missing_label_is_a_mistake_of_ours():
    counter = Values(family(Kind.COUNTER, COLOUR), WORDS)

    with pytest.raises(ValueError, match="shorter"):
        counter.add(("red", "7"))


def test_buckets_are_cumulative_and_hold_their_bound():
    timings = Timings(family(Kind.HISTOGRAM, bounds=(1, 2)), WORDS)

    for seconds in (0.5, 1, 1.5, 9):
        timings.observe((), seconds)

    assert samples(timings) == {
        ("things_total_bucket", "1.0"): 2,
        ("things_total_bucket", "2.0"): 3,
        ("things_total_bucket", "+Inf"): 4,
        ("things_total_count",): 4,
        ("things_total_sum",): 12,
    }

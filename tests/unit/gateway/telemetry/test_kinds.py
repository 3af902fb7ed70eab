"""Records of one kind: looked at once."""

import json

import pytest

from gateway.telemetry import kinds
from gateway.telemetry.kinds import Kind, Kinds, rest_of_line


def kind(rest: bytes = b"}\n") -> Kind:
    return Kind(counters=([0.0], [5.0]), timings=(), rest=rest)


def test_a_kind_is_looked_at_once():
    looked = []

    def look(record: str) -> Kind:
        looked.append(record)
        return kind()

    known = Kinds(look)
    found = [known.find("a", "first"), known.find("a", "second"), known.find("b", "third")]

    assert looked == ["first", "third"]
    assert found[0] is found[1]
    assert found[0] is not found[2]


def test_they_never_fill_the_memory(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kinds, "_MOST", 10)
    known = Kinds(lambda _record: kind())

    for number in range(1000):
        known.find(number, "any")

    assert len(known._known) <= 10


def test_each_record_adds_one_to_every_counter():
    one = kind()

    one.count()
    one.count()

    assert one.counters == ([2.0], [7.0])


@pytest.mark.parametrize("text", ["plain", 'a"b\\c', "}\n", "ação", "\ud800"])
def test_a_line_is_one_json_object(text: str):
    """Whatever stands in it, on either side."""
    rest = rest_of_line({"common": text}, {"worker": "1"})

    line = kind(rest).line({"own": text})

    assert json.loads(line) == {"own": text, "common": text, "worker": "1"}
    assert line.count(b"\n") == 1

"""Records of one kind: looked at once."""

import msgspec
import pytest

from gateway.telemetry import kinds
from gateway.telemetry.kinds import Kind, Kinds


def kind() -> Kind:
    return Kind(counters=(), timings=(), words=msgspec.Raw(b"1"))


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


def test_what_was_looked_at_is_known():
    known = Kinds(lambda _record: kind())

    before = known.known("a")
    found = known.find("a", "first")

    assert (before, known.known("a")) == (None, found)


def test_they_never_fill_the_memory(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kinds, "_MOST", 10)
    known = Kinds(lambda _record: kind())

    for number in range(1000):
        known.find(number, "any")

    assert len(known._known) <= 10

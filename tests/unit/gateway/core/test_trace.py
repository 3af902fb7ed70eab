"""The trace id: the caller's own where it may be, else a new one."""

import asyncio
import uuid

from hypothesis import given
from hypothesis import strategies as st

from gateway.core import trace

DIGITS = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{DIGITS}-00f067aa0ba902b7-01"


def test_one_valid_trace_id_of_the_caller_is_accepted():
    cases = ["a", "order-1042", "A" * 128, "a.b_c:d-e", str(uuid.UUID(DIGITS)), "00000"]

    wrong = [value for value in cases if trace.accepted([value]) != value]

    assert wrong == []


def test_an_invalid_or_repeated_trace_id_is_refused():
    """It would be reflected into a header, a body and a log."""
    cases = [
        [],
        [""],
        ["a", "a"],
        ["a" * 129],
        ["a" * 4000],
        ["<script>"],
        ["a b"],
        ["a\tb"],
        ["a\n"],
        ["é"],
        ["a,b"],
        ["a/b"],
        ["\x00"],
        [" a"],
        ["١"],
    ]

    wrong = [values for values in cases if trace.accepted(values) is not None]

    assert wrong == []


@given(st.lists(st.text(max_size=150), max_size=2))
def test_an_accepted_id_is_never_changed(values: list[str]):
    assert trace.accepted(values) in {None, *values[:1]}


def test_a_w3c_trace_is_continued_as_a_uuid():
    assert trace.continued([PARENT]) == str(uuid.UUID(DIGITS))
    assert trace.continued([PARENT.replace("00-", "cc-", 1)]) == str(uuid.UUID(DIGITS))


def test_an_invalid_traceparent_is_not_continued():
    cases = [
        [],
        [PARENT, PARENT],
        [""],
        [PARENT.upper()],
        [PARENT.replace("00-", "ff-", 1)],
        [PARENT.replace(DIGITS, "0" * 32)],
        [PARENT.replace("00f067aa0ba902b7", "0" * 16)],
        [PARENT + "-x"],
        [PARENT + "\n"],
        [PARENT[:-1]],
        [PARENT.replace("-", "_")],
        [PARENT.replace("4b", "\u0664b")],
    ]

    wrong = [values for values in cases if trace.continued(values) is not None]

    assert wrong == []


@given(st.text(max_size=60))
def test_any_traceparent_is_safely_continued_or_ignored(value: str):
    found = trace.continued([value])

    assert found is None or trace.is_uuid(found)


def test_a_new_trace_id_is_a_uuid():
    one, other = trace.new_trace_id(), trace.new_trace_id()

    assert trace.is_uuid(one)
    assert trace.is_uuid(other)
    assert one != other


def test_new_trace_ids_are_unique_random_uuids():
    made = [trace.new_trace_id() for _ in range(1000)]

    assert len(set(made)) == len(made)
    assert {uuid.UUID(each).version for each in made} == {4}
    assert {uuid.UUID(each).variant for each in made} == {uuid.RFC_4122}


def test_a_trace_id_need_not_be_a_uuid():
    wrong = [text for text in ["", "a", DIGITS, f"{{{uuid.UUID(DIGITS)}}}"] if trace.is_uuid(text)]

    assert wrong == []


async def test_the_trace_id_follows_tasks_of_its_request_alone():
    async def serve(trace_id: str) -> str:
        trace.begin(trace_id)
        await asyncio.sleep(0)
        return await asyncio.create_task(current())

    async def current() -> str:
        return trace.current_trace_id()

    served = await asyncio.gather(serve("one"), serve("two"))

    assert served == ["one", "two"]
    assert await current() == ""

"""Exceptions as they are read in the log."""

import pytest

from gateway.telemetry.logs.redaction import describe_failure


class Unreadable(Exception):
    def __str__(self) -> str:
        problem = "hunter2"
        raise RuntimeError(problem)


def raised(problem: Exception, cause: Exception | None = None) -> Exception:
    hidden = "hunter2-local"
    with pytest.raises(type(problem)) as caught:
        raise problem from cause
    assert hidden
    return caught.value


def test_a_failure_names_its_type_and_place():
    found = describe_failure(raised(ValueError("too late")))

    assert (found["type"], found["text"]) == ("builtins.ValueError", "too late")
    assert found["where"][-1].endswith("raised")


def test_a_failure_names_its_causes():
    found = describe_failure(raised(ValueError("outer"), KeyError("inner")))

    assert found["cause"]["type"] == "builtins.KeyError"


def test_a_long_chain_of_causes_is_cut():
    problem = ValueError("0")
    for number in range(1, 20):
        problem = raised(ValueError(str(number)), problem)

    depth, found = 0, describe_failure(problem)
    while "cause" in found:
        depth, found = depth + 1, found["cause"]

    assert depth == 4


def test_a_described_failure_contains_no_values():
    """Messages quote values, databases print parameters; local variables are not read."""
    cases = [
        ValueError("invalid literal for int() with base 10: 'hunter2'"),
        KeyError("hunter2"),
        ValueError("bad header: b'X-Secret: hunter2\\r\\n'"),
        ValueError("duplicate\nDETAIL:  Key (reference)=(hunter2) already exists."),
        ValueError("failed\n[SQL: INSERT INTO x VALUES (?)]\n[parameters: ('hunter2',)]"),
        ValueError("failed\n[parameters: (hunter2,)]"),
        ValueError("password=hunter2"),
        Unreadable(),
    ]

    wrong = [problem for problem in cases if "hunter2" in str(describe_failure(raised(problem)))]

    assert wrong == []


def test_a_long_message_is_cut():
    assert len(str(describe_failure(raised(ValueError("word " * 5000)))["text"])) <= 500

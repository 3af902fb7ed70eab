"""Logging as a whole: what is written when secrets are logged, by any library."""

import asyncio
import json
import logging
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
import structlog

from gateway.core import trace
from gateway.telemetry.logs.lines import LineBuffer
from gateway.telemetry.logs.setup import FILTERED, Logs

CANARIES = {
    "basic": "Basic Y2FuYXJ5OmNhbmFyeQ==",
    "secret": "gws_canary",
    "cpf": "529.982.247-25",
    "cpf bare": "52998224725",
    "e-mail": "canary@example.com",
    "phone": "+5511987654321",
    "dsn": "postgresql://gw:canary@db/x",
}
TRACES = ("canary", "Y2Fu", "529", "25998", "98765")
LOUD = [*FILTERED, "gateway.http", "sqlalchemy.engine"]


class World:
    """Logging that writes into a list, with a clock that stands still."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.second = 5.0
        self.buffer = LineBuffer(self.written.append)
        self.logs = Logs(
            self.buffer,
            now=lambda: datetime(2026, 11, 20, tzinfo=UTC),
            monotonic=lambda: self.second,
        )

    def text(self) -> str:
        return b"".join(self.written).decode()

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text().splitlines()]

    def forget(self) -> None:
        """Forget what was written, and let a second pass."""
        self.written.clear()
        self.second += 1


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    world.logs.start()
    yield world
    world.logs.stop()
    trace.begin("")


def fail(problem: Exception, cause: Exception | None = None) -> None:
    """Raise, one frame down."""
    raise problem from cause


def clean(text: str) -> bool:
    """Say whether no canary is left, nor a recognisable part of one."""
    return not any(part in text for part in TRACES)


def test_our_own_event_is_one_line(world: World):
    structlog.get_logger("gateway.app").info("started", port=8080)

    assert world.lines() == [
        {
            "ts": "2026-11-20T00:00:00Z",
            "level": "info",
            "event": "started",
            "logger": "gateway.app",
            "port": 8080,
        }
    ]


def test_another_library_s_record_is_one_line(world: World):
    logging.getLogger("aiohttp.server").warning("closed %d connections", 3)

    assert world.lines() == [
        {
            "ts": "2026-11-20T00:00:00Z",
            "level": "warning",
            "event": "log",
            "logger": "aiohttp.server",
            "message": "closed 3 connections",
        }
    ]


@pytest.mark.parametrize("word", ["sys_startup", "sys_shutdown"])
def test_a_message_of_one_fixed_word_names_the_event(world: World, word: str):
    """OWASP's logging vocabulary."""
    logging.getLogger("gateway").info(word)

    assert [line["event"] for line in world.lines()] == [word]


def test_structlog_and_logging_lines_have_the_request_s_trace_id(world: World):
    trace.begin("t-1")

    structlog.get_logger("x").info("one")
    logging.getLogger("x").info("two")

    assert [line["trace_id"] for line in world.lines()] == ["t-1", "t-1"]


def test_lines_below_the_level_are_not_written(world: World):
    structlog.get_logger("x").debug("one")
    logging.getLogger("x").debug("two")

    assert world.lines() == []


def in_arguments(name: str, canary: str) -> None:
    logging.getLogger(name).warning("header %s of %r", canary, {"x": canary})


def in_the_message(name: str, canary: str) -> None:
    logging.getLogger(name).warning(f"bank said: {canary}")  # noqa: G004 - what others do


def in_an_exception(name: str, canary: str) -> None:
    try:
        fail(ValueError(canary), KeyError(canary))
    except ValueError:
        logging.getLogger(name).exception("failed")


def in_arguments_that_do_not_fit(name: str, canary: str) -> None:
    """The library would print template and arguments to stderr."""
    logging.getLogger(name).warning("%d of %s", *[canary])


def in_stack_and_extra(name: str, canary: str) -> None:
    logging.getLogger(name).warning("x", stack_info=True, extra={"secret": canary})


FORMS: dict[Callable[[str, str], None], str] = {
    in_arguments: "header ",
    in_the_message: "bank said: ",
    in_an_exception: "builtins.ValueError",
    in_arguments_that_do_not_fit: "do not fit",
    in_stack_and_extra: "warning",
}
"""Where a record may hold a secret, and what its line says all the same."""


@pytest.mark.parametrize("form", FORMS)
def test_a_canary_in_a_record_is_hidden(world: World, form: Callable[[str, str], None]):
    """For each logger and secret."""
    wrong = []
    for name, (kind, canary) in product(LOUD, CANARIES.items()):
        world.forget()
        form(name, canary)
        said = world.text()
        if FORMS[form] not in said or len(world.lines()) != 1 or not clean(said):
            wrong.append((name, kind, said))

    assert wrong == []


@pytest.mark.parametrize("name", FILTERED)
def test_another_handler_receives_redacted_records(world: World, name: str):
    """The filter is on the logger, before any handler that is added."""
    seen: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: seen.append(handler.format(record))
    logging.getLogger(name).addHandler(handler)
    try:
        for canary in CANARIES.values():
            in_an_exception(name, canary)
            in_arguments(name, canary)
    finally:
        logging.getLogger(name).removeHandler(handler)

    assert len(seen) == 2 * len(CANARIES)
    assert [each for each in seen if not clean(each)] == []


@pytest.mark.parametrize("field", ["body", "headers", "provider", "state"])
def test_canaries_in_our_own_fields_are_hidden(world: World, field: str):
    for canary in CANARIES.values():
        nested = {"Authorization": canary, "list": [canary, {"deep": canary}]}
        structlog.get_logger("x").warning("bank answered", **{field: canary})
        structlog.get_logger("x").warning("bank answered", **{field: nested})

    assert len(world.lines()) == 2 * len(CANARIES)
    assert [line for line in world.lines() if not clean(str(line))] == []


def test_canaries_in_our_own_events_and_exceptions_are_hidden(world: World):
    for canary in CANARIES.values():
        try:
            fail(RuntimeError(f"bank said {canary}"))
        except RuntimeError as problem:
            structlog.get_logger("x").exception(f"failed {canary}")
            structlog.get_logger("x").error("failed", exc_info=problem)
            structlog.get_logger("x").error("failed", exc_info=sys.exc_info())

    kinds = [line["exception"]["type"] for line in world.lines()]
    assert kinds == ["builtins.RuntimeError"] * 3 * len(CANARIES)
    assert [line for line in world.lines() if not clean(str(line))] == []


def test_an_uncaught_exception_is_a_line_and_not_a_traceback(world: World, capsys):
    try:
        fail(ValueError("gws_canary"))
    except ValueError as problem:
        sys.excepthook(type(problem), problem, problem.__traceback__)

    assert [line["level"] for line in world.lines()] == ["critical"]
    assert clean(world.text() + capsys.readouterr().err)


def test_ctrl_c_is_not_logged_as_a_fault(world: World, capsys):
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)

    assert world.lines() == []
    assert "KeyboardInterrupt" in capsys.readouterr().err


def test_a_failure_in_a_thread_is_a_line_and_not_a_traceback(world: World, capsys):
    thread = threading.Thread(target=fail, args=(ValueError("gws_canary"),))
    thread.start()
    thread.join()

    assert [line["level"] for line in world.lines()] == ["critical"]
    assert clean(world.text() + capsys.readouterr().err)


async def test_an_unawaited_task_is_a_line_and_not_a_traceback(world: World):
    loop = asyncio.get_running_loop()

    loop.call_exception_handler({"message": "lost", "exception": ValueError("gws_canary")})

    assert [line["logger"] for line in world.lines()] == ["asyncio"]
    assert clean(world.text())


def test_a_warning_is_a_line(world: World):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning("gws_canary is old", UserWarning, "x.py", 1)

    assert [line["logger"] for line in world.lines()] == ["py.warnings"]
    assert clean(world.text())


def test_control_characters_do_not_start_a_second_line(world: World):
    logging.getLogger("x").warning("one\r\ntwo\x1b[2J\x9b")

    assert len(world.lines()) == 1
    assert world.text().rstrip("\n").isprintable()


@pytest.mark.parametrize("say", ["structlog", "logging"])
def test_a_flood_is_held_back_and_counted(world: World, say: str):
    """A hundred lines a second of one message."""
    logger = structlog.get_logger("x") if say == "structlog" else logging.getLogger("asyncio")
    for _ in range(150):
        logger.error("socket.accept() out of system resource")
    during = len(world.lines())
    world.second += 1
    logger.error("another")

    notice = world.lines()[during]
    assert during == 100
    assert (notice["event"], notice["count"]) == ("lines_suppressed", 50)


def test_the_rate_limit_counts_templates_without_their_arguments(world: World):
    for number in range(150):
        logging.getLogger("asyncio").warning("fd %d", number)

    assert len(world.lines()) == 100


async def test_an_error_is_written_at_once(world: World):
    world.buffer.start()
    logging.getLogger("x").warning("may wait")
    waiting = list(world.written)
    logging.getLogger("x").error("may not")
    written = len(world.lines())

    world.buffer.stop()
    assert (waiting, written) == ([], 2)


def test_starting_replaces_other_handlers_and_stopping_restores_the_level():
    root = logging.getLogger()
    other = logging.StreamHandler()
    root.addHandler(other)
    level, hook = root.level, sys.excepthook
    world = World()

    world.logs.start()
    during = tuple(root.handlers)
    world.logs.stop()

    assert other not in during
    assert len(during) == 1
    assert (root.level, sys.excepthook) == (level, hook)
    assert not any(logging.getLogger(name).filters for name in FILTERED)

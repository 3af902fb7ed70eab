"""
Logging: structlog for ours, the standard library's routed the same way, all as JSON lines.

Lines of other libraries pass a filter that hides values before any
handler gets them; our own lines pass the allow-list of ``redaction``.
"""

from __future__ import annotations

import logging
import re
import sys
import threading
from collections.abc import MutableMapping
from types import TracebackType
from typing import Final

import structlog
from structlog.typing import EventDict

from gateway.core.clocks import Monotonic, Now
from gateway.core.trace import current_trace_id
from gateway.telemetry.logs.lines import Ceiling, LineBuffer, encode
from gateway.telemetry.logs.redaction import describe_failure, mask_quoted, redact

FILTERED: Final = ("", "aiohttp.server", "aiohttp.access", "asyncio")
"""Loggers whose records are cleaned before any handler; the first is the root."""

_FAILURE: Final = "pixgate_failure"
_WORD: Final = re.compile(r"[a-z]+(?:_[a-z]+)+", re.ASCII)
"""A message of one fixed word, such as ``sys_startup``, names the event."""
_LONGEST: Final = 2000
_LONGEST_MESSAGE: Final = 200
_PER_SECOND: Final = 100
"""How often one message is written."""


class Logs:
    """
    Logging of this process, from ``start`` to ``stop``.

    Other handlers of the root logger are taken off: they would write past us.

    Args:
        level: The least level written.
    """

    def __init__(
        self,
        lines: LineBuffer,
        *,
        now: Now,
        monotonic: Monotonic,
        level: str = "INFO",
    ) -> None:
        self._now = now
        self._level = level
        self._ceiling = Ceiling(_PER_SECOND, monotonic)
        self._filter = ForeignFilter(self._ceiling)
        self._handler = _LineHandler(lines, now, self._ceiling)
        self._handler.addFilter(self._filter)
        self._before = (logging.WARNING, sys.excepthook, threading.excepthook)

    def start(self) -> None:
        """Take over logging, warnings and uncaught exceptions."""
        root = logging.getLogger()
        self._before = (root.level, sys.excepthook, threading.excepthook)
        for other in tuple(root.handlers):
            root.removeHandler(other)
        root.addHandler(self._handler)
        root.setLevel(self._level)
        for name in FILTERED:
            logging.getLogger(name).addFilter(self._filter)
        logging.captureWarnings(capture=True)
        sys.excepthook = _log_uncaught
        threading.excepthook = _log_uncaught_in_thread
        self._configure_structlog()

    def change_level(self, level: str) -> None:
        """Write lines of another least level from now on, such as ``WARNING``."""
        self._level = level
        logging.getLogger().setLevel(level)
        self._configure_structlog()

    def stop(self) -> None:
        """Restore logging as it was."""
        root = logging.getLogger()
        root.removeHandler(self._handler)
        level, sys.excepthook, threading.excepthook = self._before
        root.setLevel(level)
        for name in FILTERED:
            logging.getLogger(name).removeFilter(self._filter)
        logging.captureWarnings(capture=False)
        structlog.reset_defaults()

    def _configure_structlog(self) -> None:
        """Send structlog's events through the same handler, cleaned before they leave it."""
        structlog.configure(
            processors=[
                structlog.stdlib.add_log_level,
                structlog.stdlib.add_logger_name,
                self._limit,
                self._complete,
                structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
            ],
            wrapper_class=structlog.make_filtering_bound_logger(
                logging.getLevelNamesMapping()[self._level]
            ),
            logger_factory=structlog.stdlib.LoggerFactory(),
            cache_logger_on_first_use=False,
        )

    def _limit(self, _logger: object, _method: str, event: EventDict) -> EventDict:
        if not self._ceiling.admits(str(event.get("event", ""))[:_LONGEST_MESSAGE]):
            raise structlog.DropEvent
        return event

    def _complete(self, _logger: object, _method: str, event: EventDict) -> EventDict:
        """Clean the given fields; add the time and the trace id."""
        problem = _exception(event.pop("exc_info", None))
        event.pop("stack_info", None)
        shown = redact(event)
        trace_id = current_trace_id()
        if trace_id:
            shown["trace_id"] = trace_id
        if problem is not None:
            shown["exception"] = describe_failure(problem)
        return {"ts": self._now(), **shown}


class ForeignFilter(logging.Filter):
    """
    Cleans records of other libraries, once each, and drops floods.

    The message is put together, its quoted parts hidden and patterns masked;
    arguments, traceback and stack leave the record, so that no handler,
    whoever added it, can write them.
    """

    def __init__(self, ceiling: Ceiling) -> None:
        super().__init__()
        self._ceiling = ceiling

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean the record in place; False when there were too many like it."""
        fields: MutableMapping[str, object] = record.__dict__
        if "_logger" in fields or _FAILURE in fields:
            return True
        if not self._ceiling.admits(f"{record.name}: {record.msg}"[:_LONGEST_MESSAGE]):
            return False
        problem = _exception(record.exc_info)
        fields[_FAILURE] = describe_failure(problem) if problem is not None else None
        record.msg = _message(record)
        record.args = None
        record.exc_info = record.exc_text = record.stack_info = None
        return True


class _LineHandler(logging.Handler):
    """Writes every record as one JSON line; errors at once."""

    def __init__(self, lines: LineBuffer, now: Now, ceiling: Ceiling) -> None:
        super().__init__()
        self._lines = lines
        self._now = now
        self._ceiling = ceiling

    def emit(self, record: logging.LogRecord) -> None:
        for message, times in self._ceiling.take_suppressed().items():
            line = {"ts": self._now(), "level": "warning", "event": "lines_suppressed"}
            self._lines.append(encode({**line, "message": mask_quoted(message), "count": times}))
        ours = record.msg if isinstance(record.msg, dict) else self._foreign(record)
        self._lines.append(encode(ours))
        if record.levelno >= logging.ERROR:
            self._lines.flush()

    def _foreign(self, record: logging.LogRecord) -> dict[str, object]:
        line: dict[str, object] = {
            "ts": self._now(),
            "level": record.levelname.lower(),
            "event": record.msg if _WORD.fullmatch(record.msg) else "log",
            "logger": record.name,
            "message": record.msg,
        }
        if current_trace_id():
            line["trace_id"] = current_trace_id()
        failure = record.__dict__.get(_FAILURE)
        if failure:
            line["exception"] = failure
        return line


def _message(record: logging.LogRecord) -> str:
    """Format the message; arguments that do not fit are left out."""
    try:
        text = record.getMessage()
    except Exception:  # noqa: BLE001 - a caller's mistake in a log call must not end its work
        text = f"{record.msg} (arguments do not fit)"
    return mask_quoted(text)[:_LONGEST]


def _exception(given: object) -> BaseException | None:
    """Find the exception in structlog's ``exc_info``."""
    if isinstance(given, BaseException):
        return given
    if isinstance(given, tuple):
        return given[1] if isinstance(given[1], BaseException) else None
    return sys.exc_info()[1] if given else None


def _log_uncaught(
    kind: type[BaseException], problem: BaseException, trace: TracebackType | None
) -> None:
    """Log an uncaught exception instead of printing it with its values; not Ctrl-C."""
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, problem, trace)
        return
    logging.getLogger("gateway").critical("uncaught", exc_info=(kind, problem, trace))


def _log_uncaught_in_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
        _log_uncaught(args.exc_type, args.exc_value, args.exc_traceback)

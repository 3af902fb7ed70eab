"""
Metrics as text: what never changes of it is written once, by prometheus-client.

Writing every name and label anew takes far longer than writing the numbers, and
meanwhile nothing else of the process runs. The library's module of the
plain form is left alone, for it brings a server along; the samples are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

_EXACT: Final = 1e6
"""Below it, a number is written as Python writes it."""
_COUNTER: Final = "counter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """
    A form of the text.

    Attributes:
        heading: Writes what stands above the samples of a metric.
        end: What every text ends with.
    """

    content_type: str
    heading: Callable[[Metric], str]
    end: str = ""


class _Alone(Collector):
    """One metric as a collector."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    def collect(self) -> Iterable[Metric]:
        return (self._metric,)


def template(metric: Metric) -> str:
    """Write the samples of a metric with ``%s`` for each number."""
    lines = _lines(metric, comments=False)
    return "".join(f"{line.rpartition(' ')[0].replace('%', '%%')} %s\n" for line in lines)


def written(collector: Collector, form: Form) -> str:
    """Write what a collector has, without the end of the text."""
    return "".join(
        form.heading(metric) + "".join(f"{line}\n" for line in _lines(metric, comments=False))
        for metric in collector.collect()
    )


def number(value: float) -> str:
    """Write a number as prometheus-client does."""
    return repr(value) if -_EXACT < value < _EXACT else _far_number(value)


def _far_number(value: float) -> str:
    """Write a number that is large or none."""
    return str(floatToGoString(value))  # type: ignore[no-untyped-call] # theirs


def _plain_heading(metric: Metric) -> str:
    """Write it as version 0.0.4 has it: a counter is named like its samples."""
    name = metric.name + "_total" * (metric.type == _COUNTER)
    meaning = metric.documentation.replace("\\", r"\\").replace("\n", r"\n")
    return f"# HELP {name} {meaning}\n# TYPE {name} {metric.type}\n"


def _openmetrics_heading(metric: Metric) -> str:
    """Write it as OpenMetrics has it."""
    return "".join(f"{line}\n" for line in _lines(metric, comments=True))


def _lines(metric: Metric, *, comments: bool) -> list[str]:
    """Return the lines of a metric in OpenMetrics that are comments, or those that are not."""
    text: bytes = openmetrics.generate_latest(_Alone(metric))  # type: ignore[no-untyped-call] # theirs
    lines = text.decode().removesuffix(_END).split("\n")
    return [line for line in lines if line and line.startswith("#") is comments]


_END: Final = "# EOF\n"

PLAIN: Final = Form(content_type="text/plain; version=0.0.4; charset=utf-8", heading=_plain_heading)
OPENMETRICS: Final = Form(
    content_type=openmetrics.CONTENT_TYPE_LATEST, heading=_openmetrics_heading, end=_END
)

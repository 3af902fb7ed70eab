"""Telemetry: what a log must not show, whose trace it is, and figures that must be true."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_LOGS = "tests/unit/gateway/telemetry/logs"
_METRICS = "tests/unit/gateway/telemetry/metrics"
_TELEMETRY = "tests/unit/gateway/telemetry"

ROWS = (
    Mistake(
        name="values-of-an-exception-logged",
        promise="What an exception quotes is hidden in the log.",
        source="docs/log.md",
        file="gateway/telemetry/logs/redaction.py",
        right="    return mask_quoted(text)[:_LONGEST_MESSAGE]",
        wrong="    return mask_text(text)[:_LONGEST_MESSAGE]",
        tests=(f"{_LOGS}/test_redaction_failures.py::test_a_described_failure_contains_no_values",),
    ),
    Mistake(
        name="one-of-two-trace-ids",
        promise="Two trace ids are none: nobody chooses between them.",
        source="decisions 7",
        file="gateway/core/trace.py",
        right=(
            "    if len(values) != 1:\n"
            "        return None\n"
            "    try:\n"
            "        return strict.trace_id"
        ),
        wrong="    if not values:\n        return None\n    try:\n        return strict.trace_id",
        tests=(
            "tests/unit/gateway/core/test_trace.py::test_an_invalid_or_repeated_trace_id_is_refused",
        ),
    ),
    Mistake(
        name="trace-of-the-request-before",
        promise="A request that sends no trace does not continue that of another caller.",
        source="decisions 7, W3C Trace Context",
        file="gateway/core/trace.py",
        right="        if _parent.get() is not None:\n            _parent.set(None)\n",
        wrong="",
        tests=(
            (
                "tests/unit/gateway/core/test_trace_traceparent.py"
                "::test_a_request_without_a_traceparent_starts_a_trace_of_its_own_id"
            ),
        ),
    ),
    Mistake(
        name="whatever-a-caller-calls-itself-logged",
        promise="A client id that was not proven is shown only if it has our form.",
        source="decisions 3, docs/log.md",
        file="gateway/telemetry/logs/events.py",
        right="    return text if _CLIENT_ID.fullmatch(text) else OTHER",
        wrong="    return text if _CLIENT_ID.match(text) else OTHER",
        tests=(f"{_LOGS}/test_events.py::test_a_client_id_with_extra_characters_is_not_logged",),
    ),
    Mistake(
        name="company-of-a-stranger-logged",
        promise="A company is logged only beside somebody who proved who asks.",
        source="docs/log.md",
        file="gateway/telemetry/logs/events.py",
        right="    if (client_id or user_id) and company_id:",
        wrong="    if company_id:",
        tests=(
            f"{_LOGS}/test_events.py::test_a_company_named_by_an_unauthenticated_caller_is_not_logged",
        ),
    ),
    Mistake(
        name="method-of-a-caller-logged",
        promise="A method that nobody knows is one word in the log.",
        source="docs/log.md",
        file="gateway/telemetry/logs/events.py",
        right='"method": record.method if record.method in _METHODS else OTHER,',
        wrong='"method": record.method,',
        tests=(f"{_LOGS}/test_events.py::test_a_caller_s_text_is_not_logged",),
    ),
    Mistake(
        name="review-shown-for-ever",
        promise="A bank without unsettled payouts is shown with none.",
        source="docs/metrics.md",
        file="gateway/telemetry/observer.py",
        right="        for provider in self._providers | by_provider.keys():",
        wrong="        for provider in by_provider:",
        tests=(
            (f"{_TELEMETRY}/test_observer.py::test_a_bank_without_unsettled_payouts_shows_zero"),
        ),
    ),
    Mistake(
        name="money-calls-not-logged",
        promise="A call that moves money has a line of its own.",
        source="docs/log.md",
        file="gateway/telemetry/observer.py",
        right='quiet=call.outcome == "ok" and call.operation.startswith(_READING),',
        wrong='quiet=call.outcome == "ok",',
        tests=(
            f"{_TELEMETRY}/test_observer.py::test_a_successful_bank_read_within_a_request_is_logged_only_with_the_request",
        ),
    ),
    Mistake(
        name="failed-payouts-settle-fast",
        promise="Only payouts that were paid count into the time of settlement.",
        source="docs/metrics.md",
        file="gateway/telemetry/observer.py",
        right='        if state == "paid":',
        wrong="        if state:",
        tests=((f"{_TELEMETRY}/test_observer.py::test_only_a_paid_payout_has_a_settlement_time"),),
    ),
    Mistake(
        name="first-increase-invisible",
        promise="A counter that alerts watch starts at zero.",
        source="docs/metrics.md",
        file="gateway/telemetry/metrics/registry.py",
        right="            if family.metric is not Gauge:",
        wrong="            if family.metric is Gauge:",
        tests=(
            f"{_METRICS}/test_registry.py::test_a_family_starts_at_zero_only_when_it_has_few_series",
        ),
    ),
    Mistake(
        name="trace-id-too-long-for-an-exemplar",
        promise="No trace id of a caller keeps a request from being counted.",
        source="docs/metrics.md",
        file="gateway/telemetry/observer.py",
        right="_LONGEST_EXAMPLE: Final = 64",
        wrong="_LONGEST_EXAMPLE: Final = 128",
        tests=(
            (
                f"{_TELEMETRY}/test_observer.py::test_a_slow_or_refused_request_has_its_trace_id_as_exemplar"
            ),
        ),
    ),
    Mistake(
        name="lost-lines-not-counted",
        promise="Lines that are not written are counted.",
        source="docs/metrics.md",
        file="gateway/telemetry/logs/writer.py",
        right='                self.lost["full"] += lines.count(b"\\n")\n                return',
        wrong="                return",
        tests=(f"{_LOGS}/test_writer.py::test_lines_beyond_the_buffer_are_dropped_and_counted",),
    ),
    Mistake(
        name="held-back-lines-not-told",
        promise="How many lines were held back is told.",
        source="docs/log.md",
        file="gateway/telemetry/logs/lines.py",
        right="                self._over[message] += times - self._most",
        wrong="                self._over[message] = times",
        tests=(f"{_LOGS}/test_lines_rate_limit.py::test_suppressed_lines_are_reported_once",),
    ),
    Mistake(
        name="surrogate-stops-a-line",
        promise="No text of a caller keeps a line of the log from being written.",
        source="docs/log.md",
        file="gateway/telemetry/logs/lines.py",
        right='        return json.dumps(plain, default=str).encode() + b"\\n"',
        wrong='        return json.dumps(plain, default=str, ensure_ascii=False).encode() + b"\\n"',
        tests=(f"{_LOGS}/test_lines.py::test_an_unencodable_value_does_not_lose_its_line",),
    ),
)

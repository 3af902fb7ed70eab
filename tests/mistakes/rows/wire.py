"""The wire: what our lane takes, and what it leaves to aiohttp."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

SOURCE = "decisions 2 (step 1)"
ROWS = (
    Mistake(
        name="lane-takes-a-name-twice",
        promise="A request with two Hosts, lengths or credentials is left to aiohttp.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right="            and len(names) == len(pairs)\n",
        wrong="",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_unusual_requests_are_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-odd-names",
        promise="A request that asks for more than an answer is left to aiohttp.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right="            and names.isdisjoint(_ODD)\n",
        wrong="",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_unusual_requests_are_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-a-last-request",
        promise="A connection that its caller ends is left to aiohttp.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right='headers.get(hdrs.CONNECTION, "keep-alive").lower() == "keep-alive"',
        wrong="True",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_unusual_requests_are_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-any-host",
        promise="A Host that is none is refused, so it is left to aiohttp.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right="            and is_host(headers[hdrs.HOST])\n",
        wrong="",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_unusual_requests_are_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-any-length",
        promise="A length that is not written as the body's is left to aiohttp.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right="            and headers.get(hdrs.CONTENT_LENGTH) == length\n",
        wrong="",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_unusual_requests_are_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-a-long-line",
        promise="What is above the bound of a line is measured by aiohttp.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right="min(limits.head_bytes, limits.header_line_bytes, limits.request_line_bytes)",
        wrong="limits.head_bytes",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_requests_at_the_size_limits_are_parsed_and_above_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-many-headers",
        promise="One header too many is counted by aiohttp.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right="        and lines - 2 <= limits.headers  # the request's own, and the empty one\n",
        wrong="",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_unusual_requests_are_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-any-byte",
        promise="Control bytes and bytes beyond ASCII in a head are left to aiohttp.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right="        and head.translate(None, _PRINTABLE) == _LINE_END * lines\n",
        wrong="",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_unusual_requests_are_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-spaces-at-an-end",
        promise="A line that ends in a space, or has no value, is left to aiohttp.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right='        and b" \\r\\n" not in head\n',
        wrong="",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_unusual_requests_are_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-other-methods",
        promise="A method other than GET and POST is left to aiohttp.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right="rb'(GET|POST) (%s[!\"$-~]*) HTTP/1\\.1\\r\\n'",
        wrong="rb'([A-Z]+) (%s[!\"$-~]*) HTTP/1\\.1\\r\\n'",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_unusual_requests_are_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-other-surfaces",
        promise="A target of another surface, whose answers may have pieces, is left to aiohttp.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right="rb'(GET|POST) (%s[!\"$-~]*) HTTP/1\\.1\\r\\n'",
        wrong="rb'(GET|POST) (/[!\"$-~]*|%s) HTTP/1\\.1\\r\\n'",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_unusual_requests_are_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-an-old-version",
        promise="HTTP/1.0 is left to aiohttp.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right="rb'(GET|POST) (%s[!\"$-~]*) HTTP/1\\.1\\r\\n'",
        wrong="rb'(GET|POST) (%s[!\"$-~]*) HTTP/1\\.[01]\\r\\n'",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_unusual_requests_are_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-a-fragment",
        promise="A target with a fragment is left to aiohttp.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right="rb'(GET|POST) (%s[!\"$-~]*) HTTP/1\\.1\\r\\n'",
        wrong="rb'(GET|POST) (%s[!\"#$-~]*) HTTP/1\\.1\\r\\n'",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_unusual_requests_are_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-what-is-large",
        promise="What is above 8 KB is left to aiohttp.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right="found is None or len(data) > LARGEST_BYTES or",
        wrong="found is None or",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_requests_at_the_size_limits_are_parsed_and_above_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-bytes-behind-a-read",
        promise="A read with bytes behind it is left to aiohttp: it has none of its own.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right="if headers is None or (is_read and body):",
        wrong="if headers is None:",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_unusual_requests_are_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-no-host",
        promise="A request without Host is left to aiohttp.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right="            and hdrs.HOST in headers\n",
        wrong="",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_unusual_requests_are_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-remembers-what-it-left",
        promise="Bytes that the lane left to aiohttp are no part of the next request.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right="self._parser = HttpRequestParser(self)  # it holds something, or reads no more",
        wrong="pass",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_unusual_requests_are_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-an-upgrade",
        promise="A request that llhttp does not read as one message is left to aiohttp.",
        source=SOURCE,
        file="gateway/net/server/lane.py",
        right="except (HttpParserError, HttpParserUpgrade):",
        wrong="except HttpParserUpgrade:",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_unusual_requests_are_left_to_aiohttp",
        ),
    ),
    Mistake(
        name="lane-takes-while-one-is-served",
        promise="A request waits until the one before it is answered.",
        source=SOURCE,
        file="gateway/net/server/front.py",
        right="is_between = self._request is None and not self._handed_on",
        wrong="is_between = not self._handed_on",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_a_pipelined_request_is_answered_after_the_first",
        ),
    ),
    Mistake(
        name="lane-takes-while-draining",
        promise="A listener that closes takes no new request.",
        source=SOURCE,
        file="gateway/net/server/front.py",
        right="if not is_between or self._connections.draining or not self._room.is_set():",
        wrong="if not is_between or not self._room.is_set():",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_a_request_to_a_closing_listener_is_refused",
        ),
    ),
    Mistake(
        name="lane-takes-from-who-takes-nothing",
        promise="Who has not taken an answer is served no further.",
        source=SOURCE,
        file="gateway/net/server/front.py",
        right="if not is_between or self._connections.draining or not self._room.is_set():",
        wrong="if not is_between or self._connections.draining:",
        tests=(
            "tests/unit/gateway/net/server/test_lane.py::test_no_request_is_handled_while_writing_is_paused",
        ),
    ),
    Mistake(
        name="last-by-another-name",
        promise="A request with Proxy-Connection: close is answered, whatever bytes are behind it.",
        source=SOURCE,
        file="gateway/net/server/front.py",
        right='rb"\\r\\n(?:proxy-)?connection:',
        wrong='rb"\\r\\nconnection:',
        tests=(
            "tests/surfaces/wire/test_raw_socket_probes.py::test_bytes_after_a_last_request_are_ignored",
        ),
    ),
    Mistake(
        name="flaw-behind-a-last-answer-refused",
        promise="After a last answer nothing is read, in the turn before aiohttp closes either.",
        source=SOURCE,
        file="gateway/net/server/front.py",
        right="        self._discards |= is_last\n",
        wrong="",
        tests=(
            "tests/surfaces/wire/test_three_ways.py::test_nothing_is_read_after_the_last_answer",
        ),
    ),
)

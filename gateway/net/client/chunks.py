"""Whether a body in chunks keeps to its own sizes; the parser reads more than it should."""

from __future__ import annotations

import re
from typing import Final

from gateway.domain.bank.providers import BadReply
from gateway.net.client.reasons import Reason

# 15 digits are far above what is read of any body, and below where readers overflow.
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[\t ]*+(?:;[^\r\n]*+)?\r\n")
_CHUNK_END: Final = re.compile(rb"\r\n")
_TRAILER: Final = re.compile(rb"[^\r\n]*+\r\n")
_BLANK_BYTES: Final = 2
_LONGEST_LINE: Final = 64 * 1024
"""As long as a head; a longer extension of a chunk says nothing that we would read."""


class Chunks:
    """
    Follows the chunks of one body, however they are cut into segments.

    aiohttp's parser takes a line feed alone for a line's end: it reads a chunk of five that
    holds four bytes as five, the carriage return among them. Here a chunk must end where its
    size says, and every line with both characters.
    """

    __slots__ = ("_data_left", "_is_over", "_line", "_rest")

    def __init__(self) -> None:
        self._rest = b""
        self._data_left = 0
        self._line = _SIZE
        self._is_over = False

    def follow(self, data: bytes) -> None:
        """
        Hear of the next bytes; those behind the end of the body do not matter.

        Raises:
            BadReply: ``not_http``, for what is not exactly chunks.
        """
        data = self._rest + data
        at, size = 0, len(data)
        while at < size and not self._is_over:
            if self._data_left:
                taken = min(self._data_left, size - at)
                self._data_left -= taken
                at += taken
                continue
            found = self._line.match(data, at)
            if found is None:
                _require_unfinished(data, at)
                break
            at = found.end()
            self._take(found)
        self._rest = data[at:]

    def _take(self, found: re.Match[bytes]) -> None:
        """Take a whole line: what comes next?"""
        if self._line is _SIZE:
            self._data_left = int(found[1], 16)
            self._line = _CHUNK_END if self._data_left else _TRAILER
        elif self._line is _CHUNK_END:
            self._line = _SIZE
        else:
            self._is_over = found.end() - found.start() == _BLANK_BYTES


def _require_unfinished(data: bytes, at: int) -> None:
    """Refuse what is no line of the kind, unless its end may still come."""
    found = data.find(b"\n", at)
    if found >= 0 or len(data) - at > _LONGEST_LINE:
        raise BadReply(Reason.NOT_HTTP)

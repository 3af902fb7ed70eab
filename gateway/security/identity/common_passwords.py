"""
Passwords that attackers try first.

``common_passwords.txt`` lists them in lower case, one per line. We composed it: words
that lists of leaked passwords start with, in English and Brazilian Portuguese, combined
with the endings people add to satisfy a rule (years, runs of digits, ``@123``), doubled,
and as runs on a keyboard. Besides the list, repetitions of a short text and runs along
the alphabet or a keyboard count as common.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

_FILE = "common_passwords.txt"
# fewer different characters than this can be guessed by trying
_LEAST_DISTINCT = 5
# "abcdabcdabcd" is one text of four characters, repeated
_LONGEST_UNIT = 4
# shorter runs, such as "abcd", occur in ordinary words
_SHORTEST_RUN = 5
_RUNS = (
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890123456789",
    "qwertyuiopasdfghjklzxcvbnm",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
    "1q2w3e4r5t6y7u8i9o0p",
)
_ENDING = re.compile(r"[^a-z]+\Z", re.ASCII)
_LEET = str.maketrans("@4301!5$7", "aaeoiisst")


def is_common(password: str) -> bool:
    """Say whether attackers try a password first, in any letter case."""
    lowered = password.casefold()
    return (
        lowered in _listed()
        or _plain(lowered) in _listed()
        or len(set(lowered)) < _LEAST_DISTINCT
        or _is_repeated(lowered)
        or _is_run(lowered)
    )


@lru_cache(maxsize=1)
def _listed() -> frozenset[str]:
    """Read the list, once, on first use."""
    text = files("gateway.security.identity").joinpath(_FILE).read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))


def _plain(text: str) -> str:
    """Replace look-alike signs by letters, except at the end, where digits are digits."""
    ending = _ENDING.search(text)
    cut = ending.start() if ending else len(text)
    return text[:cut].translate(_LEET) + text[cut:]


def _is_repeated(text: str) -> bool:
    """Say whether it is a short text repeated, the last time perhaps cut."""
    return any(
        text == (text[:length] * len(text))[: len(text)]
        for length in range(1, min(_LONGEST_UNIT, len(text) // 2) + 1)
    )


def _is_run(text: str) -> bool:
    """Say whether it consists only of runs of neighbours, forwards or backwards."""
    rest = text
    while rest:
        length = _run_length(rest)
        if length < _SHORTEST_RUN:
            return False
        rest = rest[length:]
    return True


def _run_length(text: str) -> int:
    """Return the length of the run at the beginning."""
    lines = [line[::step] for line in _RUNS for step in (1, -1)]
    length = 0
    while length < len(text) and any(text[: length + 1] in line for line in lines):
        length += 1
    return length

"""
Passwords that everybody tries first.

``common_passwords.txt`` holds them in lower case, one a line. It is ours: some
words that lists of leaked passwords are known to begin with, in English and in
Brazilian Portuguese, joined with the endings people add to get past a rule
(years, runs of digits, ``@123``), said twice, and walked on a keyboard. Beside
the list, what is one short thing repeated, or a run along the alphabet or a
keyboard, is common without standing there.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

_FILE = "common_passwords.txt"
_LEAST_DISTINCT = 5
_LONGEST_UNIT = 4
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
    """Say whether a password is one of the first that are tried, in any letter case."""
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
    """Read the list, once, when it is first asked for."""
    text = files("gateway.security.identity").joinpath(_FILE).read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))


def _plain(text: str) -> str:
    """Put letters where signs stand for them, but for the ending, where digits are meant."""
    ending = _ENDING.search(text)
    cut = ending.start() if ending else len(text)
    return text[:cut].translate(_LEET) + text[cut:]


def _is_repeated(text: str) -> bool:
    """Say whether it is one short thing over and over, the last time perhaps cut."""
    return any(
        text == (text[:length] * len(text))[: len(text)]
        for length in range(1, min(_LONGEST_UNIT, len(text) // 2) + 1)
    )


def _is_run(text: str) -> bool:
    """Say whether it is made of runs of neighbours only, forwards or backwards."""
    rest = text
    while rest:
        length = _run_length(rest)
        if length < _SHORTEST_RUN:
            return False
        rest = rest[length:]
    return True


def _run_length(text: str) -> int:
    """Return how many characters at the beginning follow one another somewhere."""
    lines = [line[::step] for line in _RUNS for step in (1, -1)]
    length = 0
    while length < len(text) and any(text[: length + 1] in line for line in lines):
        length += 1
    return length

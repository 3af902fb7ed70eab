"""Faults of ours, told to the log without a word of the caller's."""

from __future__ import annotations

from pathlib import PurePath
from traceback import extract_tb
from typing import Final

_FRAMES: Final = 5


def describe(problem: BaseException | None) -> str:
    """Name an error's kind and where it arose, never its message: that may quote the caller."""
    if problem is None:
        return "an unknown error"
    frames = extract_tb(problem.__traceback__)[-_FRAMES:]
    places = (f"{PurePath(each.filename).name}:{each.lineno} {each.name}" for each in frames)
    return f"{type(problem).__name__} at {' > '.join(places) or 'no place'}"

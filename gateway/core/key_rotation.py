"""
Key rotation in two phases: every process has the new key before any process writes with it.

Between the phases processes write with the old key and read both. Otherwise one process would write
audit events, provider credentials or digests that another cannot read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

KeyIds = Mapping[str, Sequence[str]]
"""By purpose, the ids of the configured keys: first the one written with, empty for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveProcess:
    """
    A live process, as operators identify it.

    Attributes:
        id: No other process has it.
        name: Its kind, its process id and its machine.
    """

    id: str
    name: str
    keys: KeyIds


class Purpose(NamedTuple):
    """
    A key that can be replaced.

    Attributes:
        title: Its name in messages.
        setting: Where the current key is configured.
        others: Where the other ones are: former ones, and the next one.
    """

    title: str
    setting: str
    others: str


SEALING: Final = "sealing"
PEPPER: Final = "pepper"
PASSWORDS: Final = "passwords"
PURPOSES: Final[Mapping[str, Purpose]] = {
    SEALING: Purpose("sealing key", "sealing.key", "sealing.retired_keys"),
    PEPPER: Purpose("pepper", "auth.basic.pepper", "auth.basic.retired_peppers"),
    PASSWORDS: Purpose("password pepper", "identity.pepper", "identity.retired_peppers"),
}
_NONE: Final = ("",)


@dataclass(frozen=True, slots=True)
class Step:
    """
    The operator's next step for a key.

    Attributes:
        agreed: All processes have the same keys, and write with the same one.
        text: The step, in one sentence.
    """

    agreed: bool
    text: str


def key_conflicts(process: LiveProcess, others: Sequence[LiveProcess]) -> Sequence[str]:
    """Return each key that one process writes with and another lacks."""
    problems = []
    for name, purpose in PURPOSES.items():
        current = key_ids(process, name)[0]
        if lacking := without_key(name, current, others):
            problems.append(
                f"the {purpose.title} {current} is not configured in {_names(lacking)}: "
                f"add it there to {purpose.others} first"
            )
        for key_id, writers in _writers(name, others).items():
            if without_key(name, key_id, [process]):
                problems.append(
                    f"the {purpose.title} {key_id}, with which {_names(writers)} writes, is not "
                    f"configured here: add it to {purpose.others} first"
                )
    return problems


def without_key(
    purpose: str, key_id: str, processes: Sequence[LiveProcess]
) -> Sequence[LiveProcess]:
    """Return the processes that lack a key."""
    return [each for each in processes if key_id and key_id not in key_ids(each, purpose)]


def next_step(name: str, processes: Sequence[LiveProcess]) -> Step:
    """Return the next step for a purpose's key."""
    purpose, writers = PURPOSES[name], _writers(name, processes)
    known = sorted({key_id for each in processes for key_id in key_ids(each, name) if key_id})
    missing = {key_id: without_key(name, key_id, processes) for key_id in known}
    urgent = {key_id: missing[key_id] for key_id in writers if missing[key_id]}
    if urgent:
        return Step(
            agreed=False,
            text=f"At once: {_listed(urgent)} although it is written with; add it there to "
            f"{purpose.others} and restart.",
        )
    if len({key_ids(each, name)[0] for each in processes}) > 1:
        return Step(
            agreed=False,
            text=f"Phase 2 is under way: {_written(writers, processes, name)}; make the new key "
            f"{purpose.setting} in each of them and restart.",
        )
    if any(missing.values()):
        lacking = {key_id: found for key_id, found in missing.items() if found}
        return Step(
            agreed=False,
            text=f"Phase 1 is under way: {_listed(lacking)}; add it there to {purpose.others} and "
            "restart, or remove it everywhere.",
        )
    return Step(agreed=True, text=_resting(name, known, writers))


def _resting(name: str, known: Sequence[str], writers: Mapping[str, object]) -> str:
    """Return the step when all processes agree."""
    others = [key_id for key_id in known if key_id not in writers]
    if not others:
        return f"Nothing is under way; pixgate keys stage {name} --file FILE makes the next key."
    return (
        f"Every process has {', '.join(others)} too: pixgate keys promote {name} ID if that is the "
        "new key, nothing if it is a former one."
    )


def key_ids(process: LiveProcess, purpose: str) -> Sequence[str]:
    """Return the ids of a purpose; a process of another release may not know the purpose."""
    return process.keys.get(purpose) or _NONE


def _writers(purpose: str, processes: Sequence[LiveProcess]) -> Mapping[str, list[LiveProcess]]:
    writers: dict[str, list[LiveProcess]] = {}
    for each in processes:
        if current := key_ids(each, purpose)[0]:
            writers.setdefault(current, []).append(each)
    return writers


def _listed(missing: Mapping[str, Sequence[LiveProcess]]) -> str:
    lines: Iterator[str] = (
        f"{key_id} is missing in {_names(found)}" for key_id, found in missing.items()
    )
    return ", and ".join(lines)


def _written(
    writers: Mapping[str, Sequence[LiveProcess]], processes: Sequence[LiveProcess], purpose: str
) -> str:
    parts = [f"{_names(found)} with {key_id}" for key_id, found in writers.items()]
    if unkeyed := [each for each in processes if not key_ids(each, purpose)[0]]:
        parts.append(f"{_names(unkeyed)} with none")
    return f"now write {', '.join(parts)}"


def _names(processes: Sequence[LiveProcess]) -> str:
    return ", ".join(each.name for each in processes)

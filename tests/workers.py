"""
Which worker runs which tests, when there are several: `pytest -n 2`.

Modules are given out whole, so that what a module sets up is set up once; the next one goes
to whoever is free. What measures how long processes take comes when three workers are left, as it
waits for most of its time. What keeps many processes busy comes last, on one worker, when the
others have ended: it would make others late, and they it.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import Protocol

ALONE = ("tests/operating/test_hanging_names.py", "tests/torture/test_campaign.py")
# Three of these at once, when nothing else runs; the longest begin first.
MOSTLY_WAITING = (
    "tests/operating/test_server_processes.py",
    "tests/operating/test_workers.py",
    "tests/operating/",
)
# Given out first: a long module that starts last keeps one worker busy while the others wait.
# What follows a module of one test waits behind it, so short ones follow the thousand lives.
LONG = (
    "tests/readme/",
    "tests/simulation/",
    "tests/contract/transport/",
    "tests/torture/",
    "tests/bench/",
    "tests/browser/",
    "tests/contract/",
    "tests/identity/",
    "tests/payouts/",
    "tests/surfaces/",
    "tests/unit/gateway/cli/",
)

_ANY = ""
_AT_ONCE = 60
_TOGETHER = 3
_KNOWN = 2
"""A worker starts a test when it knows the next one."""
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]+")


class Worker(Protocol):
    """A process that runs tests, as pytest-xdist knows it."""

    @property
    def shutting_down(self) -> bool:
        """Was it told to end after the tests it has?"""
        ...

    def send_runtest_some(self, indices: Sequence[int]) -> None:
        """Give it tests, by their numbers; it starts the last of them when it knows a next one."""
        ...

    def shutdown(self) -> None:
        """Let it end after the tests it has."""
        ...


@dataclass(frozen=True, slots=True)
class Shares:
    """
    Tests, shared out.

    Attributes:
        modules: For any worker, in parts of a size.
        waiting: Modules for three workers, when no other one is left.
        alone: For the last worker.
    """

    modules: deque[list[str]] = field(default_factory=deque)
    waiting: deque[list[str]] = field(default_factory=deque)
    alone: list[str] = field(default_factory=list)

    @property
    def any_left(self) -> bool:
        """Is anything not yet given out?"""
        return bool(self.modules or self.waiting or self.alone)


class Shifts:
    """
    The scheduler; its methods are those that pytest-xdist calls.

    Args:
        workers: How many there will be.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._names: list[str] = []
        self._found: dict[Worker, list[str]] = {}
        self._numbers: dict[Worker, dict[str, int]] = {}
        self._given: dict[Worker, list[str]] = {}
        self._left = Shares()
        self._begun = False
        self._joined = False

    # --- what pytest-xdist asks ---------------------------------------------------------------

    @property
    def nodes(self) -> list[Worker]:
        """The workers there are."""
        return list(self._given)

    @property
    def collection_is_completed(self) -> bool:
        """Has every worker told which tests it found?"""
        return self._begun or len(self._found) >= self._workers

    @property
    def has_pending(self) -> bool:
        """Is anything not yet run?"""
        return self._left.any_left or any(map(bool, self._given.values()))

    @property
    def tests_finished(self) -> bool:
        """Is everything given out, and each worker at its last test?"""
        if not self.collection_is_completed or self._left.any_left:
            return False
        return all(len(given) < 2 for given in self._given.values())

    # --- what pytest-xdist tells --------------------------------------------------------------

    def add_node(self, node: Worker) -> None:
        """Hear of a worker."""
        self._given[node] = []

    def add_node_collection(self, node: Worker, collection: Sequence[str]) -> None:
        """
        Hear what a worker found; the order is its own, as where addresses are in names.

        Raises:
            RuntimeError: Not what the others found.
        """
        names = _stable(collection)
        differing = set(names) ^ set(self._names or names)
        if differing:
            message = f"workers found different tests: {sorted(differing)[:5]}"
            raise RuntimeError(message)
        self._names = self._names or names
        self._found[node] = names
        self._numbers[node] = {name: number for number, name in enumerate(names)}

    def schedule(self) -> None:
        """Begin; or go on, with a worker that replaces another."""
        if not self._begun:
            self._left = shared(self._names)
            self._begun = True
        self._feed_all()

    def mark_test_complete(self, node: Worker, item_index: int, duration: float = 0) -> None:
        """Hear that a test has ended."""
        self._given[node].remove(self._found[node][item_index])
        if self._left.modules:
            self._feed(node)
        else:
            self._feed_all()

    def mark_test_pending(self, item: str) -> None:
        """Run a test once more."""
        self._left.modules.appendleft([item])
        self._feed_all()

    def remove_pending_tests_from_node(self, node: Worker, indices: Sequence[int]) -> None:
        """Never happens: nothing that was given is asked back."""
        raise NotImplementedError

    def remove_node(self, node: Worker) -> str | None:
        """Hear that a worker has ended; return the test that ended it, if one did."""
        given = self._given.pop(node)
        if not given:
            self._feed_all()
            return None
        broken, *left = given
        if left:
            self._left.modules.appendleft(left)
        self._feed_all()
        return broken

    # --- giving out ---------------------------------------------------------------------------

    def _feed_all(self) -> None:
        for node in self.nodes:
            self._feed(node)

    def _feed(self, node: Worker) -> None:
        """
        See that a worker has two tests or more; it starts one only when it knows the next.

        One that replaces another gets none until it has told what it found.
        """
        if node.shutting_down or node not in self._numbers:
            return
        left, crew = self._left, len(self._given)
        self._fill(node, left.modules)
        if not left.modules and self._may_join(node):
            self._joined = True
            self._fill(node, left.waiting)
        if left.modules or len(self._given[node]) >= _KNOWN:
            return
        if left.alone and crew == 1:
            self._give(node, [*left.alone])
            left.alone.clear()
        elif not self._is_needed(node):
            node.shutdown()

    def _may_join(self, node: Worker) -> bool:
        """Are only two more workers left, and those at the end of their modules, but for a test?"""
        others = [given for each, given in self._given.items() if each is not node]
        return self._joined or (
            len(others) < _TOGETHER and all(len(given) < _KNOWN for given in others)
        )

    def _is_needed(self, node: Worker) -> bool:
        """Is a worker that has nothing to do kept for what comes last?"""
        wanted = _TOGETHER if self._left.waiting else 1 if self._left.alone else 0
        others = [each for each in self._given if each is not node and not each.shutting_down]
        return len(others) < wanted

    def _fill(self, node: Worker, parts: deque[list[str]]) -> None:
        while parts and len(self._given[node]) < _KNOWN:
            self._give(node, parts.popleft())

    def _give(self, node: Worker, tests: list[str]) -> None:
        self._given[node].extend(tests)
        node.send_runtest_some([self._numbers[node][test] for test in tests])


def shared(names: Sequence[str]) -> Shares:
    """
    Share tests out: modules for any worker, in parts of a size, and what comes last.

    The modules of a folder of ``LONG`` follow each other: some share what they set up.
    """
    parts: dict[str, list[list[str]]] = {folder: [] for folder in (*LONG, _ANY)}
    waiting: dict[str, list[list[str]]] = {path: [] for path in MOSTLY_WAITING}
    alone: list[str] = []
    for path, found in groupby(names, lambda name: name.partition("::")[0]):
        if path.startswith(ALONE):
            alone += found
        elif path.startswith(MOSTLY_WAITING):
            waiting[_first(MOSTLY_WAITING, path)].append(list(found))
        else:
            parts[_first((*LONG, _ANY), path)] += _parts(list(found))
    return Shares(*(deque(chain.from_iterable(each.values())) for each in (parts, waiting)), alone)


def _first(prefixes: Iterable[str], path: str) -> str:
    return next(each for each in prefixes if path.startswith(each))


def _parts(tests: list[str]) -> Iterable[list[str]]:
    return (tests[first : first + _AT_ONCE] for first in range(0, len(tests), _AT_ONCE))


def _stable(names: Sequence[str]) -> list[str]:
    """Name tests alike in every worker: without addresses, numbered where that makes them equal."""
    times = Counter[str]()
    stable = []
    for name in (_ADDRESS.sub("", name) for name in names):
        times[name] += 1
        stable.append(name if times[name] == 1 else f"{name} {times[name]}")
    return stable

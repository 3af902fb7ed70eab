"""
The suite for pytest, one test for each case.

::

    @pytest.mark.pixgate_adapter("invented", stage="invented.stage:InventedStage")
    def test_adapter(adapter_case):
        adapter_case.run()

Without the mark, ``--pixgate-adapter`` and ``--pixgate-stage`` name the adapter to verify. A case
that is not applicable is a skipped test with its reason. ``pixgate adapter verify`` runs this, too.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from provider_adapters.testing.verify.trial import Case, Subject

_MARK: Final = "pixgate_adapter"
_FIXTURE: Final = "adapter_case"

pytest.register_assert_rewrite("provider_adapters.testing.verify.suite")


@dataclass(frozen=True, slots=True)
class AdapterCase:
    """A case of one adapter, as a test takes it."""

    subject: Subject
    case: Case

    def run(self) -> None:
        """Run the case to its end; a case that is not applicable is skipped."""
        from provider_adapters.testing.verify.stage import NotApplicable
        from provider_adapters.testing.verify.trial import prove

        try:
            asyncio.run(prove(self.subject, self.case))
        except NotApplicable as absent:
            pytest.skip(f"not applicable: {absent}")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that name an adapter and its stage."""
    group = parser.getgroup("pixgate")
    group.addoption("--pixgate-adapter", default="", help="name of the adapter to verify")
    group.addoption("--pixgate-stage", default="", help="its stage, as MODULE:NAME")


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    line = f"{_MARK}(name, stage=''): verify this adapter in each test that takes {_FIXTURE}"
    config.addinivalue_line("markers", line)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each case."""
    if _FIXTURE not in metafunc.fixturenames:
        return
    from provider_adapters.testing.stages import subject_of
    from provider_adapters.testing.verify.trial import every_case

    mark = metafunc.definition.get_closest_marker(_MARK)
    if mark is not None:
        adapter, stage = mark.args[0], mark.kwargs.get("stage", "")
    else:
        adapter = metafunc.config.getoption("--pixgate-adapter")
        stage = metafunc.config.getoption("--pixgate-stage")
    if not adapter:
        message = f"which adapter? Say --pixgate-adapter NAME, or @pytest.mark.{_MARK}(NAME)"
        raise pytest.UsageError(message)
    subject = subject_of(adapter, stage)
    cases = [AdapterCase(subject, each) for each in every_case().values()]
    metafunc.parametrize(_FIXTURE, cases, ids=[each.case.id for each in cases])

"""One environment for all tests of authors: making it takes seconds."""

from __future__ import annotations

import pytest

from tests.world.authors import Environment, environment_in


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return environment_in(tmp_path_factory.mktemp("author"))

"""The clone of this folder's tests: made once, when it is asked for."""

from collections.abc import Iterator

import pytest

from tests.proofs.readme.checkout import Answer, Checkout, Service, missing
from tests.servers.demand import absent, demanded


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    if not demanded("clone"):
        pytest.skip("installs a fresh clone of what is committed: TEST_REQUIRE=clone asks for it")
    if missing():
        absent("clone", f"the README needs {', '.join(missing())}")
    return Checkout(tmp_path_factory.mktemp("clone"))


@pytest.fixture(scope="session")
def service(checkout: Checkout) -> Iterator[Service]:
    """The clone's service, running; a test that ends it starts it again."""
    service = Service(checkout)
    try:
        service.start()
        yield service
    finally:
        service.close()


@pytest.fixture(scope="session")
def answers(checkout: Checkout, service: Service) -> list[Answer]:
    """What the ten printed calls got, in the order in which they are printed."""
    return [checkout.calls(line) for line in service.curls]

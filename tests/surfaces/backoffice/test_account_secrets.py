"""What an account shows to its bank, entered in the back office: whole and fitting, or nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio

from tests.world.backoffice.client import BackofficeClient
from tests.world.banks.authority import Authority
from tests.world.certified import registered
from tests.world.gateway.world import opened, patient, sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

CANARY = "canary-of-a-secret"


@pytest.fixture(scope="module")
def certified() -> Iterator[None]:
    """The adapter of a bank that asks each account for a certificate."""
    with pytest.MonkeyPatch.context() as patching:
        registered(patching)
        yield


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def office(
    tmp_path_factory: pytest.TempPathFactory, certified: None
) -> AsyncIterator[BackofficeClient]:
    """A back office with such a bank beside the sandbox."""
    settings = patient(sandbox(Path(tmp_path_factory.mktemp("secrets"))))
    bank = msgspec.structs.replace(
        settings.providers["sandbox"],
        adapter="certified",
        settings={"base_url": "https://127.0.0.1:1"},
    )
    providers = {**settings.providers, "bank": bank}
    async with opened(msgspec.structs.replace(settings, providers=providers)) as world:
        yield BackofficeClient(world)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What fits."""
    pair = Authority(tmp_path_factory.mktemp("authority")).pair("we")
    return {"client_id": CANARY, "certificate": pair.certificate, "key": pair.key}


def wrong(whole: dict[str, str], field: str, how: str, folder: Path) -> dict[str, str]:
    """Return secrets with one mistake."""
    if how == "absent":
        return {name: text for name, text in whole.items() if name != field}
    other = Authority(folder, "other").pair("others")
    given = {"no PEM": CANARY, "of another": other.key}[how]
    return {**whole, field: given}


@pytest.mark.parametrize(
    ("field", "how"),
    [
        ("client_id", "absent"),
        ("certificate", "absent"),
        ("key", "absent"),
        ("certificate", "no PEM"),
        ("key", "no PEM"),
        ("key", "of another"),
    ],
)
async def test_half_or_wrong_secrets_are_refused_by_their_field(
    office: BackofficeClient, whole: dict[str, str], tmp_path: Path, field: str, how: str
):
    """400 with the field, nothing stored, and nothing of what was entered is repeated."""
    given = wrong(whole, field, how, tmp_path)
    document = {"provider": "bank", "provider_account": "7", "credentials": given}

    said = await office.ask("PUT", office.at("/provider", "sister"), document, by="admin")
    after = await office.read("", "sister", by="admin")

    assert said.verdict == (400, "VALIDATION_FAILED")
    assert said.document["field"] == f"credentials.{field}"
    assert [each for each in given.values() if each.encode() in said.body] == []
    assert (after.document["provider"], CANARY.encode() in after.body) == ("sandbox", False)


async def test_whole_secrets_are_taken_and_not_shown(
    office: BackofficeClient, whole: dict[str, str]
):
    document = {"provider": "bank", "provider_account": "7", "credentials": whole}

    said = await office.ask("PUT", office.at("/provider", "no_provider"), document, by="admin")

    assert (said.status, said.document["has_credentials"]) == (200, True)
    assert [each for each in whole.values() if each.encode() in said.body] == []

"""What a password alone may do where roles ask for a second factor: read, and enrol."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pyotp
import pytest
import pytest_asyncio

from gateway.config.identity import Identity, MfaRequired
from gateway.core.rights import Right, Role, changes
from tests.world.backoffice import matrix
from tests.world.backoffice.client import PASSWORD, BackofficeClient
from tests.world.gateway.world import opened, sandbox

ALWAYS = MfaRequired(**dict.fromkeys(MfaRequired.__struct_fields__, "always"))
WHO = "everybody@example.com"

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def strict(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[BackofficeClient]:
    """A back office that asks every role for a factor, as production does; one person has none."""
    settings = sandbox(tmp_path_factory.mktemp("strict"), identity=Identity(mfa_required=ALWAYS))
    async with opened(settings) as world:
        backoffice_client = BackofficeClient(world)
        await backoffice_client.plain(WHO, *Role)
        yield backoffice_client


async def test_a_session_without_a_second_factor_changes_nothing(strict: BackofficeClient):
    account = strict.world.demo["accounts"]["main"]["id"]

    wrong = {}
    for place in matrix.GUARDED:
        path = matrix.path(place, account_id=account)
        body = {} if place.route.takes.body else None
        answer = await strict.ask(place.route.method, path, body, by=WHO, kind=matrix.kind(place))
        assert isinstance(place.route.needs, Right)
        refused = answer.verdict == (403, "STEP_UP_REQUIRED")
        if refused is not changes(place.route.needs) or (
            refused
            and not (
                answer.document["reason"] == "no_factor"
                and "Enrol a second factor" in answer.document["message"]
            )
        ):
            wrong[place.route.name] = answer.body

    assert wrong == {}


async def test_a_user_who_enrols_a_factor_may_write(strict: BackofficeClient):
    """Signing in works without a factor, which is how one is enrolled."""
    who = "late@example.com"
    await strict.plain(who, Role.OPERATOR)
    order = {"scope": "provider", "subject": "sandbox", "reason": "a test", "minutes": 1}
    before = await strict.ask("POST", "/backoffice/v1/stops", order, by=who)

    begun = await strict.ask("POST", "/iam/v1/auth/totp", {"password": PASSWORD}, by=who)
    app = pyotp.TOTP(begun.document["secret"])
    done = await strict.ask(
        "POST",
        "/iam/v1/auth/totp/confirm",
        {"code": app.at(strict.world.gateway.kernel.now())},
        by=who,
    )
    body = {"email": who, "password": PASSWORD}
    asked = await strict.ask("POST", "/iam/v1/auth/login", body, by="")
    code = {
        "mfa_token": asked.document["mfa_token"],
        "code": done.document["recovery_codes"][0],
    }
    signed_in = await strict.ask("POST", "/iam/v1/auth/mfa", code, by="")
    strict.tokens[who] = signed_in.document["access_token"]
    after = await strict.ask("POST", "/backoffice/v1/stops", order, by=who)

    assert before.verdict == (403, "STEP_UP_REQUIRED")
    assert after.status == 201

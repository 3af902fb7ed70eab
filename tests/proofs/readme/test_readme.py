"""Everything in the README works on a fresh clone with nothing but what it requires."""

from __future__ import annotations

import json
import re
import signal
from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest

from gateway.core.account import Environment
from gateway.payouts.model import provider_key
from tests.proofs.readme.checkout import Answer, Checkout, Service
from tests.proofs.readme.traffic import Traffic
from tests.world.waiting import block_until

FENCE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
STARTS = re.compile(r"^make |pixgate serve", re.MULTILINE)
INLINE = re.compile(r"`(\.venv/bin/pixgate [^`]+)`")
VALUE, LOST, CENTAVOS = "10.50", "777.06", 77706


def test_the_ten_calls_follow_the_contract(answers: list[Answer]):
    """Contract 4.1: nine succeed, cancelling is 501."""
    *served, cancelling = answers

    assert [answer.status for answer in served] == [200] * 9
    assert cancelling.verdict == (501, "SVC.PIX.018")


def test_each_of_the_ten_answers_has_its_trace_id(answers: list[Answer]):
    """Contract 1; an error body repeats it (2.2)."""
    traces = [answer.headers.get("X-Trace-ID") for answer in answers]

    assert all(traces)
    assert answers[-1].document["trace_id"] == traces[-1]


def test_the_first_six_answers_match_the_contract(answers: list[Answer]):
    """Contract 2.3 to 2.8."""
    balance, keys, key, charge, payment, statement = answers[:6]

    assert set(balance.document) == {"balance", "blocked", "updated_at"}
    assert re.search(r'"balance":\d+\.\d\d[,}]', balance.body)
    assert keys.document["meta"]["total"] == len(keys.document["data"])
    assert key.document in keys.document["data"]
    assert charge.document["qrcode"]["hash"].startswith("000201")
    assert payment.document["status"] == "paid"
    assert payment.document["e2e_id"].startswith("E")
    assert {"balance", "account", "data", "meta"} == set(statement.document)
    assert "Pix In" in [entry["operation"] for entry in statement.document["data"]]


def test_the_printed_payout_is_accepted_listed_and_paid(
    checkout: Checkout, service: Service, answers: list[Answer]
):
    """Contract 3: ``processing`` on creation, settled later; the list shows it at once."""
    created, _read, listed = answers[6:9]

    assert created.document["status"] == "processing"
    assert '"value":10.50' in created.body
    assert created.document["reference"] in [each["reference"] for each in listed.document["data"]]
    reference = created.document["reference"]
    assert settled(lambda: checkout.calls(reading(service, reference))) == (200, "paid")


def test_the_readme_starts_with_make_run_and_make_test(checkout: Checkout):
    first, *_others = FENCE.findall(checkout.readme)

    assert [line.split("#")[0].strip() for line in first.splitlines()] == ["make run", "make test"]


@pytest.mark.usefixtures("service")
def test_every_command_that_is_shown_succeeds(checkout: Checkout):
    """Except commands that start a service, which are tested separately."""
    blocks = [block for block in FENCE.findall(checkout.readme) if not STARTS.search(block)]

    said = {line: checkout.says(line) for block in blocks for line in block.splitlines()}

    assert len(said) >= 6
    assert all(said.values())


@pytest.mark.usefixtures("service")
def test_every_listener_that_is_shown_answers(checkout: Checkout):
    """The README's table: the paths, and the variables for the ports."""
    ports = checkout.environ
    public = f"http://127.0.0.1:{ports['PIXGATE_PORT']}"
    inside = f"http://127.0.0.1:{ports['PIXGATE_OPS_PORT']}"
    pages = {
        "/openapi.json": public,
        **dict.fromkeys(("/livez", "/readyz", "/metrics", "/config/digest"), inside),
    }

    unnamed = [path for path in pages if f"`{path}`" not in checkout.readme]
    found = [checkout.calls(f"curl -sS {host}{path}").status for path, host in pages.items()]

    assert unnamed == []
    assert found == [200] * len(pages)


def test_a_repeated_payout_is_answered_and_another_content_refused(
    checkout: Checkout, service: Service
):
    """The README's third step."""
    pay = another(service, "third-step")

    verdicts = [checkout.calls(line).verdict for line in (pay, pay, pay.replace(VALUE, "10.51"))]

    assert verdicts == [(200, "processing"), (200, "processing"), (400, "SVC.PIX.010")]


def test_a_lost_answer_is_unknown_then_paid_once(checkout: Checkout, service: Service):
    """The README's fourth step: 20 seconds, then 502; never a second payment."""
    (executions,) = commands(checkout, "executions")
    pay = another(service, "fourth-step").replace(VALUE, LOST)

    verdicts = [checkout.calls(pay).verdict for _ in range(2)]
    found = settled(lambda: checkout.calls(reading(service, "fourth-step")))

    assert verdicts == [(502, "SVC.PIX.010"), (200, "processing")]
    assert found == (200, "paid")
    assert checkout.says(executions).split().count(str(CENTAVOS)) == 1


def test_a_payout_to_an_unreachable_bank_is_not_sent_and_can_be_repeated(
    checkout: Checkout, service: Service
):
    """The README's fifth step."""
    unreachable, reachable = commands(checkout, "fault")
    pay = another(service, "fifth-step")

    checkout.says(unreachable)
    refused = checkout.calls(pay).verdict
    checkout.says(reachable)
    repeated = checkout.calls(pay).verdict

    assert (refused, repeated) == ((502, "SVC.ACC.005"), (200, "processing"))
    assert settled(lambda: checkout.calls(reading(service, "fifth-step"))) == (200, "paid")


def test_a_charge_is_made_and_paid(checkout: Checkout, service: Service):
    """The README's sixth step: made, seen as open, paid, seen as paid, on the statement."""
    (making,), (paying,) = commands(checkout, "charge"), commands(checkout, "pay")
    account = json.loads(checkout.says(".venv/bin/pixgate demo --json"))["accounts"]["main"]["id"]
    charge, payment = (
        re.sub(r"/(qrcode|transactions)/\S+", r"/\1/my-charge", line) for line in service.curls[3:5]
    )

    checkout.says(making.replace("ACCOUNT", account))
    before = [checkout.calls(line).document["status"] for line in (charge, payment)]
    checkout.says(paying)
    after = [checkout.calls(line).document["status"] for line in (charge, payment)]
    listed = checkout.calls(service.curls[5]).document["data"][0]

    assert (before, after) == (["Active", "pending"], ["Paid", "paid"])
    assert (listed["operation"], listed["value"]) == ("Pix In", 25.0)


@pytest.mark.usefixtures("service")
def test_printed_calls_are_numbered_from_one_to_ten(checkout: Checkout):
    printed = checkout.says(".venv/bin/pixgate demo")

    assert re.findall(r"^# (\d+)\. ", printed, re.MULTILINE) == [str(n) for n in range(1, 11)]
    assert re.search(r"paste call 7\b", checkout.readme)


def test_every_curl_command_uses_the_configured_port(checkout: Checkout):
    shown = re.findall(r"^curl .*$", checkout.readme, re.MULTILINE)

    assert shown
    assert all("${PIXGATE_PORT:-8080}" in line for line in shown)


def test_a_normal_start_logs_no_warning(service: Service):
    """In the sandbox."""
    assert service.levels_at_start() == {"info"}


def test_a_kill_during_payouts_loses_no_answered_payout(checkout: Checkout, service: Service):
    """``kill -9``, then ``make run``: every accepted payout is there, and executed once."""
    demo = json.loads(checkout.says(".venv/bin/pixgate demo --json"))
    with Traffic(demo) as traffic:
        traffic.wait_for(20)
        service.kill()
    service.start()

    read = [checkout.calls(reading(service, reference)).status for reference in traffic.sample]
    executed = json.loads(checkout.says(".venv/bin/pixgate sandbox executions --json"))

    keys = Counter(each["key"] for each in executed)
    derive = partial(provider_key, Environment.SANDBOX, demo["accounts"]["main"]["id"])
    assert set(read) == {200}
    assert set(keys.values()) == {1}
    assert set(map(derive, traffic.accepted)) <= keys.keys()


def test_a_stopped_service_exits_with_status_zero(service: Service):
    """SIGTERM drains, and ``make run`` ends with status 0; so does Ctrl-C."""
    statuses = []
    for number in (signal.SIGTERM, signal.SIGINT):
        statuses.append(service.stop(number))
        service.start()

    assert statuses == [0, 0]


@pytest.mark.usefixtures("answers")
def test_written_files_are_not_part_of_the_checkout(checkout: Checkout):
    """The environments and ``var/`` are ignored; no tracked file changes."""
    assert checkout.says("git status --porcelain") == ""


def another(service: Service, reference: str) -> str:
    return re.sub(r"first-[0-9a-f]{8}", reference, service.curls[6])


def reading(service: Service, reference: str) -> str:
    return re.sub(r"first-[0-9a-f]{8}", reference, service.curls[7])


def commands(checkout: Checkout, word: str) -> list[str]:
    return [line for line in INLINE.findall(checkout.readme) if word in line.split()]


def settled(ask: Callable[[], Answer]) -> tuple[int, str]:
    """Ask until the payout is no longer processing."""
    block_until(lambda: ask().verdict != (200, "processing"))
    return ask().verdict


def test_a_credential_issued_by_an_operator_works_until_it_is_revoked(
    checkout: Checkout, service: Service
):
    """The README's section for operators; revoking takes effect at once."""
    demo = json.loads(checkout.says(".venv/bin/pixgate demo --json"))
    bearer = {"Authorization": f"Bearer {signed_in(checkout, demo, 'admin')}"}
    post = partial(posted, checkout, demo["base_url"], headers=bearer)

    issued = post(
        "/backoffice/v1/credentials",
        {
            "name": "made as the README says",
            "company_id": demo["companies"]["main"]["id"],
            "permissions": ["balance:read"],
        },
    )
    pair = f"{issued.document['client_id']}:{issued.document['client_secret']}"
    reading_it = f"curl -sS -u {pair} {service.curls[0].split()[-1]}"
    before = checkout.calls(reading_it)
    revoked = post(f"/backoffice/v1/credentials/{issued.document['client_id']}/revoke", {})
    after = checkout.calls(reading_it)

    assert (issued.status, before.status, revoked.status) == (201, 200, 200)
    assert after.verdict == (401, "SVC.AUT.010")


def signed_in(checkout: Checkout, demo: dict, role: str) -> str:
    """Sign a demo person in as the README shows it; return the access token."""
    person, base = demo["users"][role], demo["base_url"]
    words = {name: person[name] for name in ("email", "password")}
    asked = posted(checkout, base, "/iam/v1/auth/login", words).document
    code = checkout.says(f".venv/bin/pixgate demo totp {person['email']}").strip()
    given = {"mfa_token": asked["mfa_token"], "code": code}
    return posted(checkout, base, "/iam/v1/auth/mfa", given).document["access_token"]


def posted(
    checkout: Checkout, base: str, path: str, body: dict, headers: dict | None = None
) -> Answer:
    """Post JSON with ``curl``."""
    sent = {"Content-Type": "application/json", **(headers or {})}
    named = " ".join(f"-H '{name}: {value}'" for name, value in sent.items())
    return checkout.calls(f"curl -sS {named} -d '{json.dumps(body)}' {base}{path}")

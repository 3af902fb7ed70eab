"""A configuration for the gateway under measure, and a partner of it, made by its own commands."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from zlib import crc32

from bench import bank, payments
from bench.movements import MOST, day_of
from bench.trees import modules_of
from gateway.security.secrets import new_client_secret

SANDBOX, WOOVI = "sandbox", "woovi"
"""The providers, each with the adapter of its name."""

_CREDENTIALS = {SANDBOX: bank.TOKEN, WOOVI: json.dumps({"app_id": bank.TOKEN})}
_PATIENCE_S = 60
_COMMAND_S = 600
_NO_LIMIT = 1_000_000_000
_FREE = {"rate": 1_000_000, "burst": _NO_LIMIT}


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySite:
    """
    Where a gateway stands.

    Attributes:
        tree: Its modules.
        folder: Of all that it writes.
        database: Address of a PostgreSQL database; empty for a file in ``folder``.
        port, operations, bank: Of its two listeners, and of the stub.
        banks: Names of more sandbox banks, whose limits are as they come.
        collector: The address that takes its spans; empty where it records none.
    """

    tree: Path
    folder: Path
    database: str
    port: int
    operations: int
    bank: int
    banks: Sequence[str] = ()
    collector: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partner:
    """Somebody with three accounts, one of them at another bank."""

    account: str
    slow_account: str
    woovi_account: str
    client_id: str
    client_secret: str

    def request(self, account: str, secret: str = "") -> bytes:
        """Write the bytes of a balance request, by default with the right secret."""
        path = f"/baas/v1/account/{account}/balance"
        return write_request(path, self._basic(secret or self.client_secret))

    def statement_request(self, movements: int) -> bytes:
        """Ask for the statement of the day that has so many."""
        day = day_of(movements)
        path = f"/baas/v1/account/{self.account}/transactions?init={day}&ends={day}&limit={MOST}"
        return write_request(path, self._basic(self.client_secret))

    def payout_requests(self) -> Iterator[bytes]:
        """Order payouts of today, each under a reference of its own."""
        head = (
            f"POST /baas/v1/account/{self.account}/withdraw HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Authorization: {self._basic(self.client_secret)}\r\n"
            "Content-Type: application/json\r\nContent-Length: "
        ).encode()
        for reference in payments.references():
            body = _order(reference)
            yield b"%s%d\r\n\r\n%s" % (head, len(body), body)

    def wrong_request(self) -> bytes:
        """Write one whose secret has the right form and is wrong, so that a digest finds out."""
        return self.request(self.account, new_client_secret(os.urandom))

    def mistyped_request(self) -> bytes:
        """
        Write one whose secret fails its checksum, so that it is refused on the spot.

        One of the right form waits for a read of the store, shared by all who show that id.
        """
        last = "0" if self.client_secret[-1] != "0" else "1"
        return self.request(self.account, self.client_secret[:-1] + last)

    def _basic(self, secret: str) -> str:
        return f"Basic {base64.b64encode(f'{self.client_id}:{secret}'.encode()).decode()}"


def write_request(path: str, authorization: str) -> bytes:
    """Write the bytes of a GET request."""
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: {authorization}"]
    return "\r\n".join([*lines, "", ""]).encode()


def _order(reference: str) -> bytes:
    document = {
        "method": "pix",
        "reference": reference,
        # hardly two alike: each would be logged as a likely mistake
        "value": (100 + crc32(reference.encode()) % 1_000_000) / 100,
        "date": datetime.now(UTC).date().isoformat(),
        "destination": {
            "name": "Maria Silva",
            "tax_number": "52998224725",
            "key_type": "email",
            "key": "maria@example.com",
        },
        "description": "pagamento",
    }
    return json.dumps(document).encode()


def make_partner(site: GatewaySite, endpoint: str = "") -> Partner:
    """
    Make a company, three accounts and a credential in the gateway's store.

    Where there is an endpoint, its address, the company is told of every event.
    """
    write_configuration(site)
    company = _made(site, "company", "create", "--name", "Bench")["id"]
    if endpoint:
        _made(site, "endpoint", "add", "--company", company, "--url", endpoint)
    permissions = ("balance:read", "transaction:read", "withdraw:write")
    made = _made(
        site,
        *("credential", "issue", "--name", "bench", "--company", company),
        *(word for each in permissions for word in ("--permission", each)),
    )
    return Partner(
        account=_made_account(site, company, bank.ACCOUNT),
        slow_account=_made_account(site, company, bank.SLOW_ACCOUNT),
        woovi_account=_made_account(site, company, bank.WOOVI_ACCOUNT, WOOVI),
        client_id=made["client_id"],
        client_secret=made["client_secret"],
    )


def _made_account(site: GatewaySite, company: str, name: str, provider: str = SANDBOX) -> str:
    """Make an account at the stub and return its id."""
    made = _made(
        site,
        *("account", "create", "--company", company, "--name", "Bench"),
        *("--tax-number", "11222333000181", "--active", "--verified"),
        *("--provider", provider, "--provider-account", name, "--provider-credentials", "-"),
        given=_CREDENTIALS[provider],
    )
    return made["id"]


def _made(site: GatewaySite, *command: str, given: str = "") -> Mapping[str, str]:
    """Run a command of the site's tree with something to read, and read what it made."""
    config = str(configuration_of(site))
    with modules_of(site.tree):
        done = subprocess.run(
            # -P: the modules of the tree, whatever folder this was started in
            [sys.executable, "-P", "-m", "gateway", *command, "--config", config, "--json"],
            check=True,
            stdout=subprocess.PIPE,
            input=given,
            text=True,
            timeout=_COMMAND_S,
        )
    made: Mapping[str, str] = json.loads(done.stdout)
    return made


def configuration_of(site: GatewaySite) -> Path:
    """Name the file that ``write_configuration`` writes."""
    return site.folder / "gateway.yaml"


def write_configuration(site: GatewaySite) -> Path:
    """
    Write a sandbox configuration without the limits that a load would meet.

    Quotas, throttles, bulkhead and shedding are lifted out of the way; all of them still run.
    """
    address = f"http://127.0.0.1:{site.bank}"
    patient = {"in_flight": 10_000, "connect_timeout_s": 8, "read_timeout_s": 18}
    document = {
        "environment": "sandbox",
        "var": str(site.folder),
        "server": {"port": site.port, "connections_per_address": 10_000, "drain_accept_s": 0},
        "admin": {"port": site.operations},
        "database": {
            "url": site.database,
            "migrate": "always",
            "timeout_s": _PATIENCE_S,
            "auth_timeout_s": _PATIENCE_S,
        },
        "worker": {"run": "inside"},
        "limits": {
            "in_flight": 10_000,
            "loop_lag_s": 60,
            "failed_credentials": {
                "per_address": _NO_LIMIT,
                "per_address_and_client": _NO_LIMIT,
                "hard_per_address": _NO_LIMIT,
                "window_s": 1,  # it remembers every refusal of the window
            },
        },
        "ratelimits": {"read": _FREE, "payout": _FREE, "company": _FREE},
        "providers": {
            SANDBOX: {"adapter": SANDBOX, "settings": {"base_url": address}, **patient},
            WOOVI: {
                "adapter": WOOVI,
                "settings": {
                    "base_url": address,
                    "limits": {"account_limits": {"rates": {"*": None}}},
                },
                **patient,
            },
            **{
                name: {"adapter": SANDBOX, "settings": {"base_url": address}} for name in site.banks
            },
        },
        "sandbox_bank": {"start": False},
        "telemetry": {"tracing": {"endpoint": site.collector}},
    }
    file = configuration_of(site)
    file.write_text(json.dumps(document))  # JSON is YAML
    return file

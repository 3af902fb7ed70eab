"""A configuration for the gateway under measure, and a partner of it, made by its own commands."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench import stub
from bench.movements import MOST, day_of
from gateway.security.secrets import new_client_secret

SANDBOX, WOOVI = "sandbox", "woovi"
"""The providers, each with the adapter of its name."""

_CREDENTIALS = {SANDBOX: stub.TOKEN, WOOVI: json.dumps({"app_id": stub.TOKEN})}
_PATIENCE_S = 60
_COMMAND_S = 600
_NO_LIMIT = 1_000_000_000
_FREE = {"rate": 1_000_000, "burst": _NO_LIMIT}


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySite:
    """
    Where a gateway stands.

    Attributes:
        folder: Of all that it writes.
        database: Address of a PostgreSQL database; empty for a file in ``folder``.
        port, operations, bank: Of its two listeners, and of the stub.
        worker: Where the tasks run that no request waits for; empty for a tree that knows none.
    """

    folder: Path
    database: str
    port: int
    operations: int
    bank: int
    worker: str = "inside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Partner:
    """Somebody who may read the balances of three accounts, one of them at another bank."""

    account: str
    slow_account: str
    woovi_account: str
    client_id: str
    client_secret: str

    def request(self, account: str, secret: str = "") -> bytes:
        """Write the bytes of a balance request, by default with the right secret."""
        return self._request(f"/baas/v1/account/{account}/balance", secret or self.client_secret)

    def statement_request(self, movements: int) -> bytes:
        """Ask for the statement of the day that has so many."""
        day = day_of(movements)
        return self.account_request(f"transactions?init={day}&ends={day}&limit={MOST}")

    def account_request(self, path: str, account: str = "") -> bytes:
        """Ask for something below an account, by default the first one."""
        return self._request(
            f"/baas/v1/account/{account or self.account}/{path}", self.client_secret
        )

    def refused_request(self) -> bytes:
        """Write one whose secret has the right form and is wrong, so that a digest finds out."""
        return self.request(self.account, new_client_secret(os.urandom))

    def mistyped_request(self) -> bytes:
        """
        Write one whose secret fails its checksum, so that it is refused on the spot.

        One of the right form waits for a look at the store, twice a second for all
        who share an id: its rate says nothing of the work.
        """
        last = "0" if self.client_secret[-1] != "0" else "1"
        return self.request(self.account, self.client_secret[:-1] + last)

    def _request(self, path: str, secret: str) -> bytes:
        pair = base64.b64encode(f"{self.client_id}:{secret}".encode()).decode()
        return write_request(path, f"Basic {pair}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A store with a partner in it, to be copied for every gateway of a run."""

    folder: Path
    partner: Partner


def prepare(folder: Path) -> Prepared:
    """Make a store in a new folder, and a partner in it."""
    folder.mkdir()
    nowhere = GatewaySite(folder=folder, database="", port=1, operations=2, bank=3)
    return Prepared(folder=folder, partner=make_partner(write_configuration(nowhere)))


def write_request(path: str, authorization: str) -> bytes:
    """Write the bytes of a GET request."""
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: {authorization}"]
    return "\r\n".join([*lines, "", ""]).encode()


def write_configuration(place: GatewaySite) -> Path:
    """Write a sandbox configuration without the limits that a load would meet."""
    file = place.folder / f"gateway-{place.port}.yaml"
    file.write_text(json.dumps(_configuration(place)))  # JSON is YAML
    return file


def make_partner(config: Path) -> Partner:
    """Make a company, three accounts and a credential in the gateway's store."""
    company = _made(config, "company", "create", "--name", "Bench")["id"]
    made = _made(
        config,
        *("credential", "issue", "--name", "bench"),
        *("--company", company, "--permission", "balance:read"),
        *("--permission", "transaction:read", "--permission", "withdraw:read"),
    )
    return Partner(
        account=_made_account(config, company, stub.ACCOUNT),
        slow_account=_made_account(config, company, stub.SLOW_ACCOUNT),
        woovi_account=_made_account(config, company, stub.WOOVI_ACCOUNT, WOOVI),
        client_id=made["client_id"],
        client_secret=made["client_secret"],
    )


def _made_account(config: Path, company: str, name: str, provider: str = SANDBOX) -> str:
    """Make an account at the stub and return its id."""
    made = _made(
        config,
        *("account", "create", "--company", company, "--name", "Bench"),
        *("--tax-number", "11222333000181", "--active", "--verified"),
        *("--provider", provider, "--provider-account", name, "--provider-credentials", "-"),
        given=_CREDENTIALS[provider],
    )
    return made["id"]


def _made(config: Path, *command: str, given: str = "") -> Mapping[str, str]:
    """Run a command with something to read, and read what it made."""
    done = subprocess.run(
        [sys.executable, "-m", "gateway", *command, "--config", str(config), "--json"],
        check=True,
        stdout=subprocess.PIPE,
        input=given,
        text=True,
        timeout=_COMMAND_S,
    )
    made: Mapping[str, str] = json.loads(done.stdout)
    return made


def _configuration(place: GatewaySite) -> Mapping[str, object]:
    """Lift quotas, throttles, bulkhead and shedding out of the way; all of them still run."""
    return {
        "environment": "sandbox",
        "var": str(place.folder),
        "server": {"port": place.port, "connections_per_address": 10_000, "drain_accept_s": 0},
        "admin": {"port": place.operations},
        "database": {
            "url": place.database,
            "migrate": "always",
            "timeout_s": _PATIENCE_S,
            "auth_timeout_s": _PATIENCE_S,
        },
        **({"worker": {"run": place.worker}} if place.worker else {}),
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
            "sandbox": {
                "adapter": "sandbox",
                "settings": {"base_url": f"http://127.0.0.1:{place.bank}"},
                "in_flight": 10_000,
                # a bank on a busy machine is slow, and no answer of its own
                "connect_timeout_s": 8,
                "read_timeout_s": 18,
            },
            WOOVI: {
                "adapter": WOOVI,
                "settings": {
                    "base_url": f"http://127.0.0.1:{place.bank}",
                    "limits": {"account_limits": {"rates": {"*": None}}},
                },
                "in_flight": 10_000,
                "connect_timeout_s": 8,
                "read_timeout_s": 18,
            },
        },
        "sandbox_bank": {"start": False},
    }

"""
``python -m bench.callers``: what it takes to compare a call with its credential's rule of use.

The policy itself, as a request meets it; microseconds of one call, the best of many short rounds:
a busy machine interrupts some of them, and not all.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from time import perf_counter_ns
from typing import Final

from msgspec.structs import replace

from gateway.core.caller_rules import ANYWHERE, CallerRule
from gateway.core.calls import Call, RawRequest
from gateway.net.server.peer import forwarded_certificate
from policies.authorization.credential import FromAllowedCaller
from tests.world.people import call, principal

CALLS: Final = 200
ROUNDS: Final = 300
ADDRESS: Final = "198.51.100.7"
CERTIFICATE: Final = bytes(range(256)) * 4
"""As long as one of a common authority: what is in it is not looked at."""
HEADER: Final = f":{b64encode(CERTIFICATE).decode()}:"

NETWORKS: Final = tuple(f"10.{number}.0.0/16" for number in range(49))
RULES: Final[Mapping[str, CallerRule]] = {
    "anywhere": ANYWHERE,
    "one network": CallerRule(networks=(f"{ADDRESS}/32",)),
    "50 networks, the last one": CallerRule(networks=(*NETWORKS, f"{ADDRESS}/32")),
    "one certificate": CallerRule(certificates=(sha256(CERTIFICATE).hexdigest(),)),
}


def asked(rule: CallerRule) -> Call:
    """
    Return a call of a credential with a rule, from a caller who fits.

    Its header is a text of its own, as that of a request is: a text keeps its hash.
    """
    certificate = partial(forwarded_certificate, (HEADER.encode().decode(),))
    request = RawRequest(path={}, address=ADDRESS, certificate=certificate)
    return call(request, principal=replace(principal(), callers=rule))


def measured(rule: CallerRule) -> float:
    """Return the microseconds of one comparison, the loop around it included."""
    policy, best = FromAllowedCaller(lambda _client, _address: None), float("inf")
    for _ in range(ROUNDS):
        calls = [asked(rule) for _ in range(CALLS)]
        started = perf_counter_ns()
        for each in calls:
            policy(each)
        best = min(best, perf_counter_ns() - started)
    return best / CALLS / 1_000


if __name__ == "__main__":
    for name, rule in RULES.items():
        print(f"{name:28}{measured(rule):8.2f} µs")

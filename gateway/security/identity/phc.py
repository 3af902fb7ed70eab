"""The text form of an Argon2id digest (PHC string format), with the pepper's key id."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field

_FORM = re.compile(
    r"\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3}),keyid=([A-Za-z0-9+/]{1,22})"
    r"\$([A-Za-z0-9+/]{11,64})\$([A-Za-z0-9+/]{16,86})",
    re.ASCII,
)
# costs above these could stop a process: 1 GiB and some seconds for one digest
_MOST_KIB = 1_048_576
# Bounds of what a stored digest may make us compute: a forged row must not cost minutes.
_MOST_PASSES = 16
_MOST_LANES = 16
# the minimum of Argon2 (RFC 9106, part 3.1)
_LEAST_KIB_A_LANE = 8


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a digest: memory in KiB, passes over it, and lanes (OWASP's minimum)."""

    kib: int = 19_456
    passes: int = 2
    lanes: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """A digest as stored."""

    cost: Cost
    key_id: str
    salt: bytes = field(repr=False)
    tag: bytes = field(repr=False)

    def __str__(self) -> str:
        cost = f"m={self.cost.kib},t={self.cost.passes},p={self.cost.lanes}"
        key_id = _encoded(self.key_id.encode("ascii"))
        return f"$argon2id$v=19${cost},keyid={key_id}${_encoded(self.salt)}${_encoded(self.tag)}"


def read(text: str) -> Digest | None:
    """Read a digest; None for malformed text, or a cost that is out of bounds."""
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    cost = Cost(int(found[1]), int(found[2]), int(found[3]))
    if not _is_sane(cost):
        return None
    try:
        key_id, salt, tag = (_decoded(each) for each in found.group(4, 5, 6))
        return Digest(cost=cost, key_id=key_id.decode("ascii"), salt=salt, tag=tag)
    except ValueError:
        return None


def _is_sane(cost: Cost) -> bool:
    """Say whether a process can afford this: a forged row must not stop it."""
    return (
        1 <= cost.lanes <= _MOST_LANES
        and 1 <= cost.passes <= _MOST_PASSES
        and _LEAST_KIB_A_LANE * cost.lanes <= cost.kib <= _MOST_KIB
    )


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii").rstrip("=")


def _decoded(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)

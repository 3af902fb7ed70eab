"""Words that readers of this field would have to learn are not used as names."""

import io
import re
import tokenize
from pathlib import Path

from tests.world.tree import ROOT, modules

# The retired name, and the field's. `docs/glossary.md` explains what needs explaining.
RETIRED = {
    "Acting": "AuditContext",
    "Asked": "RawRequest",
    "Chores": "periodic tasks",
    "Crafts": "Crypto",
    "Dialler": "Connector",
    "Forgetting": "Retention",
    "Guest": "Anonymous",
    "Lanes": "BatchLimits",
    "Member": "SignedInUser",
    "NotPossible": "RuleViolation",
    "Office": "a back-office name",
    "Parts": "a context",
    "Passage": "SendProgress",
    "PayoutLooks": "PayoutReader",
    "PayoutTwins": "DuplicateSearch",
    "Person": "SignedInUser",
    "Place": "Endpoint",
    "Registers": "a noun's service",
    "Seated": "SignedInBrowser",
    "StopRecords": "Stops",
    "Surroundings": "Runtime",
    "Told": "WriteResult",
    "Turning": "PeriodicTask",
    "Visitor": "ClientInfo",
    "borne": "stale_ok",
    "cas_lost": "on_<event>",
    "chores": "periodic_tasks",
    "desk": "services",
    "farewell": "logout_headers",
    "flight": "refresh_task",
    "glance": "fast_path",
    "landed": "done",
    "risen": "rotated",
    "tells": "summary",
    "turning": "periodic_task",
    "turnings": "periodic_tasks",
}

WORDS = re.compile(rf"\b({'|'.join(RETIRED)})\b")


def test_no_retired_word_is_a_name():
    found = {
        f"{path}:{token.start[0]} {token.string}": RETIRED[token.string]
        for path in modules()
        for token in names(path)
        if token.string in RETIRED
    }

    assert found == {}


def names(path: Path) -> list[tokenize.TokenInfo]:
    """Read every name of a module that has such a word: of classes, arguments, attributes."""
    text = (ROOT / path).read_text()
    if not WORDS.search(text):
        return []
    lines = io.StringIO(text).readline
    return [token for token in tokenize.generate_tokens(lines) if token.type == tokenize.NAME]

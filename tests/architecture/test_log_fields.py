"""What our code logs can be read: a field that the log does not allow is written as a mask."""

from __future__ import annotations

import ast
import re

from gateway.telemetry.logs.redaction import ALLOWED
from tests.world.tree import ROOT, modules

LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}
SAYS = re.compile(rf"\.(?:{'|'.join(LEVELS)})\(")
OF_LOGGING = {"exc_info", "extra", "stack_info", "stacklevel"}


def test_every_logged_field_is_shown_unmasked():
    masked = [
        f"{path}:{call.lineno} {field.arg}"
        for path in modules()
        if SAYS.search(text := (ROOT / path).read_text(encoding="utf-8"))
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in LEVELS
        for field in call.keywords
        if field.arg is not None and field.arg not in ALLOWED | OF_LOGGING
    ]

    assert not masked

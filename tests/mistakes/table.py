"""Every mistake of the list."""

from __future__ import annotations

from tests.mistakes.rows import access

MISTAKES = (*access.ROWS,)

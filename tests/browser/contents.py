"""What several tests of contents share."""

from __future__ import annotations

import re

INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\x00-\x08\x0b\x0c\x0e-\x1f]")
UNSEEN = re.compile(r'\b(?:data-copy|data-words|value)="[^"]*"')
"""What a button copies, a form sends and a script compares is what there is; nobody reads it."""

"""What several tests of lists share."""

from __future__ import annotations

from gateway.core.company_scope import CompanyScope
from tests.world.stores.samples import (
    COMPANY,
)

OTHER = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7aff"
OURS, THEIRS = CompanyScope(frozenset({COMPANY})), CompanyScope(frozenset({OTHER}))

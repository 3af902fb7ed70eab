"""The tables of the whole store, whichever module they stand in."""

from typing import Final

from gateway.store.tables import backoffice, core, figures, identity, notifications

MODULES: Final = (backoffice, core, figures, identity, notifications)
METADATA: Final = core.METADATA

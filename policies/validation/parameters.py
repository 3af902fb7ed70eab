"""Does the row know every parameter of the query?"""

from __future__ import annotations

import re
from typing import Final

from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.calls import Call

_LIKE_OURS: Final = re.compile(r"[a-z_]{1,40}")


class KnownParameters:
    """
    Refuses an unknown query parameter: a misspelt filter would return an unfiltered list.

    Only a name that could be one of ours is repeated in the answer.
    """

    refuses = (errors.PAYLOAD_INVALID,)

    def __call__(self, call: Call) -> None:
        """
        Let the call on if the row documents each of its parameters.

        Raises:
            ServiceError: ``SVC.VAL.011`` for the first that it does not.
        """
        query = call.asked.query
        if not query:
            return
        known = {each.name for each in call.parameters}
        for name in query:
            if name not in known:
                field = name if _LIKE_OURS.fullmatch(name) else ""
                raise ServiceError(errors.PAYLOAD_INVALID, "unknown_parameter", field=field)

"""What several tests of sandbox bank share."""

from __future__ import annotations

FAULTS = [
    ({"fault": "hang"}, "timeout", []),
    ({"fault": "hang_after"}, "timeout", [1050]),
    ({"fault": "reset_before"}, "connection_lost", []),
    ({"fault": "reset_after"}, "connection_lost", [1050]),
    ({"fault": "drip"}, "timeout", [1050]),
    ({"fault": "status", "status": 500}, "server_error", []),
    ({"fault": "status", "status": 500, "executed": True}, "server_error", [1050]),
    ({"fault": "status", "status": 400, "executed": True}, "refused", [1050]),
    ({"fault": "status", "status": 404, "executed": True}, "unexpected_status", [1050]),
    ({"fault": "status", "status": 307}, "redirected", []),
    ({"fault": "malformed"}, "not_json", [1050]),
    ({"fault": "wrong_types"}, "wrong_shape", [1050]),
    ({"fault": "huge"}, "too_large", [1050]),
]

"""
Run by the interpreter of the generated client, never by ours.

Reads its task as JSON from standard input, and writes the result to standard output.
"""

import base64
import datetime as dt
import importlib
import json
import pkgutil
import sys
from typing import Any

import httpx


def main() -> None:
    """Pay, and read every answer that the document shows."""
    asked = json.load(sys.stdin)
    sys.path.insert(0, asked["folder"])
    client = importlib.import_module(asked["package"])
    importlib.import_module(f"{asked['package']}.models")
    api = importlib.import_module(f"{asked['package']}.api")
    calls = {
        found.name.rpartition(".")[2]: found.name
        for found in pkgutil.walk_packages(api.__path__, f"{asked['package']}.api.")
    }
    told: dict[str, Any] = {"unread": unread(client, calls, asked["answers"])}
    if "payout" in asked:
        told["paid"] = paid(client, calls, asked)
    json.dump(told, sys.stdout)


def paid(client: Any, calls: dict[str, str], asked: dict[str, Any]) -> Any:
    """Pay to a PIX key, as the types of the client have it."""
    pair = base64.b64encode(asked["pair"].encode()).decode()
    caller = client.AuthenticatedClient(base_url=asked["base_url"], token=pair, prefix="Basic")
    models, order = client.models, asked["payout"]
    body = models.PixPayoutRequest(
        method="pix",
        reference=order["reference"],
        value=order["value"],
        date=dt.date.fromisoformat(order["date"]),
        destination=models.PixDestinationRequest.from_dict(order["destination"]),
    )
    call = importlib.import_module(calls["banking_payout_create"])
    said = call.sync_detailed(asked["account_id"], client=caller, body=body)
    return {"status": int(said.status_code), "document": said.parsed.to_dict()}


def unread(client: Any, calls: dict[str, str], answers: list[dict[str, Any]]) -> list[Any]:
    """Name the answers that the client reads as nothing, or as something else than they are."""
    caller = client.Client(base_url="http://127.0.0.1")
    wrong = []
    for answer in answers:
        call = importlib.import_module(calls[answer["operation"]])
        response = httpx.Response(answer["status"], json=answer["document"])
        parsed = call._build_response(client=caller, response=response).parsed
        if parsed is None or written(parsed) != answer["document"]:
            wrong.append({**answer, "read": repr(parsed)})
    return wrong


def written(parsed: Any) -> Any:
    """Write what was read as we write it: an instant in UTC ends in Z."""
    return json.loads(json.dumps(parsed.to_dict()).replace("+00:00", "Z"))


main()

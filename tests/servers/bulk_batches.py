"""Batches as a simulated provider shows them."""

from datetime import UTC, datetime
from typing import Any

from tests.servers.bulk_ledger import Consignment


def batch(given: Consignment) -> dict[str, Any]:
    """Return a batch as OpenAI shows it."""
    kept = {where for where, _ in given.lines}
    errors = None
    if given.error is not None:
        told = given.error
        if told == "token_limit_exceeded":
            told = "Enqueued token limit reached for fake-model in organization org-1."
        row = {"code": given.error, "message": told, "param": None, "line": None}
        errors = {"object": "list", "data": [row]}
    return {
        "id": given.id,
        "object": "batch",
        "endpoint": given.url,
        "errors": errors,
        "input_file_id": given.input_file,
        "completion_window": "24h",
        "status": given.state,
        "output_file_id": f"{given.number}-output" if "output" in kept else None,
        "error_file_id": f"{given.number}-error" if "error" in kept else None,
        "created_at": int(given.created_at),
        "expires_at": int(given.created_at) + 86400,
        "request_counts": {
            "total": 0 if given.state == "failed" else len(given.requests),
            "completed": given.counts["done"],
            "failed": len(given.requests) - given.counts["done"]
            if given.state in ("completed", "expired", "cancelled")
            else 0,
        },
        "metadata": given.metadata,
    }


def message_batch(given: Consignment, origin: str, miscount: int = 0) -> dict[str, Any]:
    """Return a message batch as Anthropic shows it."""
    ended = given.state != "in_progress"
    created = datetime.fromtimestamp(given.created_at, UTC)
    url = f"{origin}/v1/messages/batches/{given.id}/results"
    return {
        "id": given.id,
        "type": "message_batch",
        "processing_status": "ended" if ended else "in_progress",
        "request_counts": {
            "processing": miscount + (0 if ended else len(given.requests)),
            "succeeded": given.counts["done"],
            "errored": given.counts["failed"],
            "canceled": given.counts["cancelled"],
            "expired": given.counts["expired"],
        },
        "created_at": created.isoformat().replace("+00:00", "Z"),
        "expires_at": datetime.fromtimestamp(given.created_at + 86400, UTC).isoformat(),
        "ended_at": datetime.fromtimestamp(given.ended_at, UTC).isoformat() if ended else None,
        "cancel_initiated_at": created.isoformat() if given.state == "cancelled" else None,
        "archived_at": None,
        "results_url": url if ended else None,
    }

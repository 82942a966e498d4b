"""Routes of Footplate's own API: the audit log."""

from __future__ import annotations

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.ports.audit import AuditEntry, AuditLog
from footplate.wire.json_text import JsonObject
from footplate.wire.paging import PageRule, format_token, parse_token
from footplate.wire.timestamps import format_time

_PAGES = PageRule(100, 1000)
_QUERY = "audit"


def audit_routes(log: AuditLog) -> list[Route]:
    def show(call: Call) -> JsonObject:
        """Lists the entries, by ``?pageSize=&pageToken=``, newest first."""
        page = log.list(
            _PAGES.size(call.parameter("pageSize", "page_size")),
            parse_token(call.parameter("pageToken", "page_token"), _QUERY),
        )
        answer: JsonObject = {"entries": [_document(entry) for entry in page.items]}
        if page.next_key is not None:
            answer["nextPageToken"] = format_token(page.next_key, _QUERY)
        return answer

    return [json_route("/footplate/v1/audit", {"GET": show})]


def _document(entry: AuditEntry) -> JsonObject:
    document: JsonObject = {
        "time": format_time(entry.time),
        "action": entry.action,
        "resource": entry.resource,
        "by": entry.by,
        "client": entry.client,
        "address": entry.address,
    }
    if entry.job:
        document["job"] = entry.job
    return document

"""From an operation and its fields to what goes over the wire, and back. No I/O."""

from __future__ import annotations

import decimal
import json
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional
from urllib.parse import quote, urlsplit

from ._generated.table import Operation
from .errors import UNEXPECTED_RESPONSE, RefusedError, error_of


#: Begins the name of an order by its client order id.
CLIENT_PREFIX = "client:"


class Request(NamedTuple):
    """What is sent; it is signed as it stands here, less the path of the base URL."""
    method: str
    #: Path and query.
    target: str
    body: bytes
    headers: Mapping[str, str]


class Answer(NamedTuple):
    status: int
    body: bytes
    retry_after: Optional[str]


def plain(value: Any) -> Any:
    """`value` as JSON can say it exactly: decimals become text, fields that are None are left out."""
    if isinstance(value, decimal.Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is no amount")
        return format(value, "f")
    if isinstance(value, float):
        raise TypeError(f"{value!r} is binary floating point, which is not exact: give text or decimal.Decimal")
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def target_and_body(base_path: str, operation: Operation, fields: Mapping[str, Any]) -> tuple[str, bytes]:
    """Path with query, and the body: fields of the path, then JSON or the query with the others."""
    rest = plain(fields)

    def segment(match: "re.Match[str]") -> str:
        name = match.group(1)
        text = str(rest.pop(name, ""))
        # Empty and dot segments would become another path.
        if text in ("", ".", ".."):
            raise ValueError(f"{name} is missing or cannot stand in a path")
        return quote(text, safe="")

    path = base_path + re.sub(r"\{(\w+)\}", segment, operation.path)
    if operation.in_body:
        return path, json.dumps(rest, ensure_ascii=False).encode() if rest else b""
    query = "&".join(
        f"{quote(name, safe='')}={quote(_text(item), safe='')}"
        for name, value in rest.items() for item in (value if isinstance(value, list) else [value])
    )
    return (f"{path}?{query}" if query else path), b""


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_answer(answer: Answer) -> Any:
    """What the operation answers. Raises RefusedError."""
    if not 200 <= answer.status < 300:
        raise error_of(answer.status, answer.body, answer.retry_after)
    try:
        return json.loads(answer.body)
    except ValueError:
        envelope = {"error": UNEXPECTED_RESPONSE, "message": "the answer is not JSON"}
        raise RefusedError(envelope, answer.status) from None


def first_page(operation: Operation, fields: Mapping[str, Any]) -> Dict[str, Any]:
    """Fields of the first call for all rows; `pageSize` as large as there are, unless it is given."""
    if operation.pages == "none":
        raise ValueError(f"{operation.name} has no pages")
    if operation.pages == "token":
        return {"pageSize": 1000, **fields, "pageToken": ""}
    return {"pageSize": 100, **fields, "page": 1}


def rows_of(answer: Mapping[str, Any]) -> List[Any]:
    """The rows of a page: the one list in it."""
    return next(value for value in answer.values() if isinstance(value, list))


def next_page(operation: Operation, fields: Mapping[str, Any], answer: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
    """Fields of the next call, or None behind the last page. An empty token is the end: it would begin anew."""
    if operation.pages == "token":
        token = answer.get("nextPageToken")
        return {**fields, "pageToken": token} if token else None
    page = fields["page"] + 1
    return {**fields, "page": page} if page <= answer["totalPages"] else None


def keyed(operation: Operation, fields: Mapping[str, Any]) -> bool:
    """Whether every item of the call has an idempotency key, so that the service does it once however often it is
    sent."""
    if operation.repeat != "with-key":
        return False
    orders = fields.get("orders")
    items: List[Any] = orders if isinstance(orders, list) else [fields]
    return len(items) > 0 and all(isinstance(item, Mapping) and bool(item.get("idempotencyKey")) for item in items)


def harmless(operation: Operation, fields: Mapping[str, Any]) -> bool:
    """Whether the call may be sent again in any case. A cancel by `client:` and a client order id may not: by then
    another order may rest under it."""
    if operation.repeat != "by-id":
        return operation.repeat == "always"
    orders = fields.get("orderIds")
    names: List[Any] = list(orders) if isinstance(orders, (list, tuple)) else [fields.get("orderId")]
    return not any(str(name).startswith(CLIENT_PREFIX) for name in names)


def repeatable(operation: Operation, fields: Mapping[str, Any]) -> bool:
    """Whether sending the same call twice has the effect of sending it once."""
    return harmless(operation, fields) or keyed(operation, fields)


class Place(NamedTuple):
    """Where the service is."""
    tls: bool
    host: str
    port: int
    path: str


def place_of(base_url: str) -> Place:
    """Scheme, host and port of a service, and a path before its own."""
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or parts.hostname is None or parts.query or parts.fragment:
        raise ValueError(f"{base_url!r} is no http or https address of a service")
    tls = parts.scheme == "https"
    return Place(tls, parts.hostname, parts.port or (443 if tls else 80), parts.path.rstrip("/"))

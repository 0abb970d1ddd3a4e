"""Writes clients/typescript/src/contract.ts: for every operation of docs/openapi.yaml its method,
its path, and the bounds of what it takes, which the client checks before it calls.

Usage: python3 tools/generate/typescript_contract.py
"""

import json
import sys
from pathlib import Path
from typing import Any

import yaml

sys.path.append(str(Path(__file__).resolve().parents[1]))

from openapi.document import split_prefix

_ROOT = Path(__file__).resolve().parents[2]
_CONTRACT = _ROOT / "docs" / "openapi.yaml"
FILE = _ROOT / "clients" / "typescript" / "src" / "contract.ts"
_HEAD = """// Written by tools/generate/typescript_contract.py from docs/openapi.yaml; do not edit.
import type {{ Operation }} from './arguments.js';

export const version = {version};

export const contract = {{
"""
_METHODS = ["get", "post", "put", "patch", "delete"]


def text() -> str:
    """The whole file, an operation a line."""
    document = yaml.safe_load(_CONTRACT.read_text(encoding="utf-8"))
    lines = [
        f"  {found['operationId']}: {json.dumps(_operation(document, method, path, found))},"
        for path, item in document["paths"].items()
        for method, found in item.items()
        if method in _METHODS
    ]
    head = _HEAD.format(version=json.dumps(document["info"]["version"]))
    return head + "\n".join(lines) + "\n} as const satisfies Record<string, Operation>;\n"


def _operation(
    document: dict[str, Any], method: str, path: str, operation: dict[str, Any]
) -> dict[str, Any]:
    listed = [*document["paths"][path].get("parameters", []), *operation.get("parameters", [])]
    parameters = [_resolved(document, one) for one in listed]
    found: dict[str, Any] = {"method": method.upper(), "path": path}
    for location in ("path", "query"):
        rules = {
            one["name"]: _rule(document, one["schema"]) | _required(one.get("required", False))
            for one in parameters
            if one["in"] == location
        }
        if rules:
            found[f"{location}Parameters"] = rules
    if any(one["name"] == "Idempotency-Key" for one in parameters):
        found["takesIdempotencyKey"] = True
    if body := operation.get("requestBody"):
        found["body"] = _fields(document, body["content"]["application/json"]["schema"])
        found["minFields"] = _resolved(document, body["content"]["application/json"]["schema"]).get(
            "minProperties", 0
        )
    return found


def _fields(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    schema = _resolved(document, schema)
    required = schema.get("required", [])
    return {
        name: _rule(document, field) | _required(name in required)
        for name, field in schema.get("properties", {}).items()
    }


def _required(is_required: bool) -> dict[str, bool]:
    return {"required": True} if is_required else {}


def _rule(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Returns the rule by which arguments.ts checks a value."""
    schema = _resolved(document, schema)
    given = schema["type"]
    types = given if isinstance(given, list) else [given]
    rule = _rule_of(document, next(one for one in types if one != "null"), schema)
    return rule | ({"nullable": True} if "null" in types else {})


def _rule_of(document: dict[str, Any], kind: str, schema: dict[str, Any]) -> dict[str, Any]:
    if kind == "boolean":
        return {"is": "boolean"}
    if kind == "integer":
        bounds = {"min": schema["minimum"]}
        return {"is": "integer", **bounds, **_given(schema, max="maximum")}
    if kind == "array":
        items = _rule(document, schema["items"])
        return {"is": "list", "of": items, **_given(schema, min="minItems", max="maxItems")}
    if kind == "object" and "properties" in schema:
        return {"is": "object", "fields": _fields(document, schema)}
    if kind == "object":
        prefix, bounds = split_prefix(schema["propertyNames"])
        lengths = _given(bounds, min="minLength", max="maxLength", pattern="pattern")
        values = _rule(document, schema["additionalProperties"])
        rule = {"is": "pairs", "name": {"is": "text", **lengths}, "value": values}
        rule["max"] = schema["maxProperties"]
        return rule | ({"prefix": prefix} if prefix else {})
    if "enum" in schema:
        return {"is": "oneOf", "values": [value for value in schema["enum"] if value is not None]}
    if schema.get("format") == "uuid":
        return {"is": "uuid"}
    if schema.get("format") == "date-time":
        return {"is": "time"}
    return {
        "is": "text",
        **_given(schema, min="minLength", max="maxLength", pattern="pattern"),
    }


def _given(schema: dict[str, Any], **names: str) -> dict[str, Any]:
    return {name: schema[word] for name, word in names.items() if word in schema}


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Returns what a reference within the file names."""
    while "$ref" in schema:
        found: dict[str, Any] = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    return schema


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")

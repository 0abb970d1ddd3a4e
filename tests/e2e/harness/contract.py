"""Holds answers of the API against docs/openapi.yaml: status, headers, content type, and the body
field by field.
"""

import copy
import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from harness.suite import ROOT

FILE = ROOT / "docs" / "openapi.yaml"
_ADDRESS = "urn:openapi"
_ERROR = {"$ref": "#/components/schemas/Error"}
_METHODS = {"get", "post", "put", "patch", "delete"}
_ANYWHERE = {
    "400",
    "408",
    "413",
    "431",
    "501",
    "505",
}  # what the HTTP server says before an operation is known
_BEFORE_ROUTING = {"401", "403", "429", "500", "503"}
# Headers of HTTP itself, of browsers' permissions, and what the file says once of all answers.
_SENT_ANYWHERE = re.compile(
    "cache-control|connection|content-length|content-type|date|transfer-encoding|access-control-.+"
)


@dataclass(frozen=True)
class Answer:
    """A response, whichever client got it. Header names in lower case."""

    method: str
    path: str
    status: int
    headers: Mapping[str, str]
    body: bytes


class Contract:
    """The file, with every object closed: a field of an answer that the file does not know is a
    failure, too.
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content
        strict = copy.deepcopy(content)
        _close(strict["components"]["schemas"])
        self._registry = Registry().with_resource(_ADDRESS, DRAFT202012.create_resource(strict))
        self._paths = {
            path: re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)))
            for path in content["paths"]
        }

    def operations(self) -> Iterator[tuple[str, str]]:
        """Each method and path."""
        for path, item in self.content["paths"].items():
            yield from ((method.upper(), path) for method in item if method in _METHODS)

    def check(self, answer: Answer) -> None:
        """Fails with the operation and the field when the answer is not as the file says."""
        if not answer.path.startswith("/v1"):
            return
        path = self._find(answer.path)
        method = "GET" if answer.method == "HEAD" else answer.method
        operation = (
            self.content["paths"].get(path, {}).get(method.lower()) if method.isupper() else None
        )
        where = f"{answer.method} {path or answer.path}: {answer.status}"
        if operation is None:
            self._check_unrouted(answer, is_known_path=path is not None, where=where)
            return
        where += f" ({operation['operationId']})"
        status = str(answer.status)
        if status in operation["responses"]:
            self._check_documented(answer, self._resolve(operation["responses"][status]), where)
        else:
            assert status in _ANYWHERE, (
                f"{where}: the status is not documented: {answer.body[:300]!r}"
            )
            self._check_body(answer, _ERROR, where)

    def check_error(self, answer: Answer) -> None:
        """Fails unless the body is an error of this status: all that can be said of a request that
        was no sound HTTP.
        """
        self._check_body(answer, _ERROR, f"{answer.method}: {answer.status}")

    def _find(self, path: str) -> str | None:
        fitting = [known for known, pattern in self._paths.items() if pattern.fullmatch(path)]
        return min(fitting, key=lambda known: known.count("{"), default=None)

    def _check_unrouted(self, answer: Answer, *, is_known_path: bool, where: str) -> None:
        """What no operation answered: 404, 405, or a refusal from before the path was looked at."""
        if answer.method == "OPTIONS" and answer.status == 204:
            return
        allowed = _ANYWHERE | _BEFORE_ROUTING | {"405" if is_known_path else "404"}
        assert str(answer.status) in allowed, f"{where}: no such operation is documented"
        assert answer.status != 405 or "allow" in answer.headers, (
            f"{where}: header Allow is missing"
        )
        self._check_body(answer, _ERROR, where)

    def _check_documented(self, answer: Answer, documented: dict[str, Any], where: str) -> None:
        headers = documented.get("headers", {})
        for name, reference in headers.items():
            self._check_header(answer, name, self._resolve(reference), where)
        unknown = {name for name in answer.headers if not _SENT_ANYWHERE.fullmatch(name)} - {
            name.lower() for name in headers
        }
        assert not unknown, f"{where}: headers are not documented: {', '.join(sorted(unknown))}"
        content = documented.get("content", {})
        if not content:
            assert not answer.body, f"{where}: an answer without content has {answer.body[:300]!r}"
            return
        kind = answer.headers.get("content-type", "").partition(";")[0]
        chosen = content.get(kind) or content.get("*/*")
        assert chosen is not None, (
            f"{where}: content type {kind!r} is not documented; documented are {', '.join(content)}"
        )
        if kind == "application/json":
            self._check_body(answer, chosen["schema"], where)

    def _check_header(
        self, answer: Answer, name: str, documented: dict[str, Any], where: str
    ) -> None:
        text = answer.headers.get(name.lower())
        if text is None:
            assert not documented.get("required"), f"{where}: header {name} is missing"
            return
        schema = documented["schema"]
        value: Any = (
            int(text) if schema["type"] == "integer" and re.fullmatch(r"-?\d+", text) else text
        )
        self._validate(value, schema, f"{where}: header {name}")

    def _check_body(self, answer: Answer, schema: dict[str, Any], where: str) -> None:
        if answer.method == "HEAD":
            assert not answer.body, f"{where}: an answer to HEAD has no body"
            return
        try:
            body = json.loads(answer.body)
        except ValueError as problem:
            raise AssertionError(
                f"{where}: the body is not JSON ({problem}): {answer.body[:300]!r}"
            ) from None
        self._validate(body, schema, f"{where}: body")
        if isinstance(body, dict) and "statusCode" in body:
            assert body["statusCode"] == answer.status, (
                f"{where}: body.statusCode is {body['statusCode']}"
            )

    def _validate(self, value: Any, schema: dict[str, Any], where: str) -> None:
        local = {"$ref": _ADDRESS + schema["$ref"]} if "$ref" in schema else schema
        validator = Draft202012Validator(
            local, registry=self._registry, format_checker=Draft202012Validator.FORMAT_CHECKER
        )
        problems = sorted(
            (leaf for found in validator.iter_errors(value) for leaf in _leaves(found)),
            key=lambda it: it.json_path,
        )
        assert not problems, where + "; ".join(
            f"{it.json_path.removeprefix('$')}: {it.message[:300]}" for it in problems[:5]
        )

    def _resolve(self, node: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in node:
            found: Any = self.content
            for part in node["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            node = found
        return node


@functools.cache
def contract() -> Contract:
    """The file of this checkout."""
    return Contract(yaml.safe_load(FILE.read_text(encoding="utf-8")))


def _close(node: Any) -> None:
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            node.setdefault("additionalProperties", False)
        for inner in node.values():
            _close(inner)
    elif isinstance(node, list):
        for inner in node:
            _close(inner)


def _leaves(problem: ValidationError) -> Iterator[ValidationError]:
    """Of a choice the branch that got furthest: it names the field."""
    if not problem.context:
        yield problem
        return
    depth = max(len(inner.absolute_path) for inner in problem.context)
    for inner in problem.context:
        if len(inner.absolute_path) == depth:
            yield from _leaves(inner)

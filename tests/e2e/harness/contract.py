"""Holds answers of the API against docs/openapi.yaml, those of the dashboard's API against
docs/dashboard-openapi.yaml: status, headers, content type, and the body field by field.
"""

import copy
import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml
from generate import error_reasons
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from harness.suite import ROOT

API_FILE = "openapi.yaml"
DASHBOARD_FILE = "dashboard-openapi.yaml"
_FOLDER = "http://docs.invalid/"  # where the files are for each other; nothing is fetched
_METHODS = {"get", "post", "put", "patch", "delete"}
_ANYWHERE = {
    "400",
    "408",
    "413",
    "431",
    "501",
    "505",
}  # what the HTTP server says before an operation is known
_NO_REQUEST = {"408", "431", "501", "505"}  # ... before it knows which API is asked
_HTTP_DATE = "%a, %d %b %Y %H:%M:%S GMT"
_SHORTEST_NOTICE = timedelta(days=365)  # docs/reference/versions.md
_BEFORE_ROUTING = {"401", "403", "429", "500", "503"}
# Headers of HTTP itself, of browsers' permissions, and what the file says once of all answers.
_SENT_ANYWHERE = re.compile(
    "cache-control|connection|content-length|content-type|date|transfer-encoding|access-control-.+"
    "|deprecation|sunset"
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
    """A file of the contract, with every object closed: a field of an answer that the file does not
    know is a failure, too. It may refer to the others.
    """

    def __init__(self, name: str, root: str) -> None:
        self.content = _read(name)
        self._error = _error_of(name)
        self._root = root
        self._files = {file: _with_addresses(file) for file in (API_FILE, DASHBOARD_FILE)}
        self._registry = Registry().with_resources(
            (_FOLDER + file, DRAFT202012.create_resource(_closed(content)))
            for file, content in self._files.items()
        )
        content = self._files[name]
        self._items = content["paths"]
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
        if not answer.path.startswith(self._root):
            return
        if self._root == "/v1" and answer.status >= 400:
            _check_code(answer)
        path = self._find(answer.path)
        method = "GET" if answer.method == "HEAD" else answer.method
        operation = self._items.get(path, {}).get(method.lower()) if method.isupper() else None
        where = f"{answer.method} {path or answer.path}: {answer.status}"
        if operation is None:
            self._check_unrouted(answer, is_known_path=path is not None, where=where)
            return
        where += f" ({operation['operationId']})"
        if operation.get("deprecated"):
            _check_deprecation(answer, where)
        status = str(answer.status)
        if status in operation["responses"]:
            self._check_documented(answer, self.resolve(operation["responses"][status]), where)
        else:
            assert status in _ANYWHERE, (
                f"{where}: the status is not documented: {answer.body[:300]!r}"
            )
            self._check_error(answer, where)

    def check_error(self, answer: Answer) -> None:
        """Fails unless the body and the reason are of an error of this status: all that can be said
        of a request that was no sound HTTP.
        """
        _check_code(answer)
        self._check_body(answer, _error_of(API_FILE), f"{answer.method}: {answer.status}")

    def _find(self, path: str) -> str | None:
        fitting = [known for known, pattern in self._paths.items() if pattern.fullmatch(path)]
        return min(fitting, key=lambda known: known.count("{"), default=None)

    def _check_unrouted(self, answer: Answer, *, is_known_path: bool, where: str) -> None:
        """Checks an answer of no operation: 404, 405, or a refusal from before the path was looked
        at.
        """
        if answer.method == "OPTIONS" and answer.status == 204:
            return
        allowed = _ANYWHERE | _BEFORE_ROUTING | {"405" if is_known_path else "404"}
        assert str(answer.status) in allowed, f"{where}: no such operation is documented"
        assert answer.status != 405 or "allow" in answer.headers, (
            f"{where}: header Allow is missing"
        )
        self._check_error(answer, where)

    def _check_error(self, answer: Answer, where: str) -> None:
        is_of_server = str(answer.status) in _NO_REQUEST
        self._check_body(answer, _error_of(API_FILE) if is_of_server else self._error, where)

    def _check_documented(self, answer: Answer, documented: dict[str, Any], where: str) -> None:
        headers = documented.get("headers", {})
        for name, reference in headers.items():
            self._check_header(answer, name, self.resolve(reference), where)
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
        schema = self.resolve(documented["schema"])
        value: Any = (
            int(text) if schema["type"] == "integer" and re.fullmatch(r"-?\d+", text) else text
        )
        self.validate(value, schema, f"{where}: header {name}")

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
        self.validate(body, schema, f"{where}: body")
        if isinstance(body, dict) and "statusCode" in body:
            assert body["statusCode"] == answer.status, (
                f"{where}: body.statusCode is {body['statusCode']}"
            )

    def validate(self, value: Any, schema: dict[str, Any], where: str) -> None:
        """Fails with the field when a value is not as the schema says."""
        validator = Draft202012Validator(
            schema, registry=self._registry, format_checker=Draft202012Validator.FORMAT_CHECKER
        )
        problems = sorted(
            (leaf for found in validator.iter_errors(value) for leaf in _leaves(found)),
            key=lambda it: it.json_path,
        )
        assert not problems, where + "; ".join(
            f"{it.json_path.removeprefix('$')}: {it.message[:300]}" for it in problems[:5]
        )

    def operation(self, method: str, path: str) -> dict[str, Any]:
        """Returns the operation as the file has it, the parameters of the path among its own;
        references hold the address of their file, see `resolve`.
        """
        item = self._items[path]
        operation: dict[str, Any] = item[method.lower()]
        shared = item.get("parameters", [])
        return operation | {"parameters": [*shared, *operation.get("parameters", [])]}

    def names(self, method: str, target: str) -> set[str]:
        """Returns the names of the parameters and of the body's fields of the operation that the
        target leads to; empty without one.
        """
        path = self._find(target.partition("?")[0])
        if path is None or method.lower() not in self._items[path]:
            return set()
        operation = self.operation(method, path)
        parameters = (self.resolve(parameter) for parameter in operation["parameters"])
        names = {parameter["name"] for parameter in parameters}
        for content in self.resolve(operation.get("requestBody", {})).get("content", {}).values():
            names |= self.resolve(content["schema"]).get("properties", {}).keys()
        return names

    def resolve(self, node: dict[str, Any]) -> dict[str, Any]:
        """Returns what a reference leads to, in whichever file, and what stands beside it."""
        while "$ref" in node:
            file, _, pointer = node["$ref"].removeprefix(_FOLDER).partition("#/")
            found: Any = self._files[file]
            for part in pointer.split("/"):
                found = found[part.replace("~1", "/").replace("~0", "~")]
            node = found | {key: inner for key, inner in node.items() if key != "$ref"}
        return node


def _check_code(answer: Answer) -> None:
    """Fails unless the answer names a reason that /v1 has for its status."""
    word = answer.headers.get("x-error-code", "")
    assert _statuses_of_v1().get(word) == answer.status, (
        f"{answer.method} {answer.path}: {answer.status} has X-Error-Code {word!r}"
    )


@functools.cache
def _statuses_of_v1() -> dict[str, int]:
    return {reason.word: reason.status for reason in error_reasons.reasons_of_v1()}


def _check_deprecation(answer: Answer, where: str) -> None:
    """Fails unless the answer says since when its operation is deprecated (RFC 9745) and until when
    it works (RFC 8594), as docs/reference/versions.md promises.
    """
    since = re.fullmatch(r"@(\d{1,12})", answer.headers.get("deprecation", ""))
    assert since, f"{where}: is deprecated, so header Deprecation must be @ and Unix seconds"
    try:
        end = datetime.strptime(answer.headers.get("sunset", ""), _HTTP_DATE).replace(tzinfo=UTC)
    except ValueError:
        end = None
    assert end is not None, f"{where}: is deprecated, so header Sunset must be a date of HTTP"
    began = datetime.fromtimestamp(int(since[1]), UTC)
    assert end - began >= _SHORTEST_NOTICE, f"{where}: Sunset is too soon after Deprecation"


def _error_of(name: str) -> dict[str, Any]:
    return {"$ref": f"{_FOLDER}{name}#/components/schemas/ErrorBody"}


@functools.cache
def contract() -> Contract:
    """Returns the contract of the API."""
    return Contract(API_FILE, "/v1")


@functools.cache
def dashboard_contract() -> Contract:
    """Returns the contract of the dashboard's API."""
    return Contract(DASHBOARD_FILE, "/dashboard/api")


@functools.cache
def _read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / "docs" / name).read_text(encoding="utf-8"))
    return content


def _with_addresses(name: str) -> dict[str, Any]:
    """The file with the file's name in each of its references."""

    def rewrite(node: Any) -> Any:
        if isinstance(node, list):
            return [rewrite(inner) for inner in node]
        if not isinstance(node, dict):
            return node
        rewritten = {key: rewrite(inner) for key, inner in node.items()}
        reference = node.get("$ref")
        if isinstance(reference, str):
            rewritten["$ref"] = _FOLDER + (name if reference.startswith("#") else "") + reference
        return rewritten

    content: dict[str, Any] = rewrite(_read(name))
    return content


def _closed(content: dict[str, Any]) -> dict[str, Any]:
    strict = copy.deepcopy(content)
    _close(strict["components"]["schemas"])
    return strict


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
    """Yields of a choice the branch that got furthest: it names the field."""
    if not problem.context:
        yield problem
        return
    depth = max(len(inner.absolute_path) for inner in problem.context)
    for inner in problem.context:
        if len(inner.absolute_path) == depth:
            yield from _leaves(inner)

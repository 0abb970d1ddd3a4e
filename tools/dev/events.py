"""`./dev check events`: docs/events/asyncapi.yaml says of topics, schemas, headers and webhooks
what the files say that make them, and the AsyncAPI project's own parser accepts it;
deploy/kafka/access.json and the tables of docs/events fit them.
"""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from asyncapi import tables
from asyncapi.document import Contract, Node
from generate.kafka_acls import Access

from dev import node_packages, paths, python_packages, schemas
from dev.terminal import fail, say

_FOLDER = paths.ROOT / "docs" / "events"
_VALIDATOR = paths.ROOT / "tools" / "npm" / "asyncapi"
_CONSUMER = paths.ROOT / "examples" / "consumers" / "python"
_PUBLIC = "tempinbox.events.v1."
_CLASSES = {"public", "personal", "credential-bearing"}
# protoc's numbers of types, as buf writes them in JSON.
_SCALARS = {"TYPE_STRING": "string", "TYPE_INT64": "int64", "TYPE_INT32": "int32"}
_SCALARS |= {"TYPE_BOOL": "bool", "TYPE_BYTES": "bytes", "TYPE_DOUBLE": "double"}
_PATH_OF_MESSAGE, _PATH_OF_FIELD = 4, 2  # field numbers in descriptor.proto


@dataclass(frozen=True)
class Field:
    """A field of a Protobuf message; `values` are the names of an enum, `comment` what stands
    above.
    """

    number: int
    kind: str
    values: tuple[str, ...]
    comment: str


@dataclass(frozen=True)
class Sources:
    """The files that the contract is compared with; tests give copies with a drift."""

    contract: Path = _FOLDER / "asyncapi.yaml"
    changes: Path = _FOLDER / "changes.md"
    schemas: Path = schemas.SCHEMAS
    topics: Path = paths.ROOT / "deploy" / "kafka" / "topics.json"
    access: Path = paths.ROOT / "deploy" / "kafka" / "access.json"
    openapi: Path = paths.ROOT / "docs" / "openapi.yaml"
    code: Path = paths.ROOT


def check(fix: bool) -> bool:
    """All of it; `fix` writes the tables of the pages anew."""
    sources = Sources()
    problems = validate(sources.contract) + drifts(sources) + pages(sources, fix)
    for problem in problems:
        say("  " + problem)
    return _golden_bytes_are_read() and not problems


def validate(contract: Path) -> list[str]:
    """Returns what the AsyncAPI project's parser says against it."""
    environment = node_packages.ensure(_VALIDATOR)
    done = subprocess.run(
        ["node", str(_VALIDATOR / "validate.mjs"), str(contract)],
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    said = (done.stdout + done.stderr).strip().splitlines()
    return said if said or done.returncode == 0 else ["the parser failed and did not say why"]


def drifts(sources: Sources) -> list[str]:
    """Each difference between the contract and what it describes, as a sentence."""
    contract = Contract.read(sources.contract)
    messages = read_messages(sources.schemas)
    return [
        *_compare_topics(contract, json.loads(sources.topics.read_text(encoding="utf-8"))),
        *_wrong_rights(contract, Access.read(sources.access, sources.topics)),
        *_compare_schemas(contract, messages),
        *_compare_headers(contract, sources.code),
        *_compare_webhooks(contract, yaml.safe_load(sources.openapi.read_text(encoding="utf-8"))),
        *_unclassified(contract),
        *_unlisted_changes(messages, sources.changes.read_text(encoding="utf-8")),
    ]


def _difference(where: str, described: object, real: object, file: str) -> list[str]:
    if described == real:
        return []
    return [f"{where}: asyncapi.yaml has {described!r}, {file} has {real!r}"]


# Topics


def _compare_topics(contract: Contract, declared: Node) -> list[str]:
    described = {address: _settings(channel) for address, channel in contract.topics.items()}
    real = {
        row["name"]: {"partitions": str(row["partitions"]), "cleanup.policy": "delete"}
        | row.get("config", {})
        for row in declared["topics"]
    }
    return [
        problem
        for name in sorted(described.keys() | real.keys())
        for problem in _difference(
            f"topic {name}", described.get(name), real.get(name), "topics.json"
        )
    ]


def _settings(channel: Node) -> dict[str, str]:
    binding = channel["bindings"]["kafka"]
    return {"partitions": str(binding["partitions"])} | {
        name: ",".join(value) if isinstance(value, list) else str(value)
        for name, value in binding["topicConfiguration"].items()
    }


def _wrong_rights(contract: Contract, access: Access) -> list[str]:
    public = [
        name for name, channel in contract.topics.items() if not contract.is_internal(channel)
    ]
    return [
        *(f"access.json: {problem}" for problem in access.problems()),
        *_difference("public topics", public, access.public_topics, "access.json"),
    ]


# Schemas


def read_messages(folder: Path) -> dict[str, dict[str, Field]]:
    """Every message of a folder of schemas by its full name, with its fields by name."""
    files = schemas.describe(folder)["file"]
    enums = {
        f".{file['package']}.{enum['name']}": tuple(value["name"] for value in enum["value"])
        for file in files
        for enum in file.get("enumType", [])
    }
    found: dict[str, dict[str, Field]] = {}
    for file in files:
        comments = {
            tuple(location["path"]): " ".join(location["leadingComments"].split())
            for location in file["sourceCodeInfo"]["location"]
            if "leadingComments" in location
        }
        for index, message in enumerate(file.get("messageType", [])):
            found[f"{file['package']}.{message['name']}"] = {
                field["name"]: Field(
                    field["number"],
                    _kind(field),
                    enums.get(field.get("typeName", ""), ()),
                    comments.get((_PATH_OF_MESSAGE, index, _PATH_OF_FIELD, number), ""),
                )
                for number, field in enumerate(message.get("field", []))
            }
    return found


def _kind(field: Node) -> str:
    kind = field.get("typeName", "").removeprefix(".") or _SCALARS.get(field["type"], field["type"])
    return f"repeated {kind}" if field["label"] == "LABEL_REPEATED" else str(kind)


def _compare_schemas(contract: Contract, messages: dict[str, dict[str, Field]]) -> list[str]:
    described = {
        message["x-message"]: message
        for message in contract.messages.values()
        if "x-message" in message
    }
    problems = [
        f"{name}: no such message in proto-schemas/" for name in described.keys() - messages.keys()
    ]
    # A message inside another one is described there, not as a topic's value.
    inner = {
        it.kind.removeprefix("repeated ") for fields in messages.values() for it in fields.values()
    }
    problems += [
        f"{name}: asyncapi.yaml does not describe it"
        for name in sorted(messages)
        if name.startswith(_PUBLIC) and name not in described and name not in inner
    ]
    for name in sorted(described.keys() & messages.keys()):
        if not name.startswith(_PUBLIC):
            continue
        properties = contract.properties(described[name]["payload"])
        fields = messages[name]
        for field in sorted(properties.keys() | fields.keys()):
            problems += _difference(
                f"{name}.{field}",
                _described_field(properties.get(field), fields.get(field)),
                fields.get(field),
                "proto-schemas",
            )
    return problems


def _described_field(described: Node | None, real: Field | None) -> Field | None:
    if described is None:
        return None
    # A message without a comment in its schema may be explained in the contract.
    comment = (
        "" if real and not real.comment else " ".join(described.get("description", "").split())
    )
    return Field(
        described.get("x-field", 0),
        described.get("x-type", ""),
        tuple(described.get("enum", ())),
        comment,
    )


# Headers


def _compare_headers(contract: Contract, root: Path) -> list[str]:
    described = {
        name
        for channel in contract.topics.values()
        for message in contract.messages_of(channel)
        for name in contract.properties(message["headers"])
    }
    written = written_headers(root)
    return [
        *(f"header {it}: asyncapi.yaml does not describe it" for it in sorted(written - described)),
        *(f"header {it}: no code writes it" for it in sorted(described - written)),
    ]


def written_headers(root: Path) -> set[str]:
    """Names of the headers that the code gives to records: written out where a header is added, or
    as a constant; and by the function that stores mail.
    """
    found: set[str] = set()
    common = root / "libs" / "common"
    sources = [*common.glob("events/*.[ch]pp"), *common.glob("kafka/producer.cpp")]
    sources += [*common.glob("kafka/schema_ids.hpp"), *root.glob("libs/mailbox/backfill.[ch]pp")]
    sources += root.glob("programs/tempinboxctl/*backfill*.[ch]pp")
    texts = [path.read_text(encoding="utf-8") for path in sources]
    constants = {
        name: value
        for text in texts
        for name, value in re.findall(r'constexpr const char\* (\w+) = "([^"]+)"', text)
    }
    adding = re.compile(
        r'(?:headers\.emplace_back\(|add_header\(headers, )\s*(?:"([^"]+)"|(?:\w+::)*(\w+)\b)'
    )
    for literal, name in (match for text in texts for match in adding.findall(text)):
        if literal or name in constants:
            found.add(literal or constants[name])
    functions = root / "libs" / "mailbox" / "functions"
    for path in functions.glob("*.sql"):
        found.update(re.findall(r"'(ce_\w+|[a-z-]+): '", path.read_text(encoding="utf-8")))
    return found


# Webhooks


def _compare_webhooks(contract: Contract, openapi: Node) -> list[str]:
    known = openapi["components"]["schemas"]
    events = {
        operation["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        for operation in openapi["webhooks"].values()
    }
    described = {
        message["x-openapi"]: message
        for message in contract.messages.values()
        if "x-openapi" in message
    }
    problems = _difference(
        "webhooks",
        sorted(described),
        sorted(it.rsplit("/", 1)[-1] for it in events),
        "openapi.yaml",
    )
    for name in sorted(described.keys() & known.keys()):
        mine = _flat(contract.resolve(described[name]["payload"]), contract.content)
        real = _flat(known[name], openapi)
        for field in sorted(mine.keys() | real.keys()):
            problems += _difference(
                f"webhook {name} {field}", mine.get(field), real.get(field), "openapi.yaml"
            )
    parameters = openapi["components"]["parameters"]
    header_names = {
        name for name in parameters if name.startswith("webhook-") and name != "webhookId"
    }
    described_headers = contract.properties(
        contract.content["components"]["schemas"]["WebhookHeaders"]
    )
    return problems + _difference(
        "headers of webhooks", sorted(described_headers), sorted(header_names), "openapi.yaml"
    )


def _flat(schema: Node, document: Node, path: str = "") -> dict[str, tuple[Any, ...]]:
    """Every field by its path: type, whether it is required, what it may be."""
    found: dict[str, tuple[Any, ...]] = {}
    for name, given in schema.get("properties", {}).items():
        inner = Contract(document).resolve(given)
        limits = [inner.get("const"), *inner.get("enum", [])]
        is_required = name in schema.get("required", [])
        found[path + name] = (inner["type"], inner.get("format"), is_required, limits)
        found |= _flat(inner, document, f"{path}{name}.")
    return found


# Classification, changes


def _unclassified(contract: Contract) -> list[str]:
    problems = []
    for where, name, node in contract.fields():
        given = node.get("x-classification")
        if given not in _CLASSES:
            named = f"{given!r} is none of {', '.join(sorted(_CLASSES))}" if given else "none"
            problems.append(f"{where} {name}: x-classification: {named}")
    return problems


def _unlisted_changes(messages: dict[str, dict[str, Field]], changes: str) -> list[str]:
    problems = []
    for name, fields in sorted(messages.items()):
        if not name.startswith(_PUBLIC):
            continue
        short = name.removeprefix(_PUBLIC)
        section = re.search(rf"^## {short}\n(.*?)(?=^## |\Z)", changes, re.MULTILINE | re.DOTALL)
        listed = set(re.findall(r"`(\w+)`", section[1])) if section else set()
        problems += [
            f"{name}.{field}: docs/events/changes.md does not say since when it is there"
            for field in fields
            if field not in listed
        ]
    return problems


# Pages


def pages(sources: Sources, fix: bool) -> list[str]:
    """Tables that are made of the contract and the rights, between two marks: the pages with one
    that is out of date.
    """
    contract = Contract.read(sources.contract)
    access = Access.read(sources.access, sources.topics)
    stale = []
    for page in sorted(_FOLDER.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        fresh = tables.fill(contract, access, text)
        if fresh != text and fix:
            page.write_text(fresh, encoding="utf-8")
        elif fresh != text:
            shown = page.relative_to(paths.ROOT)
            stale.append(f"{shown} is out of date: ./dev check events --fix")
    return stale


def _golden_bytes_are_read() -> bool:
    """tests/contract, with generated code of the baseline."""
    interpreter = python_packages.environment(_CONSUMER / "requirements.txt")
    command = [str(interpreter), "-B", "-m", "unittest", "discover", "-q"]
    command += ["-s", "tests/contract", "-p", "*_test.py"]
    environment = {**paths.clean_environment(), "PYTHONPATH": paths.PYTHON_PATH}
    done = subprocess.run(command, cwd=paths.ROOT, env=environment, stdin=subprocess.DEVNULL)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(0 if check("--fix" in sys.argv[1:]) else fail("see above"))

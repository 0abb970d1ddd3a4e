"""Prints the kafka-acls.sh commands that give each user its rights of deploy/kafka/access.json.

Usage: python3 tools/generate/kafka_acls.py --bootstrap-server kafka:9093 [NAME ...]

Without names the commands are for every user of the file. They only add: a right that left the
file stays until `kafka-acls.sh --remove` takes it away.
"""

import argparse
import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

_KAFKA = Path(__file__).resolve().parents[2] / "deploy" / "kafka"
FILE = _KAFKA / "access.json"
TOPICS = _KAFKA / "topics.json"
TOOLS = "tools"
READS = {"Describe", "Read"}
WRITES = {"Describe", "Write"}
# Operations of `topics apply` and `doctor` on every topic of the installation.
MANAGES = {"Alter", "AlterConfigs", "Create", "Describe", "DescribeConfigs"}
# Begins the groups of the suite, which are nobody else's.
_OWN_GROUPS = "tempinbox-"


@dataclass(frozen=True, order=True)
class Resource:
    """A topic or a group, or (prefixed) all whose names begin like this."""

    kind: str
    pattern: str
    name: str


Rights = dict[Resource, set[str]]


@dataclass(frozen=True)
class Program:
    """A service, or the operator's tools: with each group it reads topics, of others (broadcasts)
    every partition, with a group that has a random end and commits nothing.
    """

    writes: list[str]
    groups: dict[str, list[str]]
    broadcasts: list[str]

    @classmethod
    def read(cls, content: dict[str, Any]) -> Self:
        """Reads the file."""
        return cls(content["writes"], content["groups"], content["broadcasts"])

    def topics(self) -> set[str]:
        """All that it names."""
        read = {topic for topics in self.groups.values() for topic in topics}
        return read | {*self.writes, *self.broadcasts}


@dataclass(frozen=True)
class Consumer:
    """A consumer of another team: what it reads, and how the names of its own groups and topics
    begin.
    """

    reads: list[str]
    name_prefix: str


@dataclass(frozen=True)
class Access:
    """The file, and the topics that there are."""

    public_topics: list[str]
    broadcast_groups: str
    services: dict[str, Program]
    tools: Program
    consumers: dict[str, Consumer]
    topics: list[str]

    @classmethod
    def read(cls, file: Path = FILE, topics: Path = TOPICS) -> Self:
        """Both as they are; `problems` says what is wrong with them."""
        content = json.loads(file.read_text(encoding="utf-8"))
        declared = json.loads(topics.read_text(encoding="utf-8"))
        return cls(
            content["publicTopics"],
            content["broadcastGroups"],
            {name: Program.read(of) for name, of in content["services"].items()},
            Program.read(content["tools"]),
            {
                name: Consumer(of["reads"], of["namePrefix"])
                for name, of in content["consumers"].items()
            },
            [topic["name"] for topic in declared["topics"]],
        )

    def problems(self) -> list[str]:
        """Sentences; without any of them the rights are those that the file means."""
        named = {name: of.topics() for name, of in self.services.items()}
        named[TOOLS] = self.tools.topics()
        found = [
            f"{name}: no topic is called {topic}"
            for name, topics in named.items()
            for topic in sorted(topics - set(self.topics))
        ]
        for name, consumer in self.consumers.items():
            if name in self.services or name == TOOLS:
                found.append(f"consumer {name}: the suite has a user of this name")
            found += [
                f"consumer {name}: {topic} is no public topic"
                for topic in consumer.reads
                if topic not in self.public_topics
            ]
            found += self._covered(name, consumer.name_prefix)
        return found

    def _covered(self, name: str, prefix: str) -> list[str]:
        """Names of others that begin with a consumer's prefix."""
        if _OWN_GROUPS.startswith(prefix) or prefix.startswith(_OWN_GROUPS):
            return [f"consumer {name}: groups of the suite begin with {prefix!r}"]
        found = [
            f"consumer {name}: the topic {topic} begins with {prefix!r}"
            for topic in self.topics
            if topic.startswith(prefix)
        ]
        found += [
            f"consumer {name}: names of {other} begin with {prefix!r}"
            for other, its in self.consumers.items()
            if other != name and its.name_prefix.startswith(prefix)
        ]
        return found

    def rights(self) -> dict[str, Rights]:
        """Returns the rights of every user: the services, the tools, the consumers."""
        users = {name: self._of_program(of) for name, of in self.services.items()}
        tools = self._of_program(self.tools)
        for topic in self.topics:
            _grant(tools, Resource("topic", "literal", topic), MANAGES)
        users[TOOLS] = tools
        for name, consumer in self.consumers.items():
            own = Resource("topic", "prefixed", consumer.name_prefix)
            users[name] = {
                Resource("group", "prefixed", consumer.name_prefix): set(READS),
                own: READS | WRITES,
                **{Resource("topic", "literal", topic): set(READS) for topic in consumer.reads},
            }
            # Topics of events that are written again for a consumer.
            _grant(tools, own, WRITES)
        return users

    def _of_program(self, program: Program) -> Rights:
        rights: Rights = {}
        for group, topics in program.groups.items():
            _grant(rights, Resource("group", "literal", group), READS)
            for topic in topics:
                _grant(rights, Resource("topic", "literal", topic), READS)
        if program.broadcasts:
            _grant(rights, Resource("group", "prefixed", self.broadcast_groups), READS)
        for topic in program.broadcasts:
            _grant(rights, Resource("topic", "literal", topic), READS)
        for topic in program.writes:
            _grant(rights, Resource("topic", "literal", topic), WRITES)
        return rights


def _grant(rights: Rights, resource: Resource, operations: set[str]) -> None:
    rights.setdefault(resource, set()).update(operations)


def commands(rights: Rights, *, connection: list[str], principal: str, prefix: str) -> list[str]:
    """Returns one command for all resources of a pattern that have the same operations; `prefix` is
    the setting kafka-prefix, which goes before every name.
    """
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for resource, operations in sorted(rights.items(), key=lambda right: right[0]):
        key = resource.pattern, tuple(sorted(operations))
        alike.setdefault(key, []).extend([f"--{resource.kind}", prefix + resource.name])
    made = []
    for (pattern, operations_of), resources in alike.items():
        command = ["kafka-acls.sh", *connection, "--add", "--allow-principal", principal]
        command += ["--resource-pattern-type", pattern, *resources]
        for operation in operations_of:
            command += ["--operation", operation]
        made.append(shlex.join(command))
    return made


def main() -> int:
    """Prints them, or what is wrong with the file."""
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="of users: services, tools, consumers; all"
    )
    parser.add_argument("--bootstrap-server", required=True, metavar="HOST:PORT")
    parser.add_argument(
        "--command-config", metavar="FILE", help="properties of the Kafka client that adds them"
    )
    parser.add_argument(
        "--prefix", default="", help="the setting kafka-prefix, put before every topic and group"
    )
    parser.add_argument(
        "--principal",
        default="User:tempinbox-{name}",
        metavar="PATTERN",
        help="how brokers see the user called {name}: %(default)s, or User:CN={name}",
    )
    parser.add_argument("--access", type=Path, default=FILE, metavar="FILE")
    parser.add_argument("--topics", type=Path, default=TOPICS, metavar="FILE")
    chosen = parser.parse_args()
    access = Access.read(chosen.access, chosen.topics)
    rights = access.rights()
    unknown = [f"no user is called {name}" for name in chosen.names if name not in rights]
    if problems := access.problems() + unknown:
        sys.stderr.write("".join(f"{problem}\n" for problem in problems))
        return 1
    connection = ["--bootstrap-server", chosen.bootstrap_server]
    if chosen.command_config:
        connection += ["--command-config", chosen.command_config]
    for name in chosen.names or rights:
        principal = chosen.principal.replace("{name}", name)
        for command in commands(
            rights[name], connection=connection, principal=principal, prefix=chosen.prefix
        ):
            sys.stdout.write(command + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

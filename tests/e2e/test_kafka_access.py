"""A Kafka that allows nothing but what deploy/kafka/access.json says: with the commands of
docs/events/access.md the suite, the operator's tools and a consumer of another team work, and
nothing else does.
"""

import contextlib
import functools
import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest
import requests
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)
from dev import paths
from dev.ports import free_port
from harness import (
    Api,
    Authority,
    AuthorizingKafka,
    Cluster,
    Receiver,
    Replica,
    SecureSuite,
    SmtpSession,
    Suite,
    eventually,
    plain_response,
    send,
    write_acl_tool,
)
from harness.secure_suite import HOST, Settings, rpc_tls_settings

_ACCESS: dict[str, Any] = json.loads(
    (paths.ROOT / "deploy" / "kafka" / "access.json").read_text(encoding="utf-8")
)
_TOPICS = [
    topic["name"]
    for topic in json.loads(
        (paths.ROOT / "deploy" / "kafka" / "topics.json").read_text(encoding="utf-8")
    )["topics"]
]
_SECONDS = 60.0  # that a right may take to show, on a machine that does much else
_eventually = functools.partial(eventually, seconds=_SECONDS)
_PAGE = paths.ROOT / "docs" / "events" / "access.md"
_PARTITIONS = 2  # of each topic, as SecureSuite applies them
_CONSUMER = "example-consumer"
_STRANGER = "stranger"  # who has a password and no rights
_PROGRAMS: dict[str, Any] = {**_ACCESS["services"], "tools": _ACCESS["tools"]}
_USERS = [*_PROGRAMS, _CONSUMER, _STRANGER]
_BROADCAST_GROUP = _ACCESS["broadcastGroups"] + "test"
_EVENTS = ["email.received", "inbox.created", "inbox.expired"]
_OWN_DEAD_LETTERS, _OWN_EVENTS = "example-billing.dead-letter", "example-billing.email.received"


def _user(name: str) -> str:
    """Returns the user's name in the page's commands."""
    return f"tempinbox-{name}"


@dataclass(frozen=True)
class _Guarded:
    """The suite of this test and its Kafka."""

    suite: Suite
    database: str
    kafka: AuthorizingKafka
    services: SecureSuite
    submission: str

    def client_of(self, name: str) -> dict[str, str | int | float | bool]:
        return self.kafka.client_of(_user(name))

    def admin_of(self, name: str) -> AdminClient:
        return AdminClient(self.client_of(name))

    def replica(self, service: str) -> Replica:
        (found,) = (it for it in self.services.replicas if it.service == service)
        return found


def _add_acls(kafka: AuthorizingKafka, folder: Path) -> None:
    """Runs what the page says, as it stands there."""
    folder.mkdir()
    write_acl_tool(folder)
    (folder / "tools").symlink_to(paths.ROOT / "tools")
    (folder / "admin.properties").symlink_to(kafka.admin_config)
    (block,) = re.findall(
        r"^```sh\n(.*?)^```", _PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert "kafka:9093" in block
    done = subprocess.run(
        ["sh", "-euc", block.replace("kafka:9093", kafka.brokers)],
        cwd=folder,
        env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def guarded(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Guarded]:
    """Ready, with a mail domain; the topics were applied by the tools' user."""
    folder = tmp_path_factory.mktemp("guarded")
    authority = Authority(folder / "authority")
    with contextlib.ExitStack() as running:
        kafka = running.enter_context(AuthorizingKafka(_user(name) for name in _USERS))
        _add_acls(kafka, folder / "acls")
        database = running.enter_context(Cluster(suite))
        submission = f"127.0.0.1:{free_port()}"

        def settings_of(service: str) -> Settings:
            user = "tools" if service == "operator" else service
            settings = {"database": database.dsn}
            if user in _PROGRAMS:
                settings |= kafka.settings_of(_user(user))
            if service == "mail-ingest":
                logins = {"submission_clear_listen": submission}
                return settings | logins | {"spool_directory": str(folder / "spool")}
            return settings | rpc_tls_settings(authority.issue(service, f"DNS:{HOST}"))

        services = running.enter_context(SecureSuite(suite, settings_of))
        _make_topics_of_the_consumer(kafka)
        yield _Guarded(suite, database.dsn, kafka, services, submission)


def _make_topics_of_the_consumer(kafka: AuthorizingKafka) -> None:
    admin = AdminClient(kafka.client_of(kafka.admin))
    topics = [NewTopic(name, 1, 1) for name in (_OWN_DEAD_LETTERS, _OWN_EVENTS)]
    for made in admin.create_topics(topics).values():
        made.result(timeout=30)


def _values(replica: Replica, metric: str) -> list[tuple[dict[str, str], float]]:
    """Labels and value of each series."""
    lines = requests.get(f"http://{replica.admin}/metrics", timeout=5).text.splitlines()
    series = (re.fullmatch(rf"{metric}\{{(.*)\}} (\S+)", line) for line in lines)
    return [(dict(re.findall(r'(\w+)="([^"]*)"', one[1])), float(one[2])) for one in series if one]


def _sent(replica: Replica) -> set[str]:
    """Topics that it has written to."""
    metric = "messaging_client_operation_duration_seconds_count"
    return {
        labels["topic"]
        for labels, count in _values(replica, metric)
        if labels["outcome"] == "ok" and count > 0
    }


def _assigned(replica: Replica) -> dict[str, int]:
    """Partitions by the group that reads them."""
    metric = "tempinbox_consumer_assigned_partitions"
    return {labels["group"]: int(count) for labels, count in _values(replica, metric)}


def _read_whole(replica: Replica) -> set[str]:
    """Topics of which it has read every partition to the end."""
    metric = "tempinbox_broadcast_lag_records"
    return {labels["topic"] for labels, lag in _values(replica, metric) if lag == 0}


class _Reader:
    """The other team's consumer: keeps the keys of each topic. Use as a context manager."""

    def __init__(self, guarded: _Guarded) -> None:
        self._consumer = Consumer(
            guarded.client_of(_CONSUMER)
            | {
                "group.id": "example-billing",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
        self._keys: dict[str, set[str]] = {}

    def __enter__(self) -> Self:
        self._consumer.subscribe([*_ACCESS["consumers"][_CONSUMER]["reads"], _OWN_EVENTS])
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def read(self) -> dict[str, set[str]]:
        """Reads on; the keys of each topic so far."""
        for record in self._consumer.consume(100, timeout=0.2):
            assert record.error() is None, record.error()
            topic, found = record.topic(), record.key()
            assert topic is not None
            assert isinstance(found, bytes)
            self._keys.setdefault(topic, set()).add(found.decode())
        return self._keys

    def has_read(self, key: str, topics: list[str]) -> bool:
        """Returns whether each of the topics had this key by now."""
        found = self.read()
        return all(key in found.get(topic, set()) for topic in topics)

    def commit(self) -> list[TopicPartition]:
        """Commits and returns what its group has read."""
        committed = self._consumer.commit(asynchronous=False)
        assert committed is not None
        return committed


def _write(guarded: _Guarded, user: str, topics: list[str]) -> dict[str, int | None]:
    """The error that came of writing to each topic; none where the record is written."""
    outcomes: dict[str, int | None] = {}

    def note(error: KafkaError | None, record: Message) -> None:
        outcomes[str(record.topic())] = error.code() if error else None

    producer = Producer(guarded.client_of(user))
    for topic in topics:
        producer.produce(topic, b"\xff\xff", "poison", on_delivery=note)
    assert producer.flush(30) == 0
    return outcomes


def test_the_suite_and_another_teams_consumer_work(guarded: _Guarded) -> None:
    services = guarded.services
    api = Api(f"http://{services.gateway.address}", services.make_key("premium", 1_000_000))
    with Receiver() as receiver, _Reader(guarded) as reader, ThreadPoolExecutor(1) as background:
        api.post("/v1/webhooks", {"url": receiver.url, "events": ["email.received"]})
        inbox = api.new_inbox()
        key, address = inbox["inboxId"], inbox["emailAddress"]
        wait = f"/v1/inboxes/{key}/emails/wait"
        waited = background.submit(lambda: api.get(wait, timeoutSeconds=60))

        sent = send(guarded.suite, address, server=services.ingest.address)

        assert sent.is_accepted, sent.transcript
        assert waited.result(70)["email"]["emailId"] == sent.email_id
        receiver.wait_for(
            lambda it: it.webhook_id == sent.email_id, "its webhook", seconds=_SECONDS
        )
        live = ["email.received", "inbox.created", "inbox.state"]
        _eventually(lambda: reader.has_read(key, live), "the consumer reads")

        services.operate("account", "delete", "premium@example.com")

        _eventually(lambda: reader.has_read(key, ["inbox.expired"]), "the end")
        assert all(partition.error is None for partition in reader.commit())
        refused = send(guarded.suite, address, server=services.ingest.address)
        assert "550 5.1.1" in refused.transcript
        assert _write(guarded, _CONSUMER, [_OWN_DEAD_LETTERS]) == {_OWN_DEAD_LETTERS: None}


def _follow(api: Api, after: str, ids: set[str]) -> Counter[str]:
    """How often each event came, once these have."""
    seen: Counter[str] = Counter()

    def has_all() -> bool:
        nonlocal after
        page = api.get("/v1/events", after=after, waitSeconds=2)
        after = page["nextCursor"]
        seen.update(event["eventId"] for event in page["events"])
        return ids <= seen.keys()

    _eventually(has_all, "the feed has all")
    return seen


def test_an_account_is_followed_with_the_rights_alone_and_while_kafka_is_away(
    guarded: _Guarded,
) -> None:
    services = guarded.services
    api = Api(f"http://{services.gateway.address}", services.make_key("business", 1_000_000))
    inbox = api.new_inbox()
    address = inbox["emailAddress"]
    after = api.get("/v1/events")["nextCursor"]

    def deliver() -> str:
        sent = send(guarded.suite, address, server=services.ingest.address)
        assert sent.is_accepted, sent.transcript
        return sent.email_id

    _follow(api, after, {deliver()})

    with guarded.kafka.away():
        # Mail is stored and read all the same, and who follows is answered.
        ids = {deliver() for _ in range(3)}
        listed = api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
        assert ids <= {email["emailId"] for email in listed}
        api.get("/v1/events", after=after, waitSeconds=3)
    seen = _follow(api, after, ids)

    assert set(seen.values()) == {1}


def _renew_by_login(api: Api, submission: str) -> None:
    """Logs in until the end of a capture has moved, which takes a tenth of its life."""
    inbox = api.new_inbox(capture=True, ttlSeconds=60)
    path, end = "/v1/inboxes/" + inbox["inboxId"], str(inbox["expiresAt"])
    user, password = inbox["capture"]["user"], inbox["capture"]["password"]
    auth = plain_response(user, password)

    def is_renewed() -> bool:
        with SmtpSession(submission) as session:
            assert session.say(f"AUTH PLAIN {auth}").startswith("235 ")
        return str(api.get(path)["expiresAt"]) != end

    _eventually(is_renewed, "a login renews its capture")


@pytest.fixture(scope="module")
def used(guarded: _Guarded) -> _Guarded:
    """Prepares the topics: one inbox has come and gone, another has a mail, a feed has both, a
    capture is about to be renewed by its login, and each topic of events holds a record that nobody
    can read.
    """
    services = guarded.services
    api = Api(f"http://{services.gateway.address}", services.make_key("pro", 1_000_000))
    api.get("/v1/events")  # begins the account's feed, so that what follows is recorded
    inbox, kept = api.new_inbox(), api.new_inbox()
    for to in (inbox["emailAddress"], kept["emailAddress"]):
        assert send(guarded.suite, to, server=services.ingest.address).is_accepted
    api.delete("/v1/inboxes/" + inbox["inboxId"])
    _renew_by_login(api, guarded.submission)
    assert _write(guarded, "tools", _EVENTS) == dict.fromkeys(_EVENTS)
    return guarded


@pytest.mark.parametrize("service", _ACCESS["services"])
def test_a_service_uses_every_right_it_has(used: _Guarded, service: str) -> None:
    of = _ACCESS["services"][service]
    replica = used.replica(service)
    expected = {group: _PARTITIONS * len(topics) for group, topics in of["groups"].items()}

    _eventually(lambda: _assigned(replica) == expected, "it reads in its group")
    _eventually(lambda: _read_whole(replica) == set(of["broadcasts"]), "it reads whole topics")
    _eventually(lambda: _sent(replica) == set(of["writes"]), "it writes to its topics")
    status, body = replica.readiness()
    assert (status, body["degraded"]) == (200, [])


def _findings(done: subprocess.CompletedProcess[str], check: str) -> list[str]:
    found = json.loads(done.stdout)["findings"]
    return [one["level"] for one in found if one["check"] == check]


def _dead_letters(services: SecureSuite, topic: str) -> list[Any]:
    found: list[Any] = services.operate("dead-letter", "list", "--topic", topic)["deadLetters"]
    return found


def _age_events(guarded: _Guarded) -> None:
    """Young events are not compared with what Kafka holds."""
    for table, column in (("emails", "received"), ("inboxes", "created"), ("inboxes", "expired")):
        statement = f"UPDATE mailbox.{table} SET {column}_at = {column}_at - interval '8 minutes'"
        subprocess.run(["psql", "-XAtq", "-d", guarded.database, "-c", statement], check=True)


def test_the_operators_tools_work(used: _Guarded) -> None:
    services = used.services
    size = ("--partitions", str(_PARTITIONS), "--replication", "1")
    file = str(paths.ROOT / "deploy" / "kafka" / "topics.json")

    assert services.operate("topics", "apply", file, *size, "--check")["differences"] == []
    done = services.run_operator("doctor", *size, "--timeout", "50", "--json")
    assert _findings(done, "topics") == ["ok"]
    for topic in _EVENTS:
        _eventually(functools.partial(_dead_letters, services, topic), "the poison is put away")
        assert services.operate("dead-letter", "replay", topic, "--all")["replayed"]
    _age_events(used)
    for topic in _EVENTS:
        compared = services.operate("events", "verify", "--type", topic)
        assert compared["compared"] > 0
        assert compared["missing"] == 0
    backfill = ("events", "backfill", "--type")
    assert services.operate(*backfill, "inbox.state")["finished"]
    again = services.operate(*backfill, "inbox.created", "--to-topic", _OWN_EVENTS)
    assert again["finished"]
    assert again["written"] > 0
    with _Reader(used) as reader:
        _eventually(lambda: _OWN_EVENTS in reader.read(), "the consumer reads them")


@dataclass(frozen=True)
class _Allowed:
    """The rights that the file gives a user."""

    reads: set[str]
    writes: set[str]
    groups: set[str]

    @classmethod
    def of(cls, user: str) -> Self:
        if user == _STRANGER:
            return cls(set(), set(), set())
        if user == _CONSUMER:
            return cls(set(_ACCESS["consumers"][user]["reads"]), set(), {"example-billing"})
        of = _PROGRAMS[user]
        reads = {*of["broadcasts"], *(topic for each in of["groups"].values() for topic in each)}
        groups = {*of["groups"], *({_BROADCAST_GROUP} if of["broadcasts"] else ())}
        return cls(reads, set(of["writes"]), groups)


def _hidden(guarded: _Guarded, user: str, topics: set[str]) -> set[str]:
    """Returns the topics that the user may not even describe, which the right to read would
    include.
    """
    admin = guarded.admin_of(user)
    errors = {topic: admin.list_topics(topic, timeout=30).topics[topic].error for topic in topics}
    return {
        topic
        for topic, error in errors.items()
        if error and error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    }


def _refused_reads(guarded: _Guarded, user: str, topics: set[str]) -> set[str]:
    """Returns the topics that the broker does not let the user read."""
    hidden = _hidden(guarded, user, topics)
    shown = topics - hidden
    refused: set[str] = set()
    consumer = Consumer(guarded.client_of(user) | {"group.id": "none", "enable.auto.commit": False})
    try:
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING) for topic in shown])

        def are_refused() -> bool:
            record = consumer.poll(1.0) if refused != shown else None
            error = record.error() if record else None
            # The group "none" is refused as well, which is said of no topic.
            if record and error and error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                refused.add(str(record.topic()))
            assert not record or error, f"{user} reads {record.topic()}"
            return refused == shown

        _eventually(are_refused, f"{user} reads none of {sorted(shown)}")
    finally:
        consumer.close()
    return hidden | refused


def _group_error(guarded: _Guarded, user: str, group: str) -> int | None:
    """Returns the error of joining a group."""
    settings = {"group.id": group, "enable.auto.commit": False}
    consumer = Consumer(guarded.client_of(user) | settings)
    try:
        consumer.subscribe(["email.received"])

        def error_of_group() -> int | None:
            record = consumer.poll(1.0)
            error = record.error() if record else None
            known = error and error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED
            return error.code() if error and known else None

        return _eventually(error_of_group, f"{user} is refused as {group}")
    finally:
        consumer.close()


def _error_of(futures: dict[Any, Future[Any]]) -> list[int | None]:
    """Returns the errors of an operator's requests."""
    codes: list[int | None] = []
    for done in futures.values():
        try:
            done.result(timeout=30)
            codes.append(None)
        except KafkaException as error:
            codes.append(error.args[0].code())
    return codes


@pytest.mark.parametrize("user", _USERS)
def test_a_user_reads_and_writes_nothing_else(used: _Guarded, user: str) -> None:
    allowed, every = _Allowed.of(user), {*_TOPICS, _OWN_EVENTS}
    if user in (_CONSUMER, "tools"):
        every -= {_OWN_EVENTS}

    closed = sorted(every - allowed.writes)
    outcomes = _write(used, user, closed)
    assert outcomes == dict.fromkeys(closed, KafkaError.TOPIC_AUTHORIZATION_FAILED)
    closed_to_reads = every - allowed.reads
    assert _refused_reads(used, user, closed_to_reads) == closed_to_reads


@pytest.mark.parametrize("user", _USERS)
def test_a_user_joins_no_group_of_others(guarded: _Guarded, user: str) -> None:
    groups = {group for each in _USERS for group in _Allowed.of(each).groups} | {"another"}

    for group in sorted(groups - _Allowed.of(user).groups):
        assert _group_error(guarded, user, group) == KafkaError.GROUP_AUTHORIZATION_FAILED, group


@pytest.mark.parametrize("user", _USERS)
def test_nobody_makes_or_deletes_topics_or_gives_rights(guarded: _Guarded, user: str) -> None:
    admin = guarded.admin_of(user)
    new = [NewTopic(name, 1, 1) for name in ("another", "example-billing.another")]
    right = AclBinding(
        ResourceType.TOPIC,
        "email.received",
        ResourcePatternType.LITERAL,
        f"User:{_user(user)}",
        "*",
        AclOperation.ALL,
        AclPermissionType.ALLOW,
    )
    topic, cluster = KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED

    assert _error_of(admin.create_topics(new)) == [topic, topic]
    assert _error_of(admin.delete_topics(["email.received"])) == [topic]
    assert _error_of(admin.create_acls([right])) == [cluster]


def test_who_has_no_rights_sees_no_topic(guarded: _Guarded) -> None:
    assert guarded.admin_of(_STRANGER).list_topics(timeout=30).topics == {}


def test_the_tools_grow_topics_and_set_offsets_back(used: _Guarded) -> None:
    """The last test: services stop for it, as for a restore."""
    services = used.services
    file = str(paths.ROOT / "deploy" / "kafka" / "topics.json")
    more = ("--partitions", str(_PARTITIONS + 1), "--replication", "1", "--repartition")
    grown = services.operate("topics", "apply", file, *more)["topics"]
    assert {one["topic"] for one in grown if not one["changed"]} == {
        "inbox.activity",
        "feed.activity",
    }
    for replica in services.replicas:
        replica.terminate()
    assert [replica.wait() for replica in services.replicas] == [0] * len(services.replicas)

    moment = ("--moment", "2026-01-01T00:00:00Z", "--force", "--set-offsets")
    steps = services.operate("restore", "settle", *moment)["steps"]

    offsets = {step["step"]: step for step in steps}["offsets"]
    assert offsets["status"] == "done"
    assert offsets["count"] > 0

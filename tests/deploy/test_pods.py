"""Tests what holds for every pod and every service, in each example."""

import copy
import json
import re
from typing import Any

import pytest
from chart import (
    CASES,
    LONG_RELEASE,
    ROOT,
    SERVICES,
    SETTINGS,
    Object,
    Values,
    component,
    environment,
    find,
    mebibytes,
    of_kind,
    pod_templates,
    render,
    text,
)
from generate import kafka_acls

# Mounted names of Secrets, never their content; the one example with secrets has trials only.
_SECRETS = ["for-trials", "AAAAAAAAAAAAAAAA"]


@pytest.mark.parametrize("case", CASES)
def test_every_pod_is_restricted(case: str) -> None:
    for where, pod in pod_templates(render(case)):
        spec = pod["spec"]
        security = spec["securityContext"]
        assert security["runAsNonRoot"] is True, where
        assert security["runAsUser"] == 10001, where
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}, where
        assert spec["automountServiceAccountToken"] is False, where
        assert spec["enableServiceLinks"] is False, where
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec), where
        for container in spec["containers"] + spec.get("initContainers", []):
            own = container["securityContext"]
            assert own["allowPrivilegeEscalation"] is False, where
            assert own["readOnlyRootFilesystem"] is True, where
            assert own["capabilities"] == {"drop": ["ALL"]}, where
        for volume in spec["volumes"]:
            assert set(volume) - {"name"} <= {"secret", "configMap", "emptyDir"}, where


@pytest.mark.parametrize("case", CASES)
def test_every_container_has_requests_a_memory_limit_and_a_pinned_image(case: str) -> None:
    for where, pod in pod_templates(render(case)):
        for container in pod["spec"]["containers"]:
            assert set(container["resources"]["requests"]) >= {"cpu", "memory"}, where
            limit = mebibytes(container["resources"]["limits"]["memory"])
            assert limit >= mebibytes(container["resources"]["requests"]["memory"]), where
            if case != "hardened":
                assert "cpu" not in container["resources"]["limits"], where
            image = container["image"]
            assert re.search(r"(:[0-9]+\.[0-9]+\.[0-9]+(-dev)?|@sha256:[0-9a-f]{64})$", image), (
                where
            )


@pytest.mark.parametrize("case", CASES)
def test_files_are_mounted_whole_so_that_they_are_updated(case: str) -> None:
    for where, pod in pod_templates(render(case)):
        for container in pod["spec"]["containers"]:
            for mount in container["volumeMounts"]:
                assert "subPath" not in mount, where
        for volume in pod["spec"]["volumes"]:
            source = volume.get("secret") or volume.get("configMap")
            if source:
                assert source["defaultMode"] == 0o440, where


@pytest.mark.parametrize("case", CASES)
def test_every_account_is_there_before_its_pod(case: str) -> None:
    objects = render(case)
    accounts = {each["metadata"]["name"]: each for each in of_kind(objects, "ServiceAccount")}
    for each in objects:
        for _, pod in pod_templates([each]):
            account = accounts[pod["spec"]["serviceAccountName"]]
            assert account["automountServiceAccountToken"] is False
            hook = each["metadata"].get("annotations", {}).get("helm.sh/hook", "")
            before = account["metadata"].get("annotations", {}).get("helm.sh/hook", "")
            if hook.startswith("pre-"):
                assert before == hook
            else:
                assert not before


@pytest.mark.parametrize("case", CASES)
def test_what_a_hook_mounts_is_there_before_it(case: str) -> None:
    objects = render(case)
    ordinary = {
        (each["kind"], each["metadata"]["name"])
        for each in objects
        if "helm.sh/hook" not in each["metadata"].get("annotations", {})
    }
    for job in of_kind(objects, "Job"):
        if not job["metadata"].get("annotations", {}).get("helm.sh/hook", "").startswith("pre-"):
            continue
        for volume in job["spec"]["template"]["spec"]["volumes"]:
            mounted = {
                ("Secret", volume.get("secret", {}).get("secretName")),
                ("ConfigMap", volume.get("configMap", {}).get("name")),
            }
            assert not mounted & ordinary


@pytest.mark.parametrize("case", CASES)
def test_probes_tell_alive_from_ready(case: str) -> None:
    for each in of_kind(render(case), "Deployment"):
        container = each["spec"]["template"]["spec"]["containers"][0]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        assert ports["admin"] == 9090
        for probe, path in (("startup", "livez"), ("liveness", "livez"), ("readiness", "readyz")):
            assert container[f"{probe}Probe"]["httpGet"] == {"path": f"/{path}", "port": "admin"}
            assert "initialDelaySeconds" not in container[f"{probe}Probe"]


def _seconds(duration: str) -> int:
    unit = {"s": 1, "m": 60, "h": 3600}[duration[-1]]
    return int(duration[:-1]) * unit


@pytest.mark.parametrize("case", CASES)
def test_a_pod_has_the_time_to_drain(case: str) -> None:
    for each in of_kind(render(case), "Deployment"):
        pod = each["spec"]["template"]
        given = environment(pod).get("TEMPINBOX_DRAIN_TIMEOUT")
        drain = given or SETTINGS[component(each)]["drain-timeout"]["default"]
        sleep = pod["spec"]["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
        assert sleep == 5
        assert pod["spec"]["terminationGracePeriodSeconds"] > sleep + _seconds(drain)


@pytest.mark.parametrize("case", CASES)
def test_pods_are_spread_and_disrupted_one_by_one(case: str) -> None:
    objects = render(case)
    budgets = {each["metadata"]["name"]: each for each in of_kind(objects, "PodDisruptionBudget")}
    scalers = {
        each["metadata"]["name"]: each["spec"].get(
            "minReplicas", each["spec"].get("minReplicaCount")
        )
        for each in of_kind(objects, "HorizontalPodAutoscaler") + of_kind(objects, "ScaledObject")
    }
    for each in of_kind(objects, "Deployment"):
        name = each["metadata"]["name"]
        assert ("replicas" in each["spec"]) == (name not in scalers)
        least = scalers.get(name, each["spec"].get("replicas"))
        assert (name in budgets) == (least > 1)
        if name in budgets:
            assert budgets[name]["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
            assert budgets[name]["spec"]["maxUnavailable"] == 1
            assert budgets[name]["spec"]["selector"] == each["spec"]["selector"]
        constraints = each["spec"]["template"]["spec"]["topologySpreadConstraints"]
        assert {constraint["topologyKey"] for constraint in constraints} == {
            "topology.kubernetes.io/zone",
            "kubernetes.io/hostname",
        }
        for constraint in constraints:
            assert constraint["matchLabelKeys"] == ["pod-template-hash"]


@pytest.mark.parametrize("case", CASES)
def test_selectors_are_the_three_labels_that_never_change(case: str) -> None:
    for each in of_kind(render(case), "Deployment"):
        assert each["spec"]["selector"]["matchLabels"] == {
            "app.kubernetes.io/name": "tempinbox",
            "app.kubernetes.io/instance": "tempinbox",
            "app.kubernetes.io/component": component(each),
        }
        assert "helm.sh/chart" not in each["spec"]["template"]["metadata"]["labels"]


@pytest.mark.parametrize("case", CASES)
def test_no_secret_is_rendered_but_for_trials(case: str) -> None:
    objects = render(case)
    secrets = of_kind(objects, "Secret")
    if case != "proxy":
        assert not secrets
        return
    assert {each["metadata"]["name"] for each in secrets} == {"tempinbox-dev", "tempinbox-setup"}
    others = [each for each in objects if each["kind"] != "Secret"]
    assert not any(secret in str(others) for secret in _SECRETS)


# The objects that a service's change may touch beside its own: the budget that doctor compares.
@pytest.mark.parametrize("service", SERVICES)
def test_a_change_of_one_service_leaves_the_others_byte_for_byte(service: str) -> None:
    change = {
        "replicas": 3,
        "resources": {"requests": {"memory": "333Mi"}},
        "settings": {"drain-timeout": "31s"},
        "podLabels": {"changed": "true"},
        "extraEnv": [{"name": "CHANGED", "value": "true"}],
        "priorityClassName": "changed",
    }

    def parts(rendered: str) -> dict[str, str]:
        texts = rendered.split("\n---\n")
        return {f"{number}": part for number, part in enumerate(texts)}

    before = text("minimal", {"database": {"maxConnections": 200}})
    after = text("minimal", {"database": {"maxConnections": 200}, "services": {service: change}})

    def without(rendered: str) -> list[str]:
        kept = []
        for part in parts(rendered).values():
            if f"app.kubernetes.io/component: {service}\n" in part.split("spec:")[0]:
                continue
            kept.append(re.sub(r"(?<=--connection-budget\n)\s+- \"\d+\"", "", part))
        return kept

    assert without(before) == without(after)
    assert before != after


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_that_is_not_enabled_leaves_nothing_of_itself(service: str) -> None:
    # A gateway with pods needs the services that it calls.
    stopped = {"replicas": 0}
    everything = render("minimal", {"services": {"gateway": stopped}})
    off = {"gateway": stopped, service: {"enabled": False}}
    rest = render("minimal", {"services": off})

    def without_budget(objects: list[Object]) -> list[Object]:
        cleaned = copy.deepcopy(objects)
        for each in cleaned:
            if each["metadata"]["name"] == "tempinbox-test-doctor":
                del each["spec"]["containers"][0]["args"]
            elif each["kind"] == "CronJob":
                pod = each["spec"]["jobTemplate"]["spec"]["template"]["spec"]
                del pod["containers"][0]["args"]
        return cleaned

    expected = [each for each in everything if component(each) != service]
    assert without_budget(rest) == without_budget(expected)


def test_the_memory_limit_is_above_what_the_service_adds_up() -> None:
    limits = {
        component(each): each["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
        for each in of_kind(render("minimal"), "Deployment")
    }
    mib = {service: mebibytes(limit["memory"]) for service, limit in limits.items()}

    # 64 for the program, then what docs/operations.md (Memory) names, and a quarter.
    assert mib == {
        "gateway": (64 + 157 + 64 + 512 + 128 + 48) * 5 // 4,
        "inbox": (64 + 256 + 16 + 16 + 48) * 5 // 4,
        "mail-ingest": (64 + 512 + 80 + 287 + 48) * 5 // 4,
        "rate-limit": (64 + 98) * 5 // 4,
        "webhook-dispatcher": (64 + 40 + 48) * 5 // 4,
    }


def test_the_memory_limit_follows_the_settings() -> None:
    values = {"services": {"inbox": {"settings": {"reading-memory": "1GiB"}}}}
    inbox = find(render("minimal", values), "Deployment", "tempinbox-inbox")
    container = inbox["spec"]["template"]["spec"]["containers"][0]

    assert container["resources"]["limits"]["memory"] == f"{(64 + 1024 + 16 + 16 + 48) * 5 // 4}Mi"
    assert container["resizePolicy"] == [
        {"resourceName": "cpu", "restartPolicy": "NotRequired"},
        {"resourceName": "memory", "restartPolicy": "RestartContainer"},
    ]


@pytest.mark.parametrize("case", CASES)
def test_the_spool_has_more_room_than_the_service_uses(case: str) -> None:
    pod = find(render(case), "Deployment", "tempinbox-mail-ingest")["spec"]["template"]
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    limit = environment(pod).get(
        "TEMPINBOX_SPOOL_LIMIT", SETTINGS["mail-ingest"]["spool-limit"]["default"]
    )

    size = mebibytes(volumes["spool"]["emptyDir"]["sizeLimit"])
    assert size > mebibytes(limit.removesuffix("B"))
    assert environment(pod)["TEMPINBOX_SPOOL_DIRECTORY"].startswith("/var/spool/tempinbox/")


def test_replicas_are_called_by_their_addresses() -> None:
    objects = render("minimal")
    gateway = find(objects, "Deployment", "tempinbox-gateway")["spec"]["template"]
    for service in ("inbox", "rate-limit", "webhook-dispatcher"):
        headless = find(objects, "Service", f"tempinbox-{service}")
        assert headless["spec"]["clusterIP"] == "None"
        name = f"TEMPINBOX_{service.upper().replace('-', '_')}_RPC"
        assert environment(gateway)[name] == f"tempinbox-{service}.mail.svc.cluster.local:9101"
    rate_limit = find(objects, "Deployment", "tempinbox-rate-limit")["spec"]["template"]
    assert environment(rate_limit)["TEMPINBOX_RPC_ADVERTISE"] == "$(POD_IP):9101"


def test_a_cluster_of_ipv6_alone_has_its_addresses_in_brackets() -> None:
    objects = render("minimal", {"cluster": {"listenAddress": "::"}})
    rate_limit = environment(
        find(objects, "Deployment", "tempinbox-rate-limit")["spec"]["template"]
    )

    assert rate_limit["TEMPINBOX_RPC_LISTEN"] == "[::]:9101"
    assert rate_limit["TEMPINBOX_RPC_ADVERTISE"] == "[$(POD_IP)]:9101"


def _policy(objects: list[Object], name: str) -> dict[str, Any]:
    spec: dict[str, Any] = find(objects, "NetworkPolicy", f"tempinbox-{name}")["spec"]
    return spec


def _components(peers: list[dict[str, Any]]) -> set[str]:
    return {
        peer["podSelector"]["matchLabels"]["app.kubernetes.io/component"]
        for peer in peers
        if "podSelector" in peer and "namespaceSelector" not in peer
    }


@pytest.mark.parametrize("case", CASES)
def test_all_is_denied_but_what_a_service_needs(case: str) -> None:
    objects = render(case)
    everything = _policy(objects, "default-deny")
    assert everything["policyTypes"] == ["Ingress", "Egress"]
    assert not {"ingress", "egress"} & set(everything)
    for _, pod in pod_templates(objects):
        labels = pod["metadata"]["labels"]
        assert everything["podSelector"]["matchLabels"].items() <= labels.items()
        named = [
            each
            for each in of_kind(objects, "NetworkPolicy")
            if "app.kubernetes.io/component" in each["spec"]["podSelector"]["matchLabels"]
            and each["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
        ]
        assert len(named) == 1
    callers = {
        service: _components(
            [
                peer
                for rule in _policy(objects, service)["ingress"]
                if {"port": 9101} in rule["ports"]
                for peer in rule["from"]
            ]
        )
        for service in ("inbox", "rate-limit", "webhook-dispatcher")
    }
    assert callers == {
        "inbox": {"gateway", "tools", "setup"},
        "rate-limit": {"gateway", "tools", "setup", "rate-limit"},
        "webhook-dispatcher": {"gateway", "tools", "setup"},
    }


@pytest.mark.parametrize("case", CASES)
def test_webhooks_reach_the_world_but_nothing_private(case: str) -> None:
    objects = render(case)
    pod = find(objects, "Deployment", "tempinbox-webhook-dispatcher")["spec"]["template"]
    blocks = {
        peer["ipBlock"]["cidr"]: peer["ipBlock"].get("except", [])
        for rule in _policy(objects, "webhook-dispatcher")["egress"]
        for peer in rule.get("to", [])
        if "ipBlock" in peer
    }
    denied = environment(pod)["TEMPINBOX_WEBHOOK_DENY_NETWORKS"].split(",")

    assert {"10.244.0.0/16", "10.96.0.0/12"} <= set(denied)
    assert {"10.0.0.0/8", "169.254.0.0/16", "10.244.0.0/16"} <= set(blocks["0.0.0.0/0"])
    for network in denied:
        if network.startswith(("2", "3")) and ":" in network:
            assert network in blocks["2000::/3"]
    for service in set(SERVICES) - {"webhook-dispatcher"}:
        assert "0.0.0.0/0" not in str(_policy(objects, service))


def test_an_address_that_webhooks_may_reach_is_a_network_of_its_own() -> None:
    settings = {"webhook-allow-networks": "192.168.1.10, fd00::10,172.16.0.0/12"}
    objects = render("minimal", {"services": {"webhook-dispatcher": {"settings": settings}}})

    blocks = {
        peer["ipBlock"]["cidr"]
        for rule in _policy(objects, "webhook-dispatcher")["egress"]
        for peer in rule.get("to", [])
        if "ipBlock" in peer
    }
    assert {"192.168.1.10/32", "fd00::10/128", "172.16.0.0/12"} <= blocks


def test_addresses_that_the_dispatcher_never_calls_are_those_of_its_code() -> None:
    code = (
        ROOT / "services" / "webhook-dispatcher" / "endpoints" / "address_policy.cpp"
    ).read_text(encoding="utf-8")
    special = {
        network for network in re.findall(r'"([0-9a-f.:]+/\d+)"', code) if network != "2000::/3"
    }
    blocks = {
        network
        for rule in _policy(render("minimal"), "webhook-dispatcher")["egress"]
        for peer in rule.get("to", [])
        for network in peer.get("ipBlock", {}).get("except", [])
    }

    assert blocks - {"10.244.0.0/16", "10.96.0.0/12"} == special


def test_a_hook_of_each_kind_runs_once_and_leaves_nothing() -> None:
    objects = render("ha")
    hooks = {
        each["metadata"]["name"]: each["metadata"]["annotations"]
        for each in objects
        if "helm.sh/hook" in each["metadata"].get("annotations", {})
    }

    for annotations in hooks.values():
        assert annotations["helm.sh/hook-delete-policy"] == "before-hook-creation,hook-succeeded"
    order = ["tempinbox-setup", "tempinbox-migrate", "tempinbox-topics", "tempinbox-bootstrap"]
    weights = [int(hooks[name]["helm.sh/hook-weight"]) for name in order]
    assert weights == sorted(weights)
    assert hooks["tempinbox-bootstrap"]["helm.sh/hook"] == "post-install,post-upgrade"


def test_a_job_without_a_time_to_live_is_kept() -> None:
    plain = {"hook": False, "job": True}
    kept = text("minimal", {"setup": {**plain, "ttlSecondsAfterFinished": None}})

    assert "ttlSecondsAfterFinished" not in kept
    assert "ttlSecondsAfterFinished: 0" in text(
        "minimal", {"setup": {**plain, "ttlSecondsAfterFinished": 0}}
    )


def test_a_plain_job_has_a_new_name_when_its_pod_is_new() -> None:
    job = {"setup": {"hook": False, "job": True}}
    before = {each["metadata"]["name"] for each in of_kind(render("minimal", job), "Job")}
    after = {
        each["metadata"]["name"]
        for each in of_kind(render("minimal", {**job, "image": {"tag": "9.9.9"}}), "Job")
    }

    assert len(before) == len(after) == 2
    assert not before & after


def test_kafka_rights_are_the_least_that_each_service_needs() -> None:
    users = {
        component_of["metadata"]["name"].removeprefix("tempinbox-kafka-"): {
            (acl["resource"]["type"], acl["resource"]["name"], acl["resource"]["patternType"]): set(
                acl["operations"]
            )
            for acl in component_of["spec"]["authorization"]["acls"]
        }
        for component_of in of_kind(render("strimzi-cnpg"), "KafkaUser")
    }

    programs = {"gateway", "inbox", "mail-ingest", "webhook-dispatcher", "tools"}
    assert set(users) == {*programs, "example-consumer"}
    assert users["gateway"] == {
        ("topic", "Staging_1.inbox.activity", "literal"): {"Describe", "Read"},
        ("topic", "Staging_1.inbox.expired", "literal"): {"Describe", "Read"},
        ("topic", "Staging_1.feed.activity", "literal"): {"Describe", "Read"},
        ("topic", "Staging_1.account.state", "literal"): {"Describe", "Write"},
        ("group", "Staging_1.tempinbox-broadcast-", "prefix"): {"Describe", "Read"},
    }
    for name in set(users) - {"tools"}:
        assert not any({"Create", "Alter"} & operations for operations in users[name].values())


def test_kafka_rights_are_those_of_the_commands() -> None:
    """The chart gives the rights that tools/generate/kafka_acls.py gives for the same file."""
    patterns = {"literal": "literal", "prefix": "prefixed"}
    users = {
        user["metadata"]["name"].removeprefix("tempinbox-kafka-"): {
            kafka_acls.Resource(
                acl["resource"]["type"],
                patterns[acl["resource"]["patternType"]],
                acl["resource"]["name"].removeprefix("Staging_1."),
            ): set(acl["operations"])
            for acl in user["spec"]["authorization"]["acls"]
        }
        for user in of_kind(render("strimzi-cnpg"), "KafkaUser")
    }

    assert users == kafka_acls.Access.read().rights()


def test_mail_keeps_its_senders_address_or_comes_with_a_header() -> None:
    plain = find(render("minimal"), "Service", "tempinbox-mail")["spec"]
    proxied = find(render("proxy"), "Service", "tempinbox-mail")["spec"]

    assert plain["externalTrafficPolicy"] == proxied["externalTrafficPolicy"] == "Local"
    assert plain["ports"][0]["targetPort"] == "smtp"
    assert proxied["ports"][0]["targetPort"] == "smtp-proxy"


def test_ports_for_logins_are_there_where_asked_for() -> None:
    certificate = {"enabled": True, "tls": {"existingSecret": "submission-tls"}}
    requested: dict[str, Any] = {"services": {"mail-ingest": {"submission": certificate}}}
    for case, prefix in (("minimal", "submission"), ("proxy", "submission-proxy")):
        objects = render(case, requested)
        without = find(render(case), "Service", "tempinbox-mail")["spec"]["ports"]
        ports = find(objects, "Service", "tempinbox-mail")["spec"]["ports"]
        assert without == ports[:1]
        assert {port["port"]: port["targetPort"] for port in ports[1:]} == {
            587: "submission",
            2525: "submission",
            465: "submissions",
        }
        (pod,) = (pod for where, pod in pod_templates(objects) if where.endswith("mail-ingest"))
        (container,) = pod["spec"]["containers"]
        named = {port["name"]: port["containerPort"] for port in container["ports"]}
        assert (named["submission"], named["submissions"]) == (2587, 2465)
        variables = {entry["name"]: entry.get("value") for entry in container["env"]}
        name = "TEMPINBOX_" + prefix.upper().replace("-", "_") + "_LISTEN"
        assert str(variables[name]).endswith(":2587")
        assert variables["TEMPINBOX_SUBMISSION_TLS_CERTIFICATE_FILE"]
        assert "TEMPINBOX_CAPTURE_HOST" not in variables


def test_the_certificate_of_logins_is_verified_for_the_name_that_the_gateway_tells() -> None:
    certificate = {"enabled": True, "tls": {"existingSecret": "submission-tls"}}
    settings = {"capture-host": "smtp.example.com", "capture-tls-ports": "465"}
    requested: dict[str, Any] = {
        "services": {"mail-ingest": {"submission": certificate}, "gateway": {"settings": settings}}
    }

    def host(values: dict[str, Any]) -> str | None:
        pods = pod_templates(render("minimal", values))
        (pod,) = (pod for where, pod in pods if where.endswith("mail-ingest"))
        return environment(pod).get("TEMPINBOX_CAPTURE_HOST")

    assert host(requested) == "smtp.example.com"
    requested["services"]["mail-ingest"]["settings"] = {"capture-host": "mx.example.com"}
    assert host(requested) == "mx.example.com"
    requested["services"]["mail-ingest"] = {"submission": {"enabled": False}}
    assert host(requested) is None


def test_the_route_waits_longer_than_a_call_and_for_ever_for_the_stream() -> None:
    rules = find(render("ha"), "HTTPRoute", "tempinbox-gateway")["spec"]["rules"]
    timeouts = {rule["matches"][0]["path"]["value"]: rule["timeouts"]["request"] for rule in rules}

    assert timeouts == {"/dashboard/api/events": "0s", "/": "75s"}


def _migrations(case: str, values: Values) -> dict[str, tuple[str, str]]:
    """Which schema each migration brings up, and the Secret with its DSN, by the Job's name."""
    made = {}
    for where, pod in pod_templates(render(case, values)):
        if pod["spec"]["containers"][0].get("command") == ["/usr/bin/tempinbox-migrate"]:
            schema = environment(pod).get("TEMPINBOX_SCHEMA", "all")
            volume = next(each for each in pod["spec"]["volumes"] if each["name"] == "database")
            made[where] = (schema, volume["secret"]["secretName"])
    return made


def test_one_database_is_migrated_once() -> None:
    own = {"services": {"inbox": {"database": {"existingSecret": "tempinbox-database"}}}}

    for values in ({}, own):
        assert _migrations("minimal", values) == {
            "Job/tempinbox-migrate": ("all", "tempinbox-database")
        }


def test_every_database_is_migrated() -> None:
    services = {
        "webhook-dispatcher": {"database": {"existingSecret": "webhooks"}},
        "rate-limit": {"database": {"existingSecret": "quota", "existingOwnerSecret": "owner"}},
        "inbox": {"database": {"existingSecret": "mail"}},
        "mail-ingest": {"database": {"existingSecret": "mail"}},
    }

    assert _migrations("minimal", {"services": services}) == {
        "Job/tempinbox-migrate": ("all", "tempinbox-database"),
        "Job/tempinbox-schema-mailbox": ("mailbox", "mail"),
        "Job/tempinbox-schema-quota": ("quota", "owner"),
        "Job/tempinbox-schema-webhooks": ("webhooks", "webhooks"),
    }


def test_one_service_names_the_owner_of_a_database_of_two() -> None:
    services = {
        "inbox": {"database": {"existingSecret": "mail", "existingOwnerSecret": "owner"}},
        "mail-ingest": {"database": {"existingSecret": "mail"}},
    }

    migrations = _migrations("minimal", {"services": services})
    assert migrations["Job/tempinbox-schema-mailbox"] == ("mailbox", "owner")


def test_roles_of_one_database_are_migrated_by_their_owner() -> None:
    roles = {
        name: {"database": {"existingSecret": name, "existingOwnerSecret": "owner"}}
        for name in SERVICES
    }

    for tools in ("owner", ""):
        owner = {"database": {"existingSecret": tools or "owner"}}
        values = {**owner, "tools": {"database": {"existingSecret": tools}}, "services": roles}
        assert _migrations("minimal", values) == {"Job/tempinbox-migrate": ("all", "owner")}


def test_accounts_may_lie_where_the_tools_look_for_them() -> None:
    values = {
        "tools": {"database": {"existingSecret": "accounts"}},
        "services": {"gateway": {"database": {"existingSecret": "accounts"}}},
    }
    alike = {
        "tools": {"database": {"existingSecret": "other"}},
        "defaults": {"database": {"existingSecret": "other"}},
    }

    assert _migrations("minimal", values) == {"Job/tempinbox-migrate": ("all", "accounts")}
    assert _migrations("minimal", alike) == {"Job/tempinbox-migrate": ("all", "other")}


def test_a_role_of_less_rights_is_not_migrated_with() -> None:
    less = {"database": {"existingSecret": "reader", "existingOwnerSecret": "owner"}}
    values = {"tools": {"database": {"existingSecret": "owner"}}, "services": {"inbox": less}}

    assert _migrations("minimal", values) == {"Job/tempinbox-migrate": ("all", "owner")}


def test_names_of_migrations_stay_short_enough() -> None:
    values = {
        "setup": {"hook": False, "job": True},
        "services": {"webhook-dispatcher": {"database": {"existingSecret": "webhooks"}}},
    }

    jobs = of_kind(render("minimal", values, LONG_RELEASE), "Job")
    assert any("-schema-webhooks-" in each["metadata"]["name"] for each in jobs)
    assert all(len(each["metadata"]["name"]) <= 63 for each in jobs)


def _topics_of(objects: list[Object], pod: Object) -> dict[str, Any]:
    """What a pod has mounted as the file of topics, by topic."""
    volume = next(each for each in pod["spec"]["volumes"] if each["name"] == "topics")
    mounted = find(objects, "ConfigMap", volume["configMap"]["name"])
    return {each["name"]: each for each in json.loads(mounted["data"]["topics.json"])["topics"]}


@pytest.mark.parametrize("hook", [True, False])
def test_the_operators_retention_reaches_the_job_and_doctor(hook: bool) -> None:
    kept = {"topics": {"config": {"email.received": {"retention.ms": 604800000}}}}
    objects = render("minimal", {**kept, "setup": {"hook": hook, "job": not hook}})
    pods = {
        where: pod
        for where, pod in pod_templates(objects)
        if where.startswith("Job/tempinbox-topics")
        or where in ("Pod/tempinbox-test-doctor", "CronJob/tempinbox-ctl")
    }

    assert len(pods) == 3
    for pod in pods.values():
        topics = _topics_of(objects, pod)
        assert topics["email.received"]["config"]["retention.ms"] == "604800000"
        assert topics["email.received"]["config"]["segment.ms"] == "64800000"
        assert topics["inbox.created"]["config"]["retention.ms"] == "604800000"
        assert "/etc/tempinbox/topics/topics.json" in pod["spec"]["containers"][0]["args"]


def test_the_operators_retention_reaches_strimzi() -> None:
    kept = {"topics": {"config": {"inbox.created": {"retention.ms": "86400000"}}}}
    topic = find(render("strimzi-cnpg", kept), "KafkaTopic", "staging-1.inbox.created")

    assert topic["spec"]["config"]["retention.ms"] == "86400000"
    assert topic["spec"]["config"]["segment.ms"] == "151200000"


def test_another_retention_is_another_job() -> None:
    def name(days: int) -> str:
        kept = {"topics": {"config": {"email.received": {"retention.ms": days * 86400000}}}}
        jobs = of_kind(render("minimal", {**kept, "setup": {"hook": False, "job": True}}), "Job")
        names: list[str] = [each["metadata"]["name"] for each in jobs]
        return next(each for each in names if each.startswith("tempinbox-topics-"))

    assert name(7) != name(8)

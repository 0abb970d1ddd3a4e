"""The release as a whole: tried without being made, installed, tested, upgraded, removed."""

import itertools
import json
import re
import tempfile
from pathlib import Path

from dev.terminal import Failure, fail, say

from k8s import host_services, installation, layout
from k8s.course import Course
from k8s.installation import CHART, NAMESPACE, RELEASE, SERVICES, Object, attempt, helm, kubectl

_TRIED = "tempinbox-tried"
_OLDER = "older"
_UNKNOWN_KIND = re.compile(r'no matches for kind "(\w+)" in version "([\w.-]+)/(\w+)"')


def dry_run(_: Course) -> str:
    """The API server judges what each file of values renders, as if it were made."""
    installation.make_namespace(_TRIED)
    files = sorted((CHART / "ci").glob("*.values.yaml"))
    objects, refusals = 0, []
    for file in files:
        try:
            objects += _judge(file)
        except Failure as problem:
            refusals.append(str(problem))
    if refusals:
        fail("\n".join(refusals))
    refused = _stock_chart_is_refused()
    kubectl("delete", "namespace", _TRIED, "--wait=false", namespace="default")
    return f"{len(files)} files of values, {objects} objects taken; stock chart: {refused}"


def _judge(file: Path) -> int:
    rendered = helm(
        "template", RELEASE, str(CHART), "-n", _TRIED, "-f", str(file), "--include-crds"
    )
    # A pod is only judged where its account is there.
    documents = re.split(r"^---\n", rendered, flags=re.MULTILINE)
    accounts = [it for it in documents if re.search(r"^kind: ServiceAccount$", it, re.MULTILINE)]
    kubectl("apply", "-f", "-", data="---\n".join(accounts), namespace=_TRIED)
    command = ["kubectl", "-n", _TRIED, "apply", "--dry-run=server", "-f", "-"]
    command += ["--warnings-as-errors", "--validate=strict"]
    done = attempt(*command, data=rendered)
    unknown = set(_UNKNOWN_KIND.findall(done.stderr))
    if unknown:
        for kind, group, version in sorted(unknown):
            _define(kind, group, version)
        done = attempt(*command, data=rendered)
    if done.returncode != 0:
        fail(f"{file.name} is refused: {done.stderr[-1500:]}")
    return len(done.stdout.splitlines())


def _define(kind: str, group: str, version: str) -> None:
    """A kind of an operator that is not here, open to any field: fields are `./dev test deploy`'s
    to judge.
    """
    plural = f"{kind.lower()}s" if not kind.endswith("y") else f"{kind.lower()[:-1]}ies"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    annotations = {}
    if group.endswith(".k8s.io"):
        annotations = {"api-approved.kubernetes.io": "unapproved, a stub for a rehearsal"}
    described = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}", "annotations": annotations},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }
    kubectl("apply", "-f", "-", data=json.dumps(described), namespace="default")
    name = f"crd/{plural}.{group}"
    kubectl("wait", "--for=condition=Established", name, "--timeout=30s", namespace="default")


def _stock_chart_is_refused() -> str:
    """Checks that what helm makes for a beginner breaks the profile: the namespace would notice."""
    with tempfile.TemporaryDirectory() as folder:
        helm("create", f"{folder}/stock")
        rendered = helm("template", "stock", f"{folder}/stock", "-n", _TRIED)
    command = ["kubectl", "-n", _TRIED, "apply", "--dry-run=server", "-f", "-"]
    done = attempt(*command, data=rendered)
    if done.returncode == 0 or "violates PodSecurity" not in done.stderr:
        fail(f"the stock chart was taken in a restricted namespace: {done.stderr[-500:]}")
    return "refused"


def install(course: Course) -> str:
    """The older release's images where an upgrade follows; then what the load needs."""
    if _is_deployed():
        return _go_on(course)
    # The profile of 1.34 and later refuses what one sabotage does, a probe of another host.
    follows = course.sabotage == "readiness-follows"
    installation.make_namespace(NAMESPACE, "v1.33" if follows else "latest")
    installation.make_secrets()
    _allow_rehearsal()
    older = _images(_OLDER) | installation.without(course.unknown)
    course.installed.upgrade(older, seconds=420)
    if course.sabotage == "fixed-rpc":
        course.installed.upgrade(_fixed_addresses())
    begin_load(course)
    image = installation.pods("gateway")[0]["spec"]["containers"][0]["image"]
    return f"{image.rpartition('/')[2]}; {_shown_pods()}"


def _is_deployed() -> bool:
    done = attempt("helm", "-n", NAMESPACE, "status", RELEASE, "-o", "json")
    return done.returncode == 0 and json.loads(done.stdout)["info"]["status"] == "deployed"


def _go_on(course: Course) -> str:
    """Goes on with a release that an earlier run kept: its Secrets and images stay, chart and
    values are those of this run.
    """
    kept = json.loads(helm("get", "values", RELEASE, "-o", "json"))
    over = _images(kept["image"]["tag"])
    if kept["image"]["tag"] == _OLDER:
        over |= installation.without(course.unknown)
    course.installed.upgrade(over, seconds=420)
    if course.sabotage == "fixed-rpc":
        course.installed.upgrade(_fixed_addresses())
    installation.wait_rolled_out()
    begin_load(course)
    return f"goes on with revision {course.installed.revision()}; {_shown_pods()}"


def begin_load(course: Course) -> None:
    """A key for the account, a plan that bears the load, and the load itself."""
    plan = ["--requests-per-day", "0", "--burst-per-second", "0", "--live-inboxes", "1000000"]
    installation.operate("plan", "set", "premium", *plan)
    account = installation.operate("account", "show", installation.EMAIL)
    made = installation.operate("key", "create", account["accountId"], "--label", "rehearsal")
    installation.put_secret("smoke", {"api-key": made["key"] + "\n"})
    course.load.key = made["key"]
    if course.with_load:
        course.load.start(made["key"])
        course.load.wait_progress(60)


def _images(tag: str) -> Object:
    return {"image": {"tag": tag}}


def _shown_pods() -> str:
    counts = {service: len(installation.ready(service)) for service in SERVICES}
    return ", ".join(f"{service} {count}" for service, count in counts.items())


def _fixed_addresses() -> Object:
    addresses = [f"{pod['status']['podIP']}:9101" for pod in installation.ready("inbox")]
    settings = {"inbox-rpc": ",".join(addresses)}
    return {"services": {"gateway": {"settings": settings}}}


def _allow_rehearsal() -> None:
    """Policies add up: pods may be scraped from beside the nodes, and send traces there."""
    component = "app.kubernetes.io/component"
    # Not the pods of hooks: what one policy chooses is closed but for what some policy opens.
    services = [{"key": component, "operator": "In", "values": SERVICES}]
    host = [{"ipBlock": {"cidr": f"{layout.HOST_ADDRESS}/32"}}]
    described = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "rehearsal", "namespace": NAMESPACE},
        "spec": {
            "podSelector": {"matchExpressions": services},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": host, "ports": [{"port": 9090, "protocol": "TCP"}]}],
            "egress": [
                {
                    "to": host,
                    "ports": [
                        {"port": port, "protocol": "TCP"}
                        for port in (installation.OTLP_PORT, installation.WEBHOOK_PORT)
                    ],
                }
            ],
        },
    }
    kubectl("apply", "-f", "-", data=json.dumps(described))


def test(course: Course) -> str:
    """`helm test`: tempinboxctl doctor and smoke as pods."""
    course.installed.upgrade({"test": {"smoke": {"existingSecret": "smoke"}}})
    done = attempt("helm", "-n", NAMESPACE, "test", RELEASE, "--logs", "--timeout=180s")
    if done.returncode != 0:
        fail(f"helm test: {(done.stdout + done.stderr)[-2500:]}")
    passed = done.stdout.count("Phase:          Succeeded")
    return f"{passed} tests passed"


def upgrade(course: Course) -> str:
    """Upgrades to this checkout's images, migrations first."""
    before = _applied()
    newer = _images(installation.version()) | installation.with_all(course.unknown)
    course.installed.upgrade(newer, seconds=420)
    _all_of(installation.version())
    added = _applied() - before
    older = "an older release" if course.older else "the same programs in other images"
    return f"from {older}; {added} migrations applied; revision {course.installed.revision()}"


def _applied() -> int:
    count = "SELECT count(*) FROM public.tempinbox_migrations"
    try:
        return int(host_services.database().query(count, "tempinbox"))
    except Exception as problem:  # noqa: BLE001 - another release may call the table otherwise
        say(f"  {problem}")
        return 0


def _serving() -> list[Object]:
    """The pods of services, without those of hooks."""
    return list(itertools.chain.from_iterable(map(installation.pods, SERVICES)))


def _all_of(tag: str) -> None:
    """The pods of services; one of a hook that failed stays as it is."""
    for pod in _serving():
        for container in pod["spec"]["containers"]:
            if not container["image"].endswith(f":{tag}"):
                fail(f"{installation.name_of(pod)} is still {container['image']}, not {tag}")


def rollback(course: Course) -> str:
    """`helm rollback` to the older images, then `helm rollback` forward again."""
    now = course.installed.revision()
    older = _revision_of(_OLDER)
    helm("rollback", RELEASE, str(older), "--wait", "--timeout=420s")
    installation.wait_rolled_out()
    _all_of(_OLDER)
    course.load.wait_progress()
    helm("rollback", RELEASE, str(now), "--wait", "--timeout=420s")
    installation.wait_rolled_out()
    _all_of(installation.version())
    return f"to revision {older} and back to that of {now}"


def _revision_of(tag: str) -> int:
    for it in reversed(json.loads(helm("history", RELEASE, "-o", "json"))):
        given = json.loads(
            helm("get", "values", RELEASE, "--revision", str(it["revision"]), "-o", "json")
        )
        if given["image"]["tag"] == tag and it["status"] != "failed":
            return int(it["revision"])
    raise Failure(f"no revision has the images {tag}: run the step install before")


def failing_migration(course: Course) -> str:
    """The hook fails, so no pod is replaced; the next upgrade goes through."""
    before = {installation.name_of(pod) for pod in _serving()}
    installation.put_secret("broken", {"uri": host_services.dsn("wrong")})
    over = {
        "tools": {"database": {"existingSecret": "broken"}},
        "setup": {"backoffLimit": 0},
        "defaults": {"podAnnotations": {"rehearsal": "would replace every pod"}},
    }
    expected = installation.laid_over(course.installed.given, over)
    done = course.installed.try_upgrade(expected, seconds=120)
    if done.returncode == 0:
        fail("an upgrade with a failing migration went through")
    after = {installation.name_of(pod) for pod in _serving()}
    if before != after:
        fail(f"pods were replaced though the migration failed: {sorted(after - before)}")
    course.load.wait_progress()
    course.installed.upgrade()
    kubectl("delete", "secret", "broken")
    return f"upgrade refused, {len(after)} pods unchanged, the next upgrade taken"


def encrypt_calls(course: Course) -> str:
    """Encrypts calls after an older release without TLS between services. Calls fail meanwhile, as
    docs say: a port is either plain or TLS.
    """
    given = course.installed.given["rpc"]["tls"]["existingSecret"]
    if given:
        return "on since the install"
    course.installed.upgrade({"rpc": {"tls": {"existingSecret": "rpc-tls"}}})
    course.load.wait_progress()
    return "switched on"


def uninstall(course: Course) -> str:
    """Removes the release; only what the operator made is left."""
    course.load.stop()
    helm("uninstall", RELEASE, "--wait", "--timeout=180s")
    labels = f"app.kubernetes.io/instance={RELEASE}"
    kinds = "all,configmaps,secrets,serviceaccounts,networkpolicies,pdb,hpa"
    installation.wait_for(
        lambda: not installation.get(kinds, "-l", labels)["items"], 60, "no object is left"
    )
    kubectl("delete", "namespace", NAMESPACE, "--timeout=120s", namespace="default")
    return "no object of the release, no namespace"

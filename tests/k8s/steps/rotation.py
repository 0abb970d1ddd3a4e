"""Every Secret replaced while the release serves, as docs/operations/secrets.md says."""

import smtplib
import ssl
import time

from dev.terminal import fail

from k8s import host_services, installation, scraping
from k8s.course import Course
from k8s.installation import DOMAIN, put_secret, wait_for

_SECOND_ROLE = "tempinbox_b"
_ARRIVES_SECONDS = 120.0  # the kubelet looks every 10 s, and caches what it saw


def rotate(course: Course) -> str:
    """Three rounds, since some Secrets are changed in steps; each ends when every pod has it."""
    started = time.monotonic()
    old_token = installation.secret("rpc-token", "token").strip()
    old_admin = installation.secret("admin-token", "token").strip()
    old_key = installation.secret("master-keys", "master-keys").strip()
    token, admin = installation.new_token(), installation.new_token()
    key = installation.new_master_key(f"k{int(time.time())}")
    before = _reloads()
    dsn = _make_second_role()
    put_secret("database", {"uri": dsn})
    password = installation.new_token()
    host_services.change_kafka_password(password)
    put_secret("kafka-user", {"password": password})
    put_secret("rpc-token", {"token": f"{old_token}\n{token}\n"})
    put_secret("admin-token", {"token": f"{old_admin}\n{admin}\n"})
    put_secret("master-keys", {"master-keys": f"{old_key}\n{key}\n"})
    put_secret("rpc-tls", installation.issue("rpc", *installation.rpc_names()), "kubernetes.io/tls")
    mail = installation.issue("mail", f"mx.{DOMAIN}")
    put_secret("mail-tls", mail, "kubernetes.io/tls")
    _wait_reloaded(before, "database-file", "rpc-token-file", "rpc-tls-certificate-file")
    _wait_key(key, 2)
    wait_for(lambda: _shown_certificate(course) == mail["tls.crt"], 60, "the new STARTTLS")
    before = _reloads()
    put_secret("rpc-token", {"token": f"{token}\n{old_token}\n"})
    put_secret("master-keys", {"master-keys": f"{key}\n{old_key}\n"})
    _wait_reloaded(before, "rpc-token-file")
    _wait_key(key, 1)
    resealed = installation.operate("secrets", "reseal")
    before = _reloads()
    put_secret("rpc-token", {"token": f"{token}\n"})
    put_secret("admin-token", {"token": f"{admin}\n"})
    _wait_reloaded(before, "rpc-token-file")
    _retire_first_role()
    course.load.wait_progress()
    if resealed["unopened"] or resealed["remaining"]:
        fail(f"webhook secrets under another key: {resealed}")
    return f"8 Secrets in {time.monotonic() - started:.0f} s; {resealed['resealed']} resealed"


# Which pods have read what.


def _reloads() -> dict[tuple[str, str], float]:
    """`tempinbox_file_reloads_total` by pod and setting."""
    found: dict[tuple[str, str], float] = {}
    for pod in installation.ready_all():
        for line in scraping.lines(pod):
            if line.startswith("tempinbox_file_reloads_total{"):
                setting = line.partition('setting="')[2].partition('"')[0]
                key = (installation.name_of(pod), setting)
                found[key] = found.get(key, 0.0) + float(line.split()[-1])
    return found


def _wait_reloaded(before: dict[tuple[str, str], float], *settings: str) -> None:
    expected = {key for key in before if key[1] in settings}
    missing = set(settings) - {setting for _, setting in expected}
    if missing:
        fail(f"no pod has {', '.join(sorted(missing))}: nothing would follow a rotation")

    def have_all() -> bool:
        now = _reloads()
        return all(now.get(key, 0.0) > before[key] for key in expected)

    wait_for(have_all, _ARRIVES_SECONDS, f"every pod has read {', '.join(settings)}")


def _wait_key(key: str, position: int) -> None:
    name = key.partition(":")[0]
    pods = [*installation.ready("gateway"), *installation.ready("webhook-dispatcher")]

    def have_all() -> bool:
        label = f'key="{name}"'
        return all(
            scraping.total(pod, "tempinbox_master_key_position", label) == position for pod in pods
        )

    wait_for(have_all, _ARRIVES_SECONDS, f"the new master key is number {position} in every pod")


def _shown_certificate(course: Course) -> str:
    """Returns the certificate that mail-ingest shows after STARTTLS, by one of its pods."""
    host, _, port = course.load.smtp.rpartition(":")
    tls = ssl.create_default_context()
    tls.check_hostname = False
    tls.verify_mode = ssl.CERT_NONE  # looked at, not trusted
    with smtplib.SMTP(host, int(port), timeout=20) as session:
        session.starttls(context=tls)
        assert isinstance(session.sock, ssl.SSLSocket)
        shown = session.sock.getpeercert(binary_form=True)
    return ssl.DER_cert_to_PEM_cert(shown or b"")


# PostgreSQL: a second role, so that no connection is ever refused.


def _make_second_role() -> str:
    password = installation.new_token()
    first = "tempinbox"
    host_services.database().query(
        f"DROP ROLE IF EXISTS {_SECOND_ROLE}; "
        f"CREATE ROLE {_SECOND_ROLE} LOGIN PASSWORD '{password}' IN ROLE {first}; "
        f"ALTER ROLE {_SECOND_ROLE} SET role TO {first}"
    )
    return host_services.dsn().replace(
        f"//{first}:{host_services.known_secrets().postgres}@", f"//{_SECOND_ROLE}:{password}@"
    )


def _retire_first_role() -> None:
    """Its password is another one, and what still uses the old one is cut off: nothing may."""
    host_services.change_database_password(installation.new_token())
    connections = (
        "FROM pg_stat_activity WHERE usename = 'tempinbox' AND client_addr << '10.244.0.0/16'"
    )
    count = f"SELECT count(*) {connections}"
    wait_for(
        lambda: host_services.database().query(count) == "0",
        90,
        "no pod has a connection of the first role",
    )

"""The variables `./dev env` prints: everything a client, a test or a bench needs to know of a
running suite.
"""

import shlex

from dev import services
from dev.services import Replica
from dev.suite import Suite
from dev.terminal import fail

_DASHBOARD_PATH = "/dashboard"


def variables(suite: Suite) -> dict[str, str]:
    """All of them; needs a running suite."""
    known = suite.record
    pids = {name: child["pid"] or "" for name, child in suite.supervision.status().items()}
    replicas = suite.replicas
    account = known.account or fail("the suite has not come up completely: ./dev up")
    api = services.api_url(replicas)
    found = {
        "API": api,
        "BASE_URL": api,  # what the clients read
        "API_KEY": account.api_key,
        "ACCOUNT": account.account_id,
        "SMTP": services.smtp_address(replicas),
        "KAFKA": suite.cluster.brokers,
        "DATABASE": suite.server.dsn(),
        "DOMAIN": known.domain,
        "RPC_TOKEN": suite.context.keys.rpc_token.read_text(encoding="ascii").split()[0],
        "DASHBOARD": api + _DASHBOARD_PATH,
        "DASHBOARD_EMAIL": account.email,
        "DASHBOARD_PASSWORD": account.password,
        "KAFKA_PID": str(pids.get("kafka-1", "")),
        "POSTGRES_PID": str(pids.get("postgres", "")),
    }
    if submission := services.submission_of(replicas):
        found |= {
            "SUBMISSION_HOST": services.SUBMISSION_HOST,
            "SUBMISSION_PORT": str(submission.clear),
            "SUBMISSION_STARTTLS_PORT": str(submission.starttls),
            "SUBMISSION_TLS_PORT": str(submission.tls),
            "SUBMISSION_CA": str(suite.context.keys.certificate),
        }
        # A suite for tests has none: they make captures of their own.
        if known.capture:
            found |= {
                "SUBMISSION_USER": known.capture.user,
                "SUBMISSION_PASSWORD": known.capture.password,
            }
    if known.starttls:
        # It signed itself, so it is its own authority.
        found["SMTP_CA"] = str(suite.context.keys.certificate)
    for replica in replicas:
        found |= _of_replica(replica, str(pids.get(replica.name, "")))
    return {f"TEMPINBOX_{name}": value for name, value in found.items()}


def _of_replica(replica: Replica, pid: str) -> dict[str, str]:
    prefix = f"{replica.service.upper().replace('-', '_')}_{replica.number}"
    address = {
        "gateway": ("URL", f"http://{replica.listener}"),
        "mail-ingest": ("URL", f"smtp://{replica.listener}"),
    }.get(replica.service, ("RPC", replica.listener))
    return {
        f"{prefix}_PID": pid,
        f"{prefix}_ADMIN": replica.admin,
        f"{prefix}_{address[0]}": address[1],
    }


def as_exports(found: dict[str, str]) -> str:
    """Returns the lines for `eval "$(./dev env)"`."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in found.items())

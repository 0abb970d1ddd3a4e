"""Catch-alls: inboxes for all names of a subdomain that one account holds."""

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from harness import Account, MailServer, SmtpSession, Suite, eventually, outcome, queued_id

_MESSAGE = b"From: a@sender.example\r\nSubject: hi\r\n\r\nhi\r\n"
_UNKNOWN = "550 5.1.1 No such mailbox here"
_TAKEN = "250 2.1.5 Recipient ok"


def _name() -> str:
    return "t" + uuid.uuid4().hex[:12]


def _catch_all(account: Account, domain: str) -> dict[str, Any]:
    return account.api.new_inbox(localPart="*", domain=domain)


def _send(server: str, *recipients: str) -> str:
    """Sends a mail; returns its id."""
    with SmtpSession(server) as session:
        assert session.address(*recipients) == [_TAKEN] * len(recipients)
        return queued_id(session.data(_MESSAGE))


def _inbox_of(account: Account, email_id: str) -> str:
    return str(account.api.get(f"/v1/emails/{email_id}")["inboxId"])


@pytest.fixture
def subdomain(suite: Suite) -> str:
    """A name that nobody holds."""
    return f"{_name()}.{suite['DOMAIN']}"


@pytest.fixture
def second_server(suite: Suite) -> Iterator[str]:
    """Another replica that takes mail."""
    with MailServer(suite) as server:
        yield server.address


def test_a_thousand_invented_names_arrive_as_given(
    suite: Suite, account: Account, subdomain: str
) -> None:
    inbox = _catch_all(account, subdomain)
    assert inbox["emailAddress"] == f"*@{subdomain}"
    given = [f"Sign-Up{number}+Tag.{number}@{subdomain}" for number in range(998)]
    given += [f"*@{subdomain}", f'"o dd"@{subdomain.upper()}']

    with SmtpSession(suite["SMTP"]) as session:
        for recipient in given:
            assert session.address(recipient) == [_TAKEN]
            queued_id(session.data(_MESSAGE))

    found: list[str] = []
    path = f"/v1/inboxes/{inbox['inboxId']}/emails"
    page = account.api.get(path, limit=100, order="asc")
    while True:
        for email in page["emails"]:
            assert len(email["recipients"]) == 1
            found += email["recipients"]
        if not page["nextCursor"]:
            break
        page = account.api.get(path, limit=100, order="asc", cursor=page["nextCursor"])
    assert found == given
    waited = account.api.get(
        f"/v1/inboxes/{inbox['inboxId']}/emails/wait", recipient=given[7], timeoutSeconds=1
    )
    assert waited["email"]["recipients"] == [given[7]]


def test_a_random_subdomain_is_made_once_by_a_repeated_request(account: Account) -> None:
    headers = {"Idempotency-Key": uuid.uuid4().hex}
    first = account.api.call("POST", "/v1/inboxes", json={"localPart": "*"}, headers=headers)
    again = account.api.call("POST", "/v1/inboxes", json={"localPart": "*"}, headers=headers)

    assert (first.status_code, again.json()) == (201, first.json())
    held = first.json()["emailAddress"].removeprefix("*@")
    (shown,) = (it for it in account.api.get("/v1/domains")["domains"] if it["isSubdomain"])
    assert shown == {
        "domain": held,
        "isDefault": False,
        "takesSubdomains": False,
        "isSubdomain": True,
    }


def test_a_named_inbox_gets_its_mail_at_once_and_leaves_it_to_the_catch_all(
    suite: Suite, account: Account, subdomain: str, second_server: str
) -> None:
    servers = [suite["SMTP"], second_server]
    everything = _catch_all(account, subdomain)
    address = f"ann@{subdomain}"
    for server in servers:
        assert _inbox_of(account, _send(server, address)) == everything["inboxId"]

    for _ in range(2):
        named = account.api.new_inbox(localPart="ann", domain=subdomain)
        for server in reversed(servers):
            assert _inbox_of(account, _send(server, address)) == named["inboxId"]
        account.api.delete(f"/v1/inboxes/{named['inboxId']}")
        for server in servers:
            assert _inbox_of(account, _send(server, address)) == everything["inboxId"]

    both = account.api.new_inbox(localPart="bob", domain=subdomain)
    _send(suite["SMTP"], f"x@{subdomain}", f"bob@{subdomain}", f"Y@{subdomain}")
    (mine,) = account.api.get(f"/v1/inboxes/{both['inboxId']}/emails")["emails"]
    newest = account.api.get(f"/v1/inboxes/{everything['inboxId']}/emails")["emails"][0]
    assert mine["recipients"] == [f"bob@{subdomain}"]
    assert newest["recipients"] == [f"x@{subdomain}", f"Y@{subdomain}"]


def test_an_operator_reads_postmaster_of_a_subdomain_and_nobody_reads_admin(
    suite: Suite, account: Account, other_account: Account
) -> None:
    domain = f"{_name()}.example"
    suite.operate("domain", "add", domain, "--operator", other_account.account_id)
    suite.operate("domain", "set", domain, "--subdomains", "on")
    _catch_all(account, f"team.{domain}")

    def is_known() -> bool:
        with SmtpSession(suite["SMTP"]) as session:
            return session.address(f"x@team.{domain}") == [_TAKEN]

    eventually(is_known, "the domain is known to the mail server", seconds=15)
    with SmtpSession(suite["SMTP"]) as session:
        answers = session.address(
            *(f"{name}@team.{domain}" for name in ("admin", "Hostmaster", "ssl", "root")),
            f"x@other.{domain}",
        )
    assert answers == [_UNKNOWN] * 5
    sent = _send(suite["SMTP"], f"postmaster@team.{domain}")
    assert other_account.api.get(f"/v1/emails/{sent}")["recipients"] == [
        f"postmaster@team.{domain}"
    ]


def test_an_ended_catch_all_is_unknown_until_its_holder_takes_it_again(
    suite: Suite, account: Account, other_account: Account, subdomain: str
) -> None:
    first = _catch_all(account, subdomain)
    body = {"localPart": "*", "domain": subdomain}
    assert outcome(other_account.api.call("POST", "/v1/inboxes", json=body)) == (
        409,
        "address_taken",
    )
    inside = {"localPart": "ann", "domain": subdomain}
    assert outcome(other_account.api.call("POST", "/v1/inboxes", json=inside)) == (
        400,
        "invalid_field",
    )
    account.api.delete(f"/v1/inboxes/{first['inboxId']}")
    with SmtpSession(suite["SMTP"]) as session:
        assert session.address(f"ann@{subdomain}") == [_UNKNOWN]
    assert all(not it["isSubdomain"] for it in account.api.get("/v1/domains")["domains"])

    assert outcome(other_account.api.call("POST", "/v1/inboxes", json=body))[0] == 409
    again = _catch_all(account, subdomain)
    assert _inbox_of(account, _send(suite["SMTP"], f"ann@{subdomain}")) == again["inboxId"]


@pytest.mark.parametrize("label", ["mta-sts", "xn--a", "a" * 41, "ab", "4th", "a--b", "www"])
def test_a_name_that_is_no_subdomain_is_refused(suite: Suite, account: Account, label: str) -> None:
    body = {"localPart": "*", "domain": f"{label}.{suite['DOMAIN']}"}
    refused = account.api.call("POST", "/v1/inboxes", json=body)
    assert outcome(refused) == (400, "invalid_field")
    assert refused.json()["message"].startswith("domain ")


def test_a_catch_all_is_below_a_domain_that_takes_subdomains(
    suite: Suite, account: Account
) -> None:
    closed = f"{_name()}.example"
    suite.operate("domain", "add", closed)
    for domain in (suite["DOMAIN"], f"team.{closed}", "team.elsewhere.example"):
        body = {"localPart": "*", "domain": domain}
        assert outcome(account.api.call("POST", "/v1/inboxes", json=body)) == (
            400,
            "invalid_field",
        )


def test_of_fifty_who_ask_for_a_subdomain_at_once_one_holds_it(
    suite: Suite, account: Account, other_account: Account, subdomain: str
) -> None:
    body = {"localPart": "*", "domain": subdomain}

    def ask(number: int) -> Any:
        asking = (account, other_account)[number % 2]
        return asking.api.call("POST", "/v1/inboxes", json=body)

    with ThreadPoolExecutor(50) as pool:
        outcomes = [outcome(answer) for answer in pool.map(ask, range(50))]

    assert sorted(outcomes) == [(201, "")] + [(409, "address_taken")] * 49
    assert _send(suite["SMTP"], f"ann@{subdomain}")


def test_a_plan_has_a_number_of_subdomains(suite: Suite) -> None:
    account = Account.make(suite, plan="pro")
    assert account.api.get("/v1/account")["limits"]["catchAlls"] == 1
    first = account.api.new_inbox(localPart="*")

    refused = account.api.call("POST", "/v1/inboxes", json={"localPart": "*"})
    account.api.delete(f"/v1/inboxes/{first['inboxId']}")

    assert outcome(refused) == (403, "plan_required")
    assert account.api.new_inbox(localPart="*")["emailAddress"] != first["emailAddress"]


def test_a_batch_makes_a_catch_all_and_names_in_its_subdomain(
    account: Account, subdomain: str
) -> None:
    body = {
        "inboxes": [
            {"localPart": "*", "domain": subdomain},
            {"localPart": "ann", "domain": subdomain},
            {"localPart": "*", "domain": subdomain},
        ]
    }
    results = account.api.post("/v1/inboxes:batch", body)["results"]

    assert [it["inbox"] and it["inbox"]["emailAddress"] for it in results] == [
        f"*@{subdomain}",
        f"ann@{subdomain}",
        None,
    ]
    assert results[2]["error"]["code"] == "address_taken"

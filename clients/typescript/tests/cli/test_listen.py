"""`listen`: each event becomes a POST, as the webhook would be."""

import base64
import contextlib
import hashlib
import hmac
import itertools
import json
import threading
import uuid

import pytest
from cli import Account, Cli, Inbox, Post, Running, Target, control, send_mail
from service import Call, Reply, Service, free_port

_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105 - of no webhook
_GONE = Reply(404, {"statusCode": 404, "error": "Not Found", "message": "gone"})


@pytest.fixture
def user(cli: Cli, account: Account) -> Cli:
    """The program for an account whose events are the test's alone."""
    return cli.with_(TEMPINBOX_API_KEY=account.key)


def _new_inbox(user: Cli, *more: str) -> Inbox:
    made = user.json("create", *more)
    return Inbox(made["inboxId"], made["emailAddress"])


def _listen(target: str, *more: str) -> tuple[str, ...]:
    scope = more if {"--inbox", "--tag", "--all"} & set(more) else ("--all", *more)
    return ("listen", "--forward-to", target, "--hold", "5", *scope)


def _begin(running: Running) -> str:
    """What it says once its place in the feed is taken: what comes from then on is forwarded."""
    said = running.said()
    assert said.startswith("forwarding "), said
    return said


def _subject(post: Post) -> str:
    return str(json.loads(post.body)["data"]["subject"])


def _id(post: Post) -> str:
    return post.headers["webhook-id"]


def _is_signed(post: Post) -> bool:
    """Checks the signature by the text of Standard Webhooks alone."""
    key = base64.b64decode(_SECRET.removeprefix("whsec_"))
    head = f"{post.headers['webhook-id']}.{post.headers['webhook-timestamp']}.".encode()
    digest = hmac.new(key, head + post.body, hashlib.sha256).digest()
    return post.headers["webhook-signature"] == "v1," + base64.b64encode(digest).decode()


def test_each_event_is_forwarded_as_its_webhook_would_be(user: Cli) -> None:
    with (
        Target() as target,
        user.start(*_listen(target.url, "--secret", _SECRET)) as running,
    ):
        assert _begin(running) == f"forwarding events of the account to {target.url}, signed"
        inbox = _new_inbox(user)
        made = target.post()
        send_mail(inbox.address)
        mail = target.post()
        user.text("rm", inbox.inbox_id)
        ended = target.post()
        lines = [running.line() for _ in range(3)]
        email_id = _id(mail)
        email = json.loads(mail.body)

    assert [json.loads(post.body)["event"] for post in (made, mail, ended)] == [
        "inbox.created",
        "email.received",
        "inbox.expired",
    ]
    assert email == {
        "event": "email.received",
        "timestamp": email["timestamp"],
        "data": {
            "emailId": email_id,
            "inboxId": inbox.inbox_id,
            "from": "robot@sender.example",
            "subject": "Your code",
        },
    }
    assert all(post.headers["content-type"] == "application/json" for post in (made, mail, ended))
    assert all(post.headers["webhook-attempt"] == "1" for post in (made, mail, ended))
    assert all(_is_signed(post) for post in (made, mail, ended))
    assert "  email.received  200  " in lines[1]
    assert lines[1].endswith('robot@sender.example  "Your code"')
    assert lines[2].endswith(inbox.address)


def test_after_it_was_killed_it_forwards_the_rest_exactly_once(user: Cli) -> None:
    inbox = _new_inbox(user)
    count = 9
    posts = []
    with Target() as target:
        words = _listen(target.url, "--inbox", inbox.inbox_id)
        for round_ in range(3):
            with user.start(*words) as running:
                assert ("where the last run ended" in _begin(running)) == (round_ > 0)
                for number in range(2):
                    send_mail(inbox.address, subject=f"Mail {3 * round_ + number}")
                    posts.append(target.post())
                    running.line()
                running.kill()
            # This one comes while nobody listens.
            send_mail(inbox.address, subject=f"Mail {3 * round_ + 2}")
            with user.start(*words) as running:
                posts.append(target.post())
                running.line()
                running.kill()
        assert target.posts.empty()

    assert [_subject(post) for post in posts] == [f"Mail {number}" for number in range(count)]
    assert len({_id(post) for post in posts}) == count


def test_under_kills_and_failures_all_come_in_order_and_only_the_last_repeats(
    user: Cli, tag: str
) -> None:
    """Of inboxes with a tag, with a target that refuses each fifth request."""
    count = 12
    inbox = _new_inbox(user, "--tag", tag)
    other = _new_inbox(user)
    with Target() as target:
        words = _listen(target.url, "--tag", tag, "--types", "email.received")
        with user.start(*words) as running:
            _begin(running)
        for number in range(count):
            send_mail(inbox.address, subject=f"Mail {number}")
            send_mail(other.address, subject="Not of the tag")
        for number in range(5 * count):
            target.plan.put(500 if number % 5 == 4 else 200)
        posts: list[Post] = []
        delivered: set[str] = set()
        while len(delivered) < count:
            with user.start(*words) as running:
                for _ in range(3):
                    post = target.post()
                    posts.append(post)
                    if len(posts) % 5:
                        delivered.add(_id(post))
                    if len(delivered) == count:
                        break
                running.kill()

    sent = [_subject(post) for post in posts]
    once = list(dict.fromkeys(sent))
    assert once == [f"Mail {number}" for number in range(count)]
    for before, after in itertools.pairwise(sent):
        # The next one, or once more what was in hand.
        assert after in once[once.index(before) :][:2]


def test_killed_while_the_target_thinks_it_repeats_under_the_same_id(user: Cli) -> None:
    inbox = _new_inbox(user)
    with Target() as target:
        words = _listen(target.url, "--inbox", inbox.inbox_id)
        hangs = threading.Event()
        target.plan.put(hangs)
        with user.start(*words) as running:
            _begin(running)
            send_mail(inbox.address)
            first = target.post()
            running.kill()
        hangs.set()
        with user.start(*words) as running:
            second = target.post()
            running.line()
        assert target.posts.empty()

    assert _id(first) == _id(second)
    assert first.body == second.body
    assert "webhook-signature" not in first.headers


def test_a_target_that_fails_is_tried_again_and_said_so(user: Cli) -> None:
    inbox = _new_inbox(user)
    with Target() as target:
        target.plan.put(500)
        target.plan.put(503)
        with user.start(*_listen(target.url, "--json")) as running:
            _begin(running)
            send_mail(inbox.address, subject="First")
            first = [json.loads(running.line()) for _ in range(3)]
            send_mail(inbox.address, subject="Second")
            lines = [*first, json.loads(running.line())]
        posts = [target.post() for _ in range(4)]

    assert [line["statusCode"] for line in lines] == [500, 503, 200, 200]
    assert [line["attempt"] for line in lines] == [1, 2, 3, 1]
    assert [line["isDelivered"] for line in lines] == [False, False, True, True]
    assert [line["nextAttemptInSeconds"] for line in lines] == [1, 2, None, None]
    assert [line["eventId"] for line in lines] == [_id(post) for post in posts]
    assert {line["event"] for line in lines} == {"email.received"}
    assert {line["inboxId"] for line in lines} == {inbox.inbox_id}
    assert [post.headers["webhook-attempt"] for post in posts] == ["1", "2", "3", "1"]
    assert len({_id(post) for post in posts}) == 2


def test_it_gives_up_where_it_was_told_to_or_the_target_is_gone(user: Cli) -> None:
    nobody = f"http://127.0.0.1:{free_port()}/"
    with user.start(*_listen(nobody)) as running:
        _begin(running)
    with Target() as target:
        with user.start(*_listen(target.url)) as running:
            _begin(running)
        inbox = _new_inbox(user)

        tired = user.fails(7, *_listen(nobody, "--max-attempts", "2"))
        target.plan.put(410)
        gone = user.fails(7, *_listen(target.url))
        made = target.post()

        with user.start(*_listen(target.url)) as running:
            assert _id(target.post()) == _id(made)

    assert json.loads(made.body)["data"]["inboxId"] == inbox.inbox_id
    assert "did not take the event" in tired
    assert "in 2 attempts" in tired
    assert "410 Gone" in gone


def test_it_begins_where_it_is_told_to(user: Cli) -> None:
    with Target() as target:
        with user.start(*_listen(target.url)) as running:
            _begin(running)
        inbox = _new_inbox(user)
        send_mail(inbox.address, subject="Before")
        user.text("wait", inbox.address)

        mails = _listen(target.url, "--types", "email.received", "--inbox", inbox.inbox_id)
        for begin in (("--after", "earliest"), ("--since", "10m"), ("--since", "72h")):
            with user.start(*mails, *begin):
                assert _subject(target.post()) == "Before"
        with user.start(*mails, "--after", "latest") as running:
            _begin(running)
            send_mail(inbox.address, subject="After")
            assert _subject(target.post()) == "After"
            running.line()
        # What was passed over by `latest` stays passed over.
        with user.start(*mails) as running:
            assert "where the last run ended" in _begin(running)
            send_mail(inbox.address, subject="Last")
            assert _subject(target.post()) == "Last"

    both = user.fails(2, *mails, "--after", "latest", "--since", "10m")
    assert "--since and --after" in both


def test_types_inboxes_and_tags_choose_what_is_forwarded(user: Cli, tag: str) -> None:
    ours, theirs = _new_inbox(user, "--tag", tag), _new_inbox(user)
    with Target() as by_type, Target() as by_inbox, Target() as by_tag:
        runs = (
            _listen(by_type.url, "--all", "--types", "inbox.expired"),
            _listen(by_inbox.url, "--inbox", theirs.address),
            _listen(by_tag.url, "--tag", tag),
        )
        with contextlib.ExitStack() as stack:
            for words in runs:
                _begin(stack.enter_context(user.start(*words)))
            send_mail(theirs.address, subject="Theirs")
            send_mail(ours.address, subject="Ours")
            assert _subject(by_inbox.post()) == "Theirs"
            assert _subject(by_tag.post()) == "Ours"
            user.text("rm", ours.inbox_id)
            for target in (by_type, by_tag):
                data = json.loads(target.post().body)["data"]
                assert data["emailAddress"] == ours.address
        assert by_type.posts.empty()
        assert by_inbox.posts.empty()

    wrong = user.fails(2, *_listen("http://a", "--types", "email.sent"))
    assert "email.received, inbox.created, inbox.expired" in wrong
    assert "one of --inbox" in user.fails(2, "listen", "--forward-to", "http://a")
    assert "one of --inbox" in user.fails(2, *_listen("http://a", "--all", "--tag", tag))


def test_the_place_moves_behind_what_filters_leave_out(user: Cli) -> None:
    """A rare type: the position would be too old otherwise, though nothing was missed."""
    with Target() as target:
        file = user.home / "at"
        words = _listen(target.url, "--types", "inbox.expired", "--state-file", str(file))
        with user.start(*words) as running:
            _begin(running)
        before = file.read_text(encoding="ascii")
        _new_inbox(user)
        with user.start(*words) as running:
            _begin(running)
            for _ in range(100):
                if file.read_text(encoding="ascii") != before:
                    break
                threading.Event().wait(0.1)

    assert file.read_text(encoding="ascii") != before


def test_a_position_of_an_earlier_version_goes_on_with_its_inbox(user: Cli) -> None:
    """It was a sequence; the mail behind it is in no feed, since nobody had read one."""
    inbox = _new_inbox(user)
    for number in range(1, 5):
        send_mail(inbox.address, subject=f"Mail {number}")
        user.text("wait", inbox.inbox_id, "--subject", f"Mail {number}")
    file = user.home / "position"
    file.write_text(f"{2:019}\n", encoding="ascii")
    with Target() as target:
        words = _listen(target.url, "--inbox", inbox.inbox_id, "--state-file", str(file))
        with user.start(*words) as running:
            posts = [target.post() for _ in range(2)]
            for _ in range(2):
                running.line()
            _begin(running)
            send_mail(inbox.address, subject="Mail 5")
            posts.append(target.post())
            running.line()
        assert target.posts.empty()
        assert [_subject(post) for post in posts] == ["Mail 3", "Mail 4", "Mail 5"]
        emails = user.json("list", inbox.inbox_id)["emails"]
        assert [_id(post) for post in reversed(posts)] == [email["emailId"] for email in emails[:3]]

        file.write_text(f"{2:019}\n", encoding="ascii")
        assert "--inbox" in user.fails(2, *_listen(target.url, "--state-file", str(file)))


def test_events_that_are_gone_end_it_unless_they_may_be_missed(cli: Cli) -> None:
    gone = {"statusCode": 410, "error": "Gone", "message": "12 events behind after are gone"}
    expired = Reply(
        410,
        gone,
        {
            "X-Error-Code": "cursor_expired",
            "X-Missed-Events": "12",
            "X-Resume-After": "AQEHearliest",
        },
    )
    page = Reply(body={"events": [], "nextCursor": "AQEHnow", "hasMore": False})
    file = cli.home / "position"

    def answer(_: int, call: Call) -> Reply:
        if call.query["after"] == "AQEHold":
            return expired
        return _GONE if "waitSeconds" in call.query else page

    with Service(answer) as service:
        user = cli.with_(TEMPINBOX_BASE_URL=service.url)
        words = _listen("http://127.0.0.1:9", "--state-file", str(file))
        file.write_text("AQEHold".ljust(64) + "\n", encoding="ascii")
        said = user.fails(1, *words)
        kept = file.read_text(encoding="ascii")
        skipped = user.fails(4, *words, "--skip-missed")

    assert "12 events were missed" in said
    assert "--skip-missed" in said
    assert kept.startswith("AQEHold ")
    assert "12 events were missed" in skipped
    assert [call.query["after"] for call in service.calls] == [
        "AQEHold",
        "AQEHold",
        "AQEHearliest",
        "AQEHnow",
    ]
    assert file.read_text(encoding="ascii").startswith("AQEHnow ")


def test_after_the_service_was_put_back_it_goes_on_and_says_so(cli: Cli) -> None:
    reset = Reply(
        410,
        {"statusCode": 410, "error": "Gone", "message": "after is of a later moment"},
        {"X-Error-Code": "cursor_reset", "X-Resume-After": "AQEHthen"},
    )
    file = cli.home / "position"
    file.write_text("AQEHlater".ljust(64) + "\n", encoding="ascii")

    with Service(lambda number, _: reset if number == 1 else _GONE) as service:
        user = cli.with_(TEMPINBOX_BASE_URL=service.url)
        said = user.fails(4, *_listen("http://127.0.0.1:9", "--state-file", str(file)))

    assert "put back to an earlier moment" in said
    assert [call.query["after"] for call in service.calls] == ["AQEHlater", "AQEHthen"]


def test_the_position_of_another_account_is_refused(user: Cli) -> None:
    file = str(user.home / "position")
    with Target() as target:
        with user.start(*_listen(target.url, "--state-file", file)) as running:
            _begin(running)
        other = user.with_(TEMPINBOX_API_KEY=Account.make().key)

        said = other.fails(2, *_listen(target.url, "--state-file", file))

    assert "--after latest" in said


def test_two_of_the_same_do_not_run_at_once(user: Cli, tag: str) -> None:
    with Target() as target, user.start(*_listen(target.url)) as running:
        _begin(running)

        assert "another tempinbox listen" in user.fails(8, *_listen(target.url))
        with user.start(*_listen(target.url, "--tag", tag)) as other:
            _begin(other)


def test_it_asks_about_once_a_minute_while_nothing_comes(cli: Cli) -> None:
    """It holds requests of 55 s, one after the other, as many proxies end one at 60."""
    nothing = Reply(body={"events": [], "nextCursor": "AQEHnow", "hasMore": False})

    with Service(lambda number, _: nothing if number < 4 else _GONE) as service:
        user = cli.with_(TEMPINBOX_BASE_URL=service.url)
        user.fails(4, "listen", "--all", "--forward-to", "http://127.0.0.1:9")

    held = [call.query.get("waitSeconds") for call in service.calls]
    # The first only takes its place.
    assert held == [None, "55", "55", "55"]


def test_holds_that_a_proxy_ends_do_not_make_its_pauses_longer(cli: Cli) -> None:
    never = threading.Event()

    def end_late(number: int, _: Call) -> Reply:
        if number > 2:
            return _GONE
        never.wait(5.2)  # the proxy's limit: longer than one whose service is away takes
        return Reply(504, {"message": "The upstream took too long"})

    with Service(end_late) as service:
        user = cli.with_(TEMPINBOX_BASE_URL=service.url)
        said = user.fails(4, "listen", "--all", "--forward-to", "http://a:9")

    assert said.count("; again in 1s") == 2


def test_an_inbox_that_is_nobody_s_is_refused(user: Cli) -> None:
    nobody = str(uuid.uuid4())

    assert "tempinbox list" in user.fails(4, *_listen("http://a:9", "--inbox", nobody))


def test_it_ends_with_its_key(user: Cli, account: Account) -> None:
    [key] = control("key", "list", account.account_id)["keys"]
    with Target() as target, user.start(*_listen(target.url)) as running:
        _begin(running)
        control("key", "revoke", account.account_id, key["keyId"])

        assert running.exit_code() == 3

"""`listen`: each email becomes a POST, as the webhook would be."""

import base64
import hashlib
import hmac
import json
import threading

from cli import Cli, Inbox, Post, Target, send_mail
from service import Call, Reply, Service, free_port

_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105 - of no webhook


def _listen(inbox: Inbox, target: str, *more: str) -> tuple[str, ...]:
    return ("listen", "--inbox", inbox.inbox_id, "--forward-to", target, "--hold", "5", *more)


def _is_signed(post: Post) -> bool:
    """Checks the signature by the text of Standard Webhooks alone."""
    key = base64.b64decode(_SECRET.removeprefix("whsec_"))
    head = f"{post.headers['webhook-id']}.{post.headers['webhook-timestamp']}.".encode()
    digest = hmac.new(key, head + post.body, hashlib.sha256).digest()
    return post.headers["webhook-signature"] == "v1," + base64.b64encode(digest).decode()


def test_each_email_is_forwarded_as_the_webhook_would_be(cli: Cli, inbox: Inbox) -> None:
    with Target() as target, cli.start(*_listen(inbox, target.url, "--secret", _SECRET)) as running:
        assert running.said().startswith(f"forwarding mail after #0 of inbox {inbox.inbox_id}")
        send_mail(inbox.address)
        post = target.post()
        line = running.line()

    email = cli.json("wait", inbox.inbox_id)["email"]
    assert json.loads(post.body) == {
        "event": "email.received",
        "timestamp": email["receivedAt"],
        "data": {
            "emailId": email["emailId"],
            "inboxId": inbox.inbox_id,
            "from": "robot@sender.example",
            "subject": "Your code",
        },
    }
    assert post.headers["content-type"] == "application/json"
    assert post.headers["webhook-id"] == email["emailId"]
    assert post.headers["webhook-attempt"] == "1"
    assert _is_signed(post)
    assert "  #1  200  " in line
    assert line.endswith('robot@sender.example  "Your code"')


def test_after_it_was_killed_it_forwards_the_rest_exactly_once(cli: Cli, inbox: Inbox) -> None:
    words = _listen(inbox, "", "--secret", _SECRET)
    count = 9
    with Target() as target:
        words = tuple(word or target.url for word in words)
        posts = []
        for round_ in range(3):
            with cli.start(*words) as running:
                assert f"after #{3 * round_} of" in running.said()
                for number in range(2):
                    send_mail(inbox.address, subject=f"Mail {3 * round_ + number}")
                    posts.append(target.post())
                    running.line()
                running.kill()
            # This one comes while nobody listens.
            send_mail(inbox.address, subject=f"Mail {3 * round_ + 2}")
            with cli.start(*words) as running:
                posts.append(target.post())
                running.line()
                running.kill()
        assert target.posts.empty()

    assert [json.loads(post.body)["data"]["subject"] for post in posts] == [
        f"Mail {number}" for number in range(count)
    ]
    assert len({post.headers["webhook-id"] for post in posts}) == count
    assert all(_is_signed(post) for post in posts)


def test_killed_while_the_target_thinks_it_repeats_under_the_same_id(
    cli: Cli, inbox: Inbox
) -> None:
    with Target() as target:
        hangs = threading.Event()
        target.plan.put(hangs)
        with cli.start(*_listen(inbox, target.url)) as running:
            send_mail(inbox.address)
            first = target.post()
            running.kill()
        hangs.set()
        with cli.start(*_listen(inbox, target.url)) as running:
            second = target.post()
            running.line()
        assert target.posts.empty()

    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert "webhook-signature" not in first.headers


def test_a_target_that_fails_is_tried_again_and_said_so(cli: Cli, inbox: Inbox) -> None:
    with Target() as target:
        target.plan.put(500)
        target.plan.put(503)
        with cli.start(*_listen(inbox, target.url, "--json")) as running:
            send_mail(inbox.address, subject="First")
            send_mail(inbox.address, subject="Second")
            lines = [json.loads(running.line()) for _ in range(4)]
        posts = [target.post() for _ in range(4)]

    assert [line["statusCode"] for line in lines] == [500, 503, 200, 200]
    assert [line["attempt"] for line in lines] == [1, 2, 3, 1]
    assert [line["isDelivered"] for line in lines] == [False, False, True, True]
    assert [line["nextAttemptInSeconds"] for line in lines] == [1, 2, None, None]
    assert [line["sequence"] for line in lines] == [1, 1, 1, 2]
    assert [post.headers["webhook-attempt"] for post in posts] == ["1", "2", "3", "1"]
    assert len({post.headers["webhook-id"] for post in posts}) == 2


def test_it_gives_up_where_it_was_told_to_or_the_target_is_gone(cli: Cli, inbox: Inbox) -> None:
    send_mail(inbox.address)
    nobody = f"http://127.0.0.1:{free_port()}/"

    tired = cli.fails(7, *_listen(inbox, nobody, "--max-attempts", "2"))
    with Target() as target:
        target.plan.put(410)
        gone = cli.fails(7, *_listen(inbox, target.url))

    assert "did not take the email" in tired
    assert "in 2 attempts" in tired
    assert "410 Gone" in gone


def test_latest_passes_over_what_is_there(cli: Cli, inbox: Inbox) -> None:
    send_mail(inbox.address, subject="Before")
    cli.text("wait", inbox.address)
    with (
        Target() as target,
        cli.start(*_listen(inbox, target.url, "--after", "latest")) as running,
    ):
        assert "after #1 of" in running.said()
        send_mail(inbox.address, subject="After")
        assert json.loads(target.post().body)["data"]["subject"] == "After"


def test_filters_choose_what_is_forwarded(cli: Cli, inbox: Inbox) -> None:
    send_mail(inbox.address, subject="Welcome")
    send_mail(inbox.address, subject="Your code")
    with (
        Target() as target,
        cli.start(*_listen(inbox, target.url, "--subject", "code")) as running,
    ):
        running.line()
        assert json.loads(target.post().body)["data"]["subject"] == "Your code"
        assert target.posts.empty()


def test_two_of_the_same_do_not_run_at_once(cli: Cli, inbox: Inbox) -> None:
    with Target() as target, cli.start(*_listen(inbox, target.url)) as running:
        running.said()

        assert "another tempinbox listen" in cli.fails(8, *_listen(inbox, target.url))


def test_it_asks_about_once_a_minute_while_nothing_comes(cli: Cli, inbox: Inbox) -> None:
    """It holds requests of 55 s, one after the other, as many proxies end one at 60."""
    nothing = {"outcome": "timeout", "email": None, "lastSequence": 0, "nearMisses": []}
    gone = Reply(404, {"statusCode": 404, "error": "Not Found", "message": "gone"})

    with Service(lambda number, _: Reply(body=nothing) if number < 4 else gone) as service:
        user = cli.with_(TEMPINBOX_BASE_URL=service.url)
        user.fails(4, "listen", "--inbox", inbox.inbox_id, "--forward-to", "http://127.0.0.1:9")

    assert [call.query["timeoutSeconds"] for call in service.calls] == ["55"] * 4


def test_holds_that_a_proxy_ends_do_not_make_its_pauses_longer(cli: Cli, inbox: Inbox) -> None:
    gone = Reply(404, {"statusCode": 404, "error": "Not Found", "message": "gone"})

    never = threading.Event()

    def end_late(number: int, _: Call) -> Reply:
        if number > 2:
            return gone
        never.wait(5.2)  # the proxy's limit: longer than one whose service is away takes
        return Reply(504, {"message": "The upstream took too long"})

    with Service(end_late) as service:
        user = cli.with_(TEMPINBOX_BASE_URL=service.url)
        said = user.fails(4, "listen", "--inbox", inbox.inbox_id, "--forward-to", "http://a:9")

    assert said.count("; again in 1s") == 2


def test_it_ends_with_its_inbox(cli: Cli) -> None:
    made = cli.json("create")
    inbox = Inbox(made["inboxId"], made["emailAddress"])
    with Target() as target, cli.start(*_listen(inbox, target.url)) as running:
        running.said()
        cli.text("rm", inbox.inbox_id)

        assert running.exit_code() == 4
        assert inbox.inbox_id in running.said()

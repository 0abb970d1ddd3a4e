"""Tests which requests are repeated, and how."""

import json
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest
from scripted_server import (
    INBOX,
    INBOX_ID,
    Answer,
    Cut,
    ScriptedServer,
    Together,
    Trickle,
    refusal,
)

from tempinbox import (
    ApiError,
    AsyncTempinbox,
    Conflict,
    ConnectionFailed,
    Forbidden,
    NotFound,
    RateLimited,
    ServiceUnavailable,
    Tempinbox,
    TempinboxError,
    UnexpectedEmail,
    WaitTimeout,
    _calls,
    _waiting,
    error_codes,
)
from tempinbox._answers import camel_case
from tempinbox._calls import Flow, Outcome, Response, Send, Sleep
from tempinbox._transport import AsyncTransport, Transport
from tempinbox.errors import Miss
from tempinbox.settings import Settings
from tempinbox.types import Email

T = TypeVar("T")

DAY = {"X_RateLimit_Limit": "100", "X_RateLimit_Remaining": "0", "X_RateLimit_Reset": "1795305600"}
SETTINGS = Settings("https://inbox.example/prefix", "ti_live_x", 30)
NOT_CONNECTED = _calls.Cut("connection refused", was_connected=False)
RESET = _calls.Cut("connection reset")
NO_EMAIL: dict[str, Any] = {
    "outcome": "timeout",
    "email": None,
    "lastSequence": 3,
    "matched": 0,
    "emails": [],
    "waitedMs": 1,
    "nearMisses": [],
}
# With the fields that waits look at; the others are null.
EMAIL: dict[str, Any] = dict.fromkeys(camel_case(one.name) for one in fields(Email))
EMAIL |= {"emailId": INBOX_ID, "sequence": 1, "links": []}


def answer(status: int, body: Any = None, **headers: str) -> Response:
    """Makes the response that a transport returns."""
    names = {name.lower().replace("_", "-"): value for name, value in headers.items()}
    return Response(status, names, json.dumps({} if body is None else body).encode())


class Driver:
    """Runs flows without sockets, on a clock of its own that only delays and answers move."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.requests: list[Send] = []
        self.delays: list[float] = []

    def monotonic(self) -> float:
        """Stands in for the function of `time`."""
        return self.now

    def run(self, flow: Flow[T], respond: Callable[[Send], Outcome]) -> T:
        """Does what the flow asks for, to its end."""
        outcome: Outcome = None
        while True:
            try:
                step = flow.send(outcome)
            except StopIteration as end:
                result: T = end.value
                return result
            if isinstance(step, Sleep):
                self.delays.append(step.seconds)
                self.now += step.seconds
                outcome = None
            else:
                self.requests.append(step)
                outcome = respond(step)

    def in_turn(self, *outcomes: Outcome) -> Callable[[Send], Outcome]:
        """These at once, the last one again and again."""
        left = list(outcomes)
        return lambda _: left.pop(0) if len(left) > 1 else left[0]

    def keep(self, request: Send) -> Response:
        """No email came in the whole hold."""
        self.now += hold_of(request)
        return answer(200, NO_EMAIL)

    def lose(self, request: Send) -> _calls.Cut:
        """Nothing comes back."""
        self.now += request.seconds
        return _calls.Cut("no answer")


def hold_of(request: Send) -> int:
    """Returns how long the service may hold the request."""
    return int(parse_qs(urlsplit(request.url).query)["timeoutSeconds"][0])


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    """The clock of all flows of the test."""
    made = Driver()
    monkeypatch.setattr(_calls, "time", made)
    return made


def quiet_wait(timeout: float) -> Flow[None]:
    """A wait for no email."""
    return _waiting.expect_no_email(_waiting.begin(SETTINGS, INBOX_ID, {}, None, timeout))


def test_a_call_goes_on_after_429_503_and_a_cut_under_one_key(server: ScriptedServer) -> None:
    server.steps = [
        refusal(429, "Too many in one second", Retry_After="1"),
        refusal(503, "Busy"),
        Cut(),
        Answer(201, INBOX),
    ]

    began = time.monotonic()
    with Tempinbox(base_url=server.url, api_key="ti_live_x") as client:
        inbox = client.create_inbox(name="x")

    assert inbox.inbox_id == INBOX_ID
    assert time.monotonic() - began >= 1
    keys = server.headers("Idempotency-Key")
    assert len(keys) == 4
    assert len(set(keys)) == 1
    assert keys[0]
    assert {path for _, path, _, _ in server.requests} == {"/prefix/v1/inboxes"}
    assert {body for _, _, _, body in server.requests} == {'{"name": "x"}'}


def test_two_calls_have_two_keys_unless_one_is_given(
    server: ScriptedServer, scripted: Tempinbox
) -> None:
    server.steps = [Answer(201, INBOX)]

    scripted.create_inbox()
    scripted.create_inbox()
    scripted.create_inbox(idempotency_key="mine")

    first, second, third = server.headers("Idempotency-Key")
    assert first != second
    assert third == "mine"


def test_a_wait_past_the_deadline_is_not_begun(server: ScriptedServer, scripted: Tempinbox) -> None:
    server.steps = [refusal(503, "Busy", Retry_After="6")]

    began = time.monotonic()
    with pytest.raises(ServiceUnavailable, match="Busy") as caught:
        scripted.get_inbox(INBOX_ID)

    assert time.monotonic() - began < 4
    assert caught.value.retry_after == 6
    assert len(server.requests) == 1


def test_a_date_as_retry_after_is_kept(server: ScriptedServer, scripted: Tempinbox) -> None:
    at = datetime.now(timezone.utc) + timedelta(hours=1)
    server.steps = [refusal(503, "Busy", Retry_After=format_datetime(at, usegmt=True))]

    with pytest.raises(ServiceUnavailable) as caught:
        scripted.get_account()

    assert caught.value.retry_after == pytest.approx(3600, abs=10)
    assert len(server.requests) == 1


@pytest.mark.parametrize("after", ["0", "Sat, 21 Nov 2020 10:00:00 GMT"])
def test_a_retry_after_that_is_over_is_no_loop_without_pause(driver: Driver, after: str) -> None:
    refused = driver.in_turn(answer(429, {"message": "Too many"}, Retry_After=after))

    with pytest.raises(RateLimited):
        driver.run(_calls.call(SETTINGS, "getAccount", {}), refused)

    assert min(driver.delays) >= 0.18
    assert 5 <= len(driver.requests) <= 9


@pytest.mark.parametrize("status", [429, 503])
def test_pauses_grow_although_retry_after_is_one_second_each_time(
    driver: Driver, status: int
) -> None:
    refused = driver.in_turn(answer(status, {"message": "Too many"}, Retry_After="1"))

    with pytest.raises(RateLimited if status == 429 else ServiceUnavailable):
        driver.run(quiet_wait(3600), refused)

    assert min(driver.delays) >= 1
    assert max(driver.delays) <= 10
    assert all(delay >= 6 for delay in driver.delays[5:])
    assert len(driver.requests) < 3600 / 6


BUSY = answer(503, {"message": "Busy"}, Retry_After="1")
UNDER_WAY = answer(
    409, {"message": "In any words"}, Retry_After="1", X_Error_Code="idempotency_in_progress"
)


@pytest.mark.parametrize("refused", [[BUSY], [RESET, UNDER_WAY]])
def test_a_call_outlasts_a_service_that_says_when_to_come_again(
    driver: Driver, refused: list[Outcome]
) -> None:
    back = driver.now + 20
    respond = driver.in_turn(*refused)

    done = driver.run(
        _calls.call(SETTINGS, "createInbox", {}),
        lambda one: answer(201, INBOX) if driver.now >= back else respond(one),
    )

    assert done.status == 201
    assert len(driver.requests) > 6


def test_a_service_that_stays_busy_ends_a_call_at_its_deadline(driver: Driver) -> None:
    with pytest.raises(ServiceUnavailable):
        driver.run(_calls.call(SETTINGS, "getAccount", {}), driver.in_turn(BUSY))

    assert 30 - 10 <= sum(driver.delays) < 30
    assert driver.delays[-1] > driver.delays[0]


def test_refusals_do_not_use_up_the_tries_of_what_is_cut(driver: Driver) -> None:
    respond = driver.in_turn(*[BUSY] * 4, *[RESET] * 5, answer(200))

    assert driver.run(_calls.call(SETTINGS, "getAccount", {}), respond).status == 200


CODES = [word for name, word in vars(error_codes).items() if name.isupper()]


@pytest.mark.parametrize("code", [*CODES, "of_a_later_release"])
def test_what_an_error_says_in_words_decides_nothing(driver: Driver, code: str) -> None:
    def outcome(status: int, message: str) -> tuple[object, ...]:
        body = {"message": message}
        refused = answer(status, body, X_Error_Code=code, Retry_After="1", **DAY)
        before = len(driver.delays)
        try:
            driver.run(
                _calls.call(SETTINGS, "getAccount", {}), driver.in_turn(refused, answer(200))
            )
        except ApiError as error:
            decided = [getattr(error, name, None) for name in ("is_day_used_up", "field")]
            return type(error), error.code, *decided, len(driver.delays) - before
        return None, len(driver.delays) - before

    for status in (400, 401, 403, 404, 409, 429, 503):
        is_of_field = status == 400 and code == error_codes.INVALID_FIELD
        begin = "inboxes[1].ttlSeconds " if is_of_field else ""
        plain = outcome(status, f"{begin}x")
        assert ("inboxes[1].ttlSeconds" in plain) == is_of_field
        for words in ("The daily limit is used up", "a request is under way", "field must be", ""):
            assert outcome(status, begin + words) == plain


def test_a_longer_retry_after_is_kept(driver: Driver) -> None:
    outcomes = driver.in_turn(answer(429, Retry_After="12"), answer(200, {}))

    driver.run(_calls.call(SETTINGS, "getAccount", {}), outcomes)

    assert driver.delays == [pytest.approx(12, abs=0.11)]


def test_a_used_up_day_is_an_error_at_once(server: ScriptedServer, scripted: Tempinbox) -> None:
    message = "In words that say nothing of a day"
    server.steps = [refusal(429, message, Retry_After="1", X_Error_Code="daily_limit", **DAY)]

    with pytest.raises(RateLimited, match="used up until 2026-11-22T00:00:00Z") as caught:
        scripted.get_account()

    assert caught.value.is_day_used_up
    assert caught.value.code == error_codes.DAILY_LIMIT
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "kind"), [(400, TempinboxError), (403, Forbidden), (500, TempinboxError)]
)
def test_other_answers_are_not_repeated(
    server: ScriptedServer, scripted: Tempinbox, status: int, kind: type[Exception]
) -> None:
    server.steps = [refusal(status, "No")]

    with pytest.raises(kind, match="No"):
        scripted.get_account()

    assert len(server.requests) == 1


def test_a_delete_whose_answer_was_cut_off_is_done(
    server: ScriptedServer, scripted: Tempinbox
) -> None:
    server.steps = [Cut(), refusal(404, "Inbox does not exist")]
    scripted.delete_inbox(INBOX_ID)

    with pytest.raises(NotFound):
        scripted.delete_inbox(INBOX_ID)


MAY_HAVE_WORKED = [answer(502), answer(503), answer(504), RESET]


@pytest.mark.parametrize("first", MAY_HAVE_WORKED)
def test_a_delete_that_finds_nothing_is_done_if_the_first_try_may_have_worked(
    driver: Driver, first: Outcome
) -> None:
    outcomes = driver.in_turn(first, answer(404))

    done = driver.run(_calls.call(SETTINGS, "deleteInbox", {"inboxId": INBOX_ID}), outcomes)

    assert done.status == 404
    assert len(driver.requests) == 2


def test_a_delete_that_was_never_sent_has_not_worked(driver: Driver) -> None:
    unsent = _calls.Cut("no connection to the service", was_connected=False)
    outcomes = driver.in_turn(unsent, answer(404))

    with pytest.raises(NotFound):
        driver.run(_calls.call(SETTINGS, "deleteInbox", {"inboxId": INBOX_ID}), outcomes)


@pytest.mark.parametrize("first", MAY_HAVE_WORKED)
def test_a_repeat_waits_for_the_try_that_is_under_way(driver: Driver, first: Outcome) -> None:
    outcomes = driver.in_turn(first, UNDER_WAY, answer(201, INBOX))

    done = driver.run(_calls.call(SETTINGS, "createInbox", {}), outcomes)

    assert done.status == 201
    assert len({request.headers["Idempotency-Key"] for request in driver.requests}) == 1


def test_after_a_429_nothing_has_worked(driver: Driver) -> None:
    conflict = driver.in_turn(answer(429), UNDER_WAY)
    with pytest.raises(Conflict):
        driver.run(_calls.call(SETTINGS, "createInbox", {}), conflict)

    missing = driver.in_turn(answer(429), answer(404))
    with pytest.raises(NotFound):
        driver.run(_calls.call(SETTINGS, "deleteInbox", {"inboxId": INBOX_ID}), missing)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("getAccount", {}),
        ("createInbox", {}),
        ("updateInbox", {"inboxId": INBOX_ID, "name": "x"}),
        ("deleteInbox", {"inboxId": INBOX_ID}),
    ],
)
@pytest.mark.parametrize("status", [502, 504])
def test_what_a_proxy_cuts_is_repeated(
    driver: Driver, name: str, given: dict[str, Any], status: int
) -> None:
    done = driver.run(
        _calls.call(SETTINGS, name, given), driver.in_turn(answer(status), answer(200))
    )

    assert done.status == 200
    assert len(driver.requests) == 2


def test_a_proxy_whose_service_stays_away_ends_a_call(driver: Driver) -> None:
    with pytest.raises(ApiError) as caught:
        driver.run(_calls.call(SETTINGS, "getAccount", {}), driver.in_turn(answer(502)))

    assert caught.value.status == 502
    assert len(driver.requests) == 6


def test_a_last_try_without_answer_ends_with_what_was_answered_before(driver: Driver) -> None:
    left = [answer(429, {"message": "Too many in one second"}, Retry_After="29")]

    def respond(request: Send) -> Outcome:
        return left.pop() if left else driver.lose(request)

    with pytest.raises(RateLimited, match="Too many in one second"):
        driver.run(_calls.call(SETTINGS, "getAccount", {}), respond)

    assert len(driver.requests) == 2


def test_cuts_without_end_name_the_service(server: ScriptedServer, scripted: Tempinbox) -> None:
    server.steps = [Cut()]

    with pytest.raises(ConnectionFailed, match=r"failed, \d times: .*TEMPINBOX_BASE_URL"):
        scripted.get_account()

    assert 1 < len(server.requests) <= 6


def test_a_cut_wait_goes_on_after_the_same_position(driver: Driver) -> None:
    miss = {"emailId": INBOX_ID, "field": "subject", "expected": "code", "actual": "Hi\u202e\n"}
    outcomes: list[Outcome] = [RESET, answer(200, NO_EMAIL | {"outcome": "draining"})]

    def respond(request: Send) -> Outcome:
        if outcomes:
            return outcomes.pop(0)
        driver.now += hold_of(request)
        return answer(200, NO_EMAIL | {"nearMisses": [miss]})

    wait = _waiting.begin(SETTINGS, INBOX_ID, {"subject": "code"}, 3, 100)
    with pytest.raises(WaitTimeout) as caught:
        driver.run(_waiting.wait_for_email(wait), respond)

    text = str(caught.value)
    assert 'asked for: subject: "code", after: 3' in text
    assert 'subject should be "code", is "Hi  "' in text
    assert f"https://inbox.example/prefix/dashboard/inboxes/{INBOX_ID}" in text
    assert len(driver.requests) == 4
    assert all("after=3" in one.url and "subject=code" in one.url for one in driver.requests)


def test_a_wait_that_was_cut_asks_for_the_time_that_is_left(driver: Driver) -> None:
    def respond(request: Send) -> Outcome:
        if len(driver.requests) > 1:
            return driver.keep(request)
        driver.now += 50
        return RESET

    driver.run(quiet_wait(60), respond)

    first, second = driver.requests
    assert hold_of(first) == 55  # many proxies end a request at 60 s
    assert hold_of(second) == 10
    assert second.seconds == 10 + 5


def test_a_wait_whose_last_answer_decided_nothing_looks_once_more(driver: Driver) -> None:
    email = EMAIL | {"subject": "Hi", "from": "a@b.example"}
    email |= {"receivedAt": "2026-11-21T10:00:00.123Z"}
    mail = answer(200, NO_EMAIL | {"outcome": "matched", "email": email})
    draining = answer(200, NO_EMAIL | {"outcome": "draining"})

    def run(flow: Flow[T], *outcomes: Outcome) -> T:
        respond = driver.in_turn(*outcomes)
        driver.requests.clear()
        driver.now += 4.6  # of the 5 s that it has
        return driver.run(flow, respond)

    def wait_for_one() -> Flow[Email]:
        return _waiting.wait_for_email(_waiting.begin(SETTINGS, INBOX_ID, {}, None, 5))

    with pytest.raises(UnexpectedEmail):
        run(quiet_wait(5), draining, mail)
    assert run(wait_for_one(), draining, mail).sequence == 1
    with pytest.raises(WaitTimeout):
        run(wait_for_one(), draining)
    with pytest.raises(TempinboxError, match="nothing is decided"):
        run(quiet_wait(5), draining)
    assert len(driver.requests) == 2


def test_a_dead_connection_takes_one_hold_of_a_wait(driver: Driver) -> None:
    def respond(request: Send) -> Outcome:
        return driver.lose(request) if len(driver.requests) == 1 else driver.keep(request)

    driver.run(quiet_wait(600), respond)

    assert driver.requests[0].seconds == 55 + 15
    assert len(driver.requests) > 9


@pytest.mark.parametrize("timeout", [1, 20, 55, 60, 65, 72, 100])
def test_a_silent_host_ends_a_wait_within_seconds_of_its_deadline(
    driver: Driver, timeout: int
) -> None:
    ends = driver.now + timeout

    with pytest.raises(ConnectionFailed, match="no answer"):
        driver.run(quiet_wait(timeout), driver.lose)

    assert ends - 1 <= driver.now <= ends + 5.5  # holds are of whole seconds


@pytest.mark.parametrize(
    "reached",
    [answer(200, NO_EMAIL), answer(200, NO_EMAIL | {"outcome": "draining"}), RESET, answer(503)],
)
@pytest.mark.parametrize("away", [NOT_CONNECTED, RESET, answer(502), answer(503), answer(504)])
def test_a_wait_lives_through_minutes_of_a_service_that_is_away(
    driver: Driver, reached: Outcome, away: Outcome
) -> None:
    ends = driver.now + 300

    def respond(request: Send) -> Outcome:
        if driver.now >= ends:
            return driver.keep(request)
        return away if len(driver.requests) > 1 else reached

    driver.run(quiet_wait(600), respond)

    assert driver.now >= ends + 290
    if away != answer(503):
        assert max(driver.delays) <= 2.5


@pytest.mark.parametrize("away", [NOT_CONNECTED, answer(502), answer(504)])
def test_a_wait_for_a_service_that_was_never_there_ends_soon(driver: Driver, away: Outcome) -> None:
    with pytest.raises(ConnectionFailed if away == NOT_CONNECTED else ApiError):
        driver.run(quiet_wait(600), driver.in_turn(away))

    assert len(driver.requests) == 6
    assert sum(driver.delays) < 20


def test_a_service_that_never_comes_back_ends_a_wait_at_its_deadline(driver: Driver) -> None:
    with pytest.raises(ConnectionFailed, match="connection refused"):
        driver.run(quiet_wait(3600), driver.in_turn(RESET, NOT_CONNECTED))

    assert sum(driver.delays) == pytest.approx(3600, abs=3)


def test_a_long_wait_keeps_few_misses(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[weakref.ref[Miss]] = []
    kept: list[int] = []

    def make_miss(*values: str) -> Miss:
        miss = Miss(*values)
        made.append(weakref.ref(miss))
        return miss

    def respond(request: Send) -> Outcome:
        kept.append(sum(one() is not None for one in made))
        if len(driver.requests) > 50:
            return driver.keep(request)
        found = EMAIL | {"sequence": len(driver.requests)}
        return answer(200, NO_EMAIL | {"outcome": "matched", "email": found})

    monkeypatch.setattr(_waiting, "Miss", make_miss)
    wait = _waiting.begin(SETTINGS, INBOX_ID, {}, None, 60)
    with pytest.raises(WaitTimeout) as caught:
        driver.run(_waiting.wait_for_link(wait, None, None), respond)

    assert len(made) == 50
    assert max(kept) == len(caught.value.near_misses) == 10


def send_once(url: str) -> Flow[Outcome]:
    """Sends one request without its retries."""
    return (yield Send("GET", url, {}, None, 20))


@pytest.mark.parametrize(("is_there", "was_connected"), [(True, True), (False, False)])
@pytest.mark.anyio
async def test_a_cut_says_whether_there_was_a_connection(
    server: ScriptedServer, is_there: bool, was_connected: bool
) -> None:
    server.steps = [Cut()]
    url = server.url if is_there else "http://127.0.0.1:1"
    blocking, awaiting = Transport(), AsyncTransport()

    for cut in (blocking.run(send_once(url)), await awaiting.run(send_once(url))):
        assert isinstance(cut, _calls.Cut)
        assert cut.was_connected == was_connected
    blocking.close()
    await awaiting.aclose()


def test_an_answer_that_cannot_be_decoded_is_repeated(
    server: ScriptedServer, scripted: Tempinbox
) -> None:
    server.steps = [Answer(200, INBOX, Content_Encoding="gzip"), Answer(200, INBOX)]

    assert scripted.get_inbox(INBOX_ID).inbox_id == INBOX_ID


@pytest.mark.anyio
async def test_the_client_that_awaits_repeats_it_as_well(server: ScriptedServer) -> None:
    server.steps = [Answer(200, INBOX, Content_Encoding="gzip"), Answer(200, INBOX)]

    async with AsyncTempinbox(base_url=server.url, api_key="x", timeout=5) as client:
        assert (await client.get_inbox(INBOX_ID)).inbox_id == INBOX_ID


MANY = 120


def test_many_threads_wait_at_the_same_time(server: ScriptedServer) -> None:
    server.steps = [Together(MANY)]

    settings = Settings(server.url, "x", 60)
    transport = Transport()

    with ThreadPoolExecutor(MANY) as pool:
        flows = [_calls.call(settings, "getAccount", {}) for _ in range(MANY)]
        done = list(pool.map(transport.run, flows))
    transport.close()

    assert [one.status for one in done] == [200] * MANY


@pytest.mark.parametrize("keeps_connections", [True, False])
@pytest.mark.anyio
async def test_many_tasks_wait_at_the_same_time(
    server: ScriptedServer, keeps_connections: bool
) -> None:
    server.steps = [Together(MANY)]
    settings = Settings(server.url, "x", 60)
    transport = AsyncTransport(keeps_connections=keeps_connections)
    done: list[int] = []

    async def wait() -> None:
        response = await transport.run(_calls.call(settings, "getAccount", {}))
        done.append(response.status)

    async with anyio.create_task_group() as tasks:
        for _ in range(MANY):
            tasks.start_soon(wait)
    await transport.aclose()

    assert done == [200] * MANY


def test_an_answer_that_trickles_is_given_up_at_the_deadline(server: ScriptedServer) -> None:
    server.steps = [Trickle()]

    began = time.monotonic()
    with (
        Tempinbox(base_url=server.url, api_key="x", timeout=1) as client,
        pytest.raises(ConnectionFailed, match="no answer within 1 s"),
    ):
        client.get_account()

    assert time.monotonic() - began < 20


@pytest.mark.anyio
async def test_the_client_that_awaits_gives_up_at_the_deadline_as_well(
    server: ScriptedServer,
) -> None:
    server.steps = [Trickle()]

    began = time.monotonic()
    async with AsyncTempinbox(base_url=server.url, api_key="x", timeout=1) as client:
        with pytest.raises(ConnectionFailed, match="no answer within 1 s"):
            await client.get_account()

    assert time.monotonic() - began < 20


@pytest.mark.anyio
async def test_a_block_that_is_cancelled_ends_its_inbox_all_the_same(
    server: ScriptedServer,
) -> None:
    server.steps = [Answer(201, INBOX), Answer(200, {"inboxId": INBOX_ID, "deleted": True})]

    async with AsyncTempinbox(base_url=server.url, api_key="x", timeout=5) as client:
        with anyio.CancelScope() as scope:
            async with client.with_inbox():
                scope.cancel()
                await anyio.sleep_forever()
        assert scope.cancelled_caught

    assert [method for method, _, _, _ in server.requests] == ["POST", "DELETE"]


@pytest.mark.anyio
async def test_the_client_that_awaits_has_the_same_rules(server: ScriptedServer) -> None:
    server.steps = [refusal(503, "Busy"), Cut(), Answer(201, INBOX)]

    async with AsyncTempinbox(base_url=server.url, api_key="x", timeout=5) as client:
        inbox = await client.create_inbox()

    assert inbox.inbox_id == INBOX_ID
    assert len(set(server.headers("Idempotency-Key"))) == 1

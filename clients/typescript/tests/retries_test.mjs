import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  ApiError,
  Conflict,
  ConnectionFailed,
  NotFound,
  RateLimited,
  ServiceUnavailable,
  Tempinbox,
  TempinboxError,
  UnexpectedEmail,
  WaitTimeout,
  errorCodes,
} from './harness/package.mjs';
import { clock } from './harness/clock.mjs';
import { failure } from './harness/failure.mjs';
import { scripted, vacantUrl } from './harness/servers.mjs';

const ID = '01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f';
const INBOX = { inboxId: ID, emailAddress: 'a@inbox.example.com', lastSequence: 0 };
const MADE = { status: 201, body: INBOX };
const GONE = { status: 404, body: { message: 'does not exist' } };

const busy = (headers = {}) => ({ status: 503, headers, body: { message: 'try again' } });
const slower = (headers) => ({ status: 429, headers, body: { message: 'More than 5 a second' } });

/** The answer of a hold in which nothing came, or this email. */
const holdAnswer = (email) => ({
  body: { outcome: email ? 'matched' : 'timeout', email, nearMisses: [] },
});
const newEmail = (sequence) => ({ emailId: ID, sequence, links: [], codes: [] });

/** A hold of so many seconds in which nothing came. */
const emptyHold = (time, seconds) => (_, response) => {
  time.pass(seconds);
  response.end(JSON.stringify(holdAnswer().body));
};

/** The delays are these, each longer by up to a quarter. */
function assertDelays({ delays }, expected) {
  const shown = `delays: ${delays.join(', ')}`;
  assert.equal(delays.length, expected.length, shown);
  for (const [index, seconds] of expected.entries())
    assert.ok(delays[index] >= seconds && delays[index] <= seconds * 1.25, shown);
}

function clientOf({ baseUrl }, settings = {}) {
  return new Tempinbox({ baseUrl, apiKey: 'ti_live_key', ...settings });
}

/** Makes fetch fail with this code, always or so many times, after what happens before. */
function failFetch(t, code, { times = Infinity, before = () => undefined }) {
  const real = fetch;
  let calls = 0;
  t.mock.method(globalThis, 'fetch', async (...given) => {
    if (++calls > times) return await real(...given);
    before();
    throw new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
  });
}

const keysOf = ({ requests }) => [
  ...new Set(requests.map(({ headers }) => headers['idempotency-key'])),
];

test('a POST is repeated after 429, 503 and a cut connection under one Idempotency-Key', async (t) => {
  const time = clock(t);
  const server = await scripted(t, [slower({ 'retry-after': '3' }), busy(), 'cut', MADE]);

  const inbox = await clientOf(server).createInbox({ name: 'x' });

  assert.equal(inbox.inboxId, ID);
  assert.equal(server.requests.length, 4);
  assert.equal(keysOf(server).length, 1);
  assert.match(keysOf(server)[0], /^[0-9a-f-]{36}$/);
  assert.ok(server.requests.every(({ body }) => body === '{"name":"x"}'));
  assertDelays(time, [3, 1, 0.25]);
});

test('two calls have two Idempotency-Keys, and one of the caller is kept', async (t) => {
  const server = await scripted(t, [MADE]);
  const client = clientOf(server);

  await client.createInbox();
  await client.createInbox();
  await client.createInbox({}, { idempotencyKey: 'mine' });

  assert.equal(keysOf(server).length, 3);
  assert.equal(keysOf(server)[2], 'mine');
});

test('no retry begins after the deadline: the error in hand comes at once', async (t) => {
  const time = clock(t);
  const server = await scripted(t, [slower({ 'retry-after': '10' })]);

  const error = await failure(clientOf(server, { timeoutSeconds: 5 }).createInbox());

  assert.ok(error instanceof RateLimited, String(error));
  assert.equal(error.isDayUsedUp, false);
  assert.equal(error.retryAfterSeconds, 10);
  assert.match(error.message, /More than 5 a second/);
  assert.match(error.message, /timeoutSeconds/);
  assertDelays(time, []);
  assert.equal(server.requests.length, 1);
});

test('a used-up day is not waited for, however much time there is', async (t) => {
  const time = clock(t);
  const headers = {
    'retry-after': '1',
    'x-ratelimit-limit': '100',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '1795305600',
    'x-error-code': 'daily_limit',
  };
  const body = { message: 'In words that say nothing of a day' };
  const server = await scripted(t, [{ status: 429, headers, body }, GONE]);

  const error = await failure(clientOf(server).waitForEmail(INBOX, { timeoutSeconds: 86_400 }));

  assert.ok(error instanceof RateLimited, String(error));
  assert.equal(error.isDayUsedUp, true);
  assert.equal(error.code, errorCodes.dailyLimit);
  assertDelays(time, []);
  assert.equal(server.requests.length, 1);
});

test('a limit of the second is waited for, whatever its words say', async (t) => {
  const time = clock(t);
  const body = { message: 'The daily limit of 100 requests is used up' };
  const headers = { 'retry-after': '1', 'x-error-code': 'burst', 'x-ratelimit-remaining': '0' };
  const server = await scripted(t, [
    { status: 429, headers, body },
    { status: 200, body: {} },
  ]);

  await clientOf(server).getAccount();

  assert.equal(time.delays.length, 1);
  assert.equal(server.requests.length, 2);
});

test('a service that stays busy is given up at the deadline', async (t) => {
  const time = clock(t);
  const server = await scripted(t, [busy({ 'retry-after': '1' })]);

  await assert.rejects(clientOf(server).getAccount({ timeoutSeconds: 6 }), ServiceUnavailable);

  assertDelays(time, [1, 1, 2]); // 4 s more would pass the deadline
  assert.equal(server.requests.length, 4);
});

test('retries of a 429 or 503 come at longer and longer intervals, Retry-After or not', async (t) => {
  const second = { 'retry-after': '1' };
  const refusals = [slower(second), slower(), busy(second), busy(), slower(second), slower()];
  const time = clock(t);
  const server = await scripted(t, [...refusals, slower({ 'retry-after': '11' }), { body: INBOX }]);

  await clientOf(server).getInbox(ID, { timeoutSeconds: 60 });

  assertDelays(time, [1, 1, 2, 4, 8, 8, 11]);
});

test('cut connections before do not make the pause after a 503 longer', async (t) => {
  const time = clock(t);
  const server = await scripted(t, ['cut', 'cut', 'cut', busy(), { body: INBOX }]);

  await clientOf(server).getInbox(ID);

  assertDelays(time, [0.25, 0.5, 1, 0.5]);
});

test('what the service said before is thrown when the last try runs into the deadline', async (t) => {
  const time = clock(t);
  const left = () => 30 - time.delays.reduce((sum, delay) => sum + delay);
  // A timer has whole milliseconds, so it ends a call a little before the deadline.
  for (const seconds of [() => 30, () => Math.trunc(left() * 1000) / 1000 + 1e-6]) {
    time.delays.length = 0;
    const server = await scripted(t, [slower(), 'cut', () => time.pass(seconds())]);

    const error = await failure(clientOf(server).getAccount());

    assert.ok(error instanceof RateLimited, String(error));
    assert.equal(server.requests.length, 3);
  }
});

test("a proxy's Retry-After as a date is kept", async (t) => {
  const inOneHour = new Date(Date.now() + 3_600_000).toUTCString();
  const server = await scripted(t, [busy({ 'retry-after': inOneHour })]);

  await assert.rejects(clientOf(server).getAccount(), ServiceUnavailable);

  assert.equal(server.requests.length, 1);
});

test('a Retry-After that is over is no loop without pause', async (t) => {
  const time = clock(t);
  for (const retryAfter of ['0', 'Sat, 21 Nov 2020 10:00:00 GMT']) {
    time.delays.length = 0;
    const server = await scripted(t, [slower({ 'retry-after': retryAfter })]);

    await assert.rejects(clientOf(server, { timeoutSeconds: 2 }).getAccount(), RateLimited);

    assertDelays(time, [0.5, 1]);
  }
});

test('a repeat has the body of the first try, though the caller changed the object', async (t) => {
  const newInbox = { metadata: { build: '1' } };
  const change = (request) => {
    newInbox.metadata.build = '2';
    request.socket.resetAndDestroy();
  };
  const server = await scripted(t, [change, MADE]);

  await clientOf(server).createInbox(newInbox);

  const bodies = server.requests.map(({ body }) => body);
  assert.deepEqual(bodies, Array(2).fill('{"metadata":{"build":"1"}}'));
});

test('what an error says in words decides nothing', async (t) => {
  const time = clock(t);
  const outcome = async (code, status, message) => {
    const headers = { 'x-error-code': code, 'retry-after': '1' };
    const script = [
      { status, headers, body: { message } },
      { status: 200, body: {} },
    ];
    const server = await scripted(t, script);
    const before = time.delays.length;
    const error = await clientOf(server)
      .getAccount()
      .then(
        () => undefined,
        (/** @type {unknown} */ reason) => reason,
      );
    const { name, isDayUsedUp, field } = error ?? {};
    return { name, code: error?.code, isDayUsedUp, field, delays: time.delays.length - before };
  };

  const messages = ['The daily limit is used up', 'a request is under way', 'field must be', ''];
  for (const code of [...Object.values(errorCodes), 'of_a_later_release'])
    for (const status of [400, 403, 404, 409, 429, 503]) {
      const isOfField = status === 400 && code === errorCodes.invalidField;
      const begin = isOfField ? 'inboxes[1].ttlSeconds ' : '';
      const plain = await outcome(code, status, `${begin}x`);
      assert.equal(plain.field, isOfField ? 'inboxes[1].ttlSeconds' : undefined);
      for (const message of messages.map((words) => begin + words))
        assert.deepEqual(await outcome(code, status, message), plain, `${status} ${code}`);
    }
});

test('the field of a refusal is the name that its message begins with', async (t) => {
  for (const [message, field] of [
    ['ttlSeconds must be an integer', 'ttlSeconds'],
    ['inboxes[1].ttlSeconds: too large', 'inboxes[1].ttlSeconds'],
    ['steps[2].reply fits no stage', 'steps[2].reply'],
    ['header.X-Run', 'header.X-Run'],
    ['"a" is no field', undefined],
  ]) {
    const headers = { 'x-error-code': 'invalid_field' };
    const server = await scripted(t, [{ status: 400, headers, body: { message } }]);
    const error = await failure(clientOf(server).getAccount());
    assert.equal(error.field, field, message);
  }
});

test('words of a later release are passed on', async (t) => {
  const step = { step: 'scanned', at: '2026-11-21T10:00:00.123Z', note: null, by: 'x' };
  const ids = { emailId: ID, inboxId: ID };
  const timeline = { ...ids, steps: [step], missing: ['scans'], isTruncated: false };
  const server = await scripted(t, [{ status: 200, body: timeline }]);

  assert.deepEqual(await clientOf(server).getEmailTimeline(ID), timeline);
});

test('other errors are not repeated', async (t) => {
  for (const status of [400, 401, 403, 404, 409, 422, 500]) {
    const server = await scripted(t, [{ status, body: { message: `no ${status}` } }]);

    const error = await failure(clientOf(server).createInbox());

    assert.ok(error instanceof ApiError);
    assert.equal(error.status, status);
    assert.equal(error.reason, `no ${status}`);
    assert.equal(server.requests.length, 1);
  }
});

test('a 409 of the first try still under way is waited for after a cut, and only then', async (t) => {
  clock(t);
  const underWay = {
    status: 409,
    headers: { 'retry-after': '1', 'x-error-code': 'idempotency_in_progress' },
    body: { message: 'in any words' },
  };
  const cut = await scripted(t, ['cut', underWay, MADE]);
  const first = await scripted(t, [underWay, MADE]);

  assert.equal((await clientOf(cut).createInbox()).inboxId, ID);
  assert.equal(keysOf(cut).length, 1);
  await assert.rejects(clientOf(first).createInbox(), Conflict);
});

test('a DELETE whose repeat finds nothing after a cut has worked', async (t) => {
  clock(t);
  for (const before of ['cut', busy(), { status: 502 }, { status: 504 }])
    for (const [method, field] of [
      ['deleteInbox', 'inboxId'],
      ['deleteEmail', 'emailId'],
      ['deleteWebhook', 'webhookId'],
    ]) {
      const server = await scripted(t, [before, GONE]);

      assert.deepEqual(await clientOf(server)[method](ID), { [field]: ID, deleted: true });
    }
});

test('a DELETE that was never sent has not worked', async (t) => {
  clock(t);
  const server = await scripted(t, [{ status: 404, body: { message: 'does not exist' } }]);
  const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const refused = () => Promise.reject(new TypeError('fetch failed', { cause }));
  t.mock.method(globalThis, 'fetch').mock.mockImplementationOnce(refused);

  await assert.rejects(clientOf(server).deleteInbox(ID), NotFound);

  assert.equal(server.requests.length, 1);
});

test('a DELETE that finds nothing at once is NotFound', async (t) => {
  const server = await scripted(t, [GONE]);

  await assert.rejects(clientOf(server).deleteEmail(ID), NotFound);
});

test('the inbox to empty that is not found after a cut is NotFound', async (t) => {
  const server = await scripted(t, ['cut', GONE]);

  await assert.rejects(clientOf(server).emptyInbox(ID), NotFound);
});

test("a POST is repeated after a proxy's 502 and 504 under one Idempotency-Key", async (t) => {
  const time = clock(t);
  const page = { headers: { 'content-type': 'text/html' }, body: '<html>Bad Gateway</html>' };
  const server = await scripted(t, [{ ...page, status: 502 }, { ...page, status: 504 }, MADE]);

  assert.equal((await clientOf(server).createInbox()).inboxId, ID);

  assert.equal(server.requests.length, 3);
  assert.equal(keysOf(server).length, 1);
  assertDelays(time, [0.25, 0.5]);
});

test('a proxy whose service does not come back is given up, with its status', async (t) => {
  const time = clock(t);
  const server = await scripted(t, [{ status: 502, body: { message: 'no upstream' } }]);

  const error = await failure(clientOf(server).getInbox(ID));

  assert.ok(error instanceof ApiError, String(error));
  assert.equal(error.status, 502);
  assertDelays(time, [0.25, 0.5, 1, 2]);
});

test('an answer cut in the middle is asked for again', async (t) => {
  const half = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    response.write('{"inboxId":', () => response.destroy());
  };
  const server = await scripted(t, [half, { body: INBOX }]);

  assert.equal((await clientOf(server).getInbox(ID)).inboxId, ID);
});

test('connections that are always cut end in an error that says where and what to check', async (t) => {
  clock(t);
  const server = await scripted(t, ['cut']);

  const error = await failure(clientOf(server).getInbox(ID));

  assert.ok(error instanceof ConnectionFailed);
  assert.equal(error.attempts, 5);
  assert.ok(error.message.includes(`GET ${server.baseUrl}/v1/inboxes/${ID} failed, 5 times`));
  assert.match(error.message, /TEMPINBOX_BASE_URL/);
});

test('a vanished service is an error that says where and what to check', async (t) => {
  clock(t);
  const baseUrl = await vacantUrl();

  const error = await failure(clientOf({ baseUrl }).listDomains());

  assert.ok(error instanceof ConnectionFailed);
  assert.match(error.message, /ECONNREFUSED/);
  assert.ok(error.message.includes(`${baseUrl}/v1/domains`));
  assert.match(error.message, /is running and reachable/);
});

test('a host that does not exist is an error at once', async (t) => {
  const time = clock(t);

  const error = await failure(clientOf({ baseUrl: 'http://nowhere.invalid' }).listDomains());

  assert.ok(error instanceof ConnectionFailed);
  assert.match(error.message, /nowhere\.invalid/);
  if (/ENOTFOUND/.test(error.message)) assertDelays(time, []);
});

test('a server that never answers is given up at the deadline', async (t) => {
  const server = await scripted(t, [() => undefined]);

  const error = await failure(clientOf(server).listDomains({ timeoutSeconds: 0.5 }));

  assert.ok(error instanceof ConnectionFailed);
  assert.match(error.message, /no answer in 0\.5 s/);
});

test('a call whose answer does not come within the limits of fetch is tried again', async (t) => {
  clock(t);
  const server = await scripted(t, [{ body: INBOX }]);
  for (const code of ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']) {
    failFetch(t, code, { times: 1 });

    assert.equal((await clientOf(server).getInbox(ID)).inboxId, ID);
  }
});

test('a host that lets no connection come about is given up, also by a wait', async (t) => {
  const time = clock(t);
  failFetch(t, 'UND_ERR_CONNECT_TIMEOUT', { before: () => time.pass(10) });

  const error = await failure(
    clientOf({ baseUrl: 'http://unreachable.invalid' }).waitForEmail(INBOX, {
      timeoutSeconds: 600,
    }),
  );

  assert.ok(error instanceof ConnectionFailed, String(error));
  assert.equal(error.attempts, 5);
});

test(
  'a hold may be answered 14 s late; after 15 s it is asked again',
  { timeout: 30_000 },
  async (t) => {
    const time = clock(t);
    const silent = () => time.pass(55 + 15);
    const server = await scripted(t, [emptyHold(time, 55 + 14), silent, holdAnswer(newEmail(1))]);

    const email = await clientOf(server).waitForEmail(INBOX, { timeoutSeconds: 600 });

    assert.equal(email.sequence, 1);
    assert.equal(server.requests.length, 3);
    assertDelays(time, [0.25]);
  },
);

test('a silent host ends a wait within seconds of its deadline', { timeout: 30_000 }, async (t) => {
  const time = clock(t);
  for (const [timeoutSeconds, untilEnd] of [
    [60, 65],
    [55, 60],
    [20, 25],
  ]) {
    const server = await scripted(t, [() => time.pass(untilEnd)]);

    const error = await failure(clientOf(server).waitForEmail(INBOX, { timeoutSeconds }));

    assert.ok(error instanceof ConnectionFailed, String(error));
    assert.equal(server.requests.length, 1);
  }
});

test('a wait holds for at most 55 s, as proxies end a request at 60', async (t) => {
  const time = clock(t);
  const server = await scripted(t, [emptyHold(time, 55), emptyHold(time, 55), emptyHold(time, 10)]);

  await assert.rejects(clientOf(server).waitForEmail(INBOX, { timeoutSeconds: 120 }), WaitTimeout);

  const holds = server.requests.map(({ url }) => /timeoutSeconds=(\d+)/.exec(url)[1]);
  assert.deepEqual(holds, ['55', '55', '10']);
});

test('a wait whose last answer decided nothing looks once more', async (t) => {
  const time = clock(t);
  const draining = (_, response) => {
    time.pass(4.6);
    response.end(JSON.stringify({ ...holdAnswer().body, outcome: 'draining' }));
  };
  const mail = holdAnswer({ ...newEmail(1), subject: 'Hi', from: 'a@b.example' });
  const expectNone = async (server) =>
    await failure(clientOf(server).expectNoEmail(INBOX, { timeoutSeconds: 5 }));
  const waitForOne = async (server) =>
    await clientOf(server).waitForEmail(INBOX, { timeoutSeconds: 5 });

  const violated = await expectNone(await scripted(t, [draining, mail]));
  const found = await waitForOne(await scripted(t, [draining, mail]));
  const away = await scripted(t, [draining]);
  const undecided = await expectNone(away);
  const result = await failure(
    clientOf(away).waitForResult(INBOX, { expect: 'none', timeoutSeconds: 5 }),
  );
  const late = await failure(waitForOne(await scripted(t, [draining])));

  assert.ok(violated instanceof UnexpectedEmail, String(violated));
  assert.equal(found.sequence, 1);
  assert.match(undecided.message, /nothing is decided/);
  assert.equal(result.message, undecided.message);
  assert.equal(away.requests.length, 4);
  assert.ok(late instanceof WaitTimeout, String(late));
});

test('a wait goes on however often it is cut, once the service was reached', async (t) => {
  const time = clock(t);
  const cuts = ['cut', { status: 502 }, { status: 504 }, ...Array(9).fill('cut')];
  const server = await scripted(t, [{ body: INBOX }, ...cuts, holdAnswer(newEmail(1))]);
  const client = clientOf(server);
  await client.getInbox(ID);

  const email = await client.waitForEmail(INBOX, { timeoutSeconds: 600 });

  assert.equal(email.sequence, 1);
  assertDelays(time, [0.25, 0.5, 1, ...Array(9).fill(2)]);
});

test('a wait that is always cut ends at its deadline', async (t) => {
  const time = clock(t);
  const server = await scripted(t, [{ body: INBOX }, 'cut']);
  const client = clientOf(server);
  await client.getInbox(ID);

  await assert.rejects(client.waitForEmail(INBOX, { timeoutSeconds: 60 }), ConnectionFailed);

  const seconds = time.delays.reduce((sum, delay) => sum + delay);
  assert.ok(seconds > 55 && seconds < 60, `${seconds} s`);
});

test('a wait gives up after four repeats where the service was never reached', async (t) => {
  const time = clock(t);
  for (const step of ['cut', { status: 502 }]) {
    time.delays.length = 0;
    const server = await scripted(t, [step]);

    await failure(clientOf(server).waitForEmail(INBOX, { timeoutSeconds: 600 }));

    assertDelays(time, [0.25, 0.5, 1, 2]);
  }
});

test('a call that is no wait gives up after four repeats, though the service was reached', async (t) => {
  const time = clock(t);
  const server = await scripted(t, [{ body: INBOX }, 'cut']);
  const client = clientOf(server);
  await client.getInbox(ID);

  await assert.rejects(client.getInbox(ID), ConnectionFailed);

  assertDelays(time, [0.25, 0.5, 1, 2]);
});

test('of many emails without the link the newest 10 are near misses', async (t) => {
  const time = clock(t);
  const emails = Array.from({ length: 12 }, (_, index) => holdAnswer(newEmail(index + 1)));
  const server = await scripted(t, [...emails, emptyHold(time, 60)]);

  const error = await failure(clientOf(server).waitForLink(INBOX));

  assert.ok(error instanceof WaitTimeout, String(error));
  assert.equal(error.nearMisses.length, 10);
});

test('a signal ends a call with its own reason, also between two tries', async (t) => {
  const silent = await scripted(t, [() => undefined]);
  const waiting = await scripted(t, [busy({ 'retry-after': '20' })]);
  for (const server of [silent, waiting]) {
    const reason = new Error('enough');
    const ended = new AbortController();
    setTimeout(() => ended.abort(reason), 200);
    await assert.rejects(clientOf(server).listDomains({ signal: ended.signal }), reason);
  }
});

test('a redirect is not followed: the key stays here', async (t) => {
  const other = await scripted(t, [{ body: {} }]);
  const server = await scripted(t, [{ status: 308, headers: { location: other.baseUrl } }]);

  const error = await failure(clientOf(server).listDomains());

  assert.ok(error instanceof TempinboxError);
  assert.match(error.message, /redirect/);
  assert.ok(error.message.includes(other.baseUrl));
  assert.equal(other.requests.length, 0);
});

test('a page of something else than the API is an error that says so', async (t) => {
  const page = { headers: { 'content-type': 'text/html' }, body: '<html>Welcome</html>' };
  for (const status of [200, 404]) {
    const server = await scripted(t, [{ ...page, status }]);
    const error = await failure(clientOf(server).listDomains());
    assert.ok(error instanceof ApiError);
    assert.equal(error.status, status);
    assert.match(error.message, /not the API's but "text\/html".*TEMPINBOX_BASE_URL/);
  }
});

test('fields that the contract does not have are kept and break nothing', async (t) => {
  const body = { ...INBOX, color: 'blue', status: 'frozen', nested: { deep: [1] } };
  const server = await scripted(t, [{ body }, { body: { inboxes: [body], nextCursor: null } }]);
  const client = clientOf(server);

  assert.equal((await client.getInbox(ID)).color, 'blue');
  assert.deepEqual(await client.listInboxes().toArray(), [body]);
});

test('a wait whose inbox ends is refused at once, with when it ended', async (t) => {
  const time = clock(t);
  const ended = { body: { outcome: 'inbox_ended', email: null, nearMisses: [] } };
  const refusal = {
    status: 404,
    headers: { 'X-Error-Code': 'inbox_ended' },
    body: { statusCode: 404, error: 'Not Found', message: `Inbox ${ID} ended at …` },
  };
  const server = await scripted(t, [ended, refusal]);

  const error = await failure(clientOf(server).waitForEmail(INBOX, { timeoutSeconds: 60 }));

  assert.equal(error.code, 'inbox_ended');
  assertDelays(time, []);
});

test('a list that never ends is noticed', async (t) => {
  const server = await scripted(t, [{ body: { inboxes: [], nextCursor: 'same' } }]);

  await assert.rejects(clientOf(server).listInboxes().toArray(), /same one again/);
});

test("text of strangers in a message cannot move a terminal's cursor", async (t) => {
  const misses = [
    { emailId: ID, field: 'subject', expected: 'a', actual: '\u001b[2J\u202eevil\r\n' },
  ];
  const body = {
    outcome: 'timeout',
    email: null,
    lastSequence: 1,
    waitedMs: 1,
    nearMisses: misses,
  };
  const time = clock(t);
  const atEnd = (_, response) => {
    time.pass(1);
    response.end(JSON.stringify(body));
  };
  const server = await scripted(t, [atEnd]);

  const error = await failure(
    clientOf(server).waitForEmail(INBOX, { subject: 'a', timeoutSeconds: 1 }),
  );

  assert.match(error.message, /is " \[2J evil ": /);
});

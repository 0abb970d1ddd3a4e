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
} from './harness/package.mjs';
import { failure } from './harness/failure.mjs';
import { scripted, vacantUrl } from './harness/servers.mjs';

const ID = '01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f';
const INBOX = { inboxId: ID, emailAddress: 'a@inbox.example.com', lastSequence: 0 };
const MADE = { status: 201, body: INBOX };

const busy = (headers = {}) => ({ status: 503, headers, body: { message: 'try again' } });
const slower = (headers) => ({ status: 429, headers, body: { message: 'More than 5 a second' } });

function clientOf({ baseUrl }, settings = {}) {
  return new Tempinbox({ baseUrl, apiKey: 'ti_live_key', ...settings });
}

const keysOf = ({ requests }) => [
  ...new Set(requests.map(({ headers }) => headers['idempotency-key'])),
];

test('a POST is repeated after 429, 503 and a cut connection under one Idempotency-Key', async (t) => {
  const server = await scripted(t, [slower({ 'retry-after': '1' }), busy(), 'cut', MADE]);

  const inbox = await clientOf(server).createInbox({ name: 'x' });

  assert.equal(inbox.inboxId, ID);
  assert.equal(server.requests.length, 4);
  assert.equal(keysOf(server).length, 1);
  assert.match(keysOf(server)[0], /^[0-9a-f-]{36}$/);
  assert.ok(server.requests.every(({ body }) => body === '{"name":"x"}'));
  assert.ok(server.requests[1].at - server.requests[0].at >= 1000, 'Retry-After was kept');
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
  const server = await scripted(t, [slower({ 'retry-after': '10' })]);
  const began = performance.now();

  const error = await failure(clientOf(server, { timeoutSeconds: 5 }).createInbox());

  assert.ok(error instanceof RateLimited, String(error));
  assert.equal(error.isDayUsedUp, false);
  assert.equal(error.retryAfterSeconds, 10);
  assert.match(error.message, /More than 5 a second/);
  assert.match(error.message, /timeoutSeconds/);
  assert.ok(performance.now() - began < 2000);
  assert.equal(server.requests.length, 1);
});

test('a service that stays busy is given up at the deadline', async (t) => {
  const server = await scripted(t, [busy({ 'retry-after': '1' })]);
  const began = performance.now();

  await assert.rejects(clientOf(server).getAccount({ timeoutSeconds: 3 }), ServiceUnavailable);

  const seconds = (performance.now() - began) / 1000;
  assert.ok(seconds < 3, `${seconds} s`);
  assert.ok(server.requests.length >= 2 && server.requests.length <= 3);
});

test("a proxy's Retry-After as a date is kept", async (t) => {
  const inOneHour = new Date(Date.now() + 3_600_000).toUTCString();
  const server = await scripted(t, [busy({ 'retry-after': inOneHour })]);

  await assert.rejects(clientOf(server).getAccount(), ServiceUnavailable);

  assert.equal(server.requests.length, 1);
});

test('a Retry-After that is over is no loop without pause', async (t) => {
  for (const told of ['0', 'Sat, 21 Nov 2020 10:00:00 GMT']) {
    const server = await scripted(t, [slower({ 'retry-after': told })]);

    await assert.rejects(clientOf(server, { timeoutSeconds: 2 }).getAccount(), RateLimited);

    const { length } = server.requests;
    assert.ok(length >= 2 && length <= 3, `${length} requests`);
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
  const underWay = { status: 409, headers: { 'retry-after': '1' }, body: { message: 'under way' } };
  const cut = await scripted(t, ['cut', underWay, MADE]);
  const first = await scripted(t, [underWay, MADE]);

  assert.equal((await clientOf(cut).createInbox()).inboxId, ID);
  assert.equal(keysOf(cut).length, 1);
  await assert.rejects(clientOf(first).createInbox(), Conflict);
});

test('a DELETE whose repeat finds nothing after a cut has worked', async (t) => {
  const gone = { status: 404, body: { message: 'does not exist' } };
  const server = await scripted(t, ['cut', gone]);

  assert.deepEqual(await clientOf(server).deleteInbox(ID), { inboxId: ID, deleted: true });
});

test('a DELETE that finds nothing at once is NotFound', async (t) => {
  const server = await scripted(t, [{ status: 404, body: { message: 'does not exist' } }]);

  await assert.rejects(clientOf(server).deleteEmail(ID), NotFound);
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
  const server = await scripted(t, ['cut']);

  const error = await failure(clientOf(server).getInbox(ID));

  assert.ok(error instanceof ConnectionFailed);
  assert.equal(error.attempts, 5);
  assert.ok(error.message.includes(`GET ${server.baseUrl}/v1/inboxes/${ID} failed, 5 times`));
  assert.match(error.message, /TEMPINBOX_BASE_URL/);
});

test('a vanished service is an error that says where and what to check', async () => {
  const baseUrl = await vacantUrl();

  const error = await failure(clientOf({ baseUrl }, { timeoutSeconds: 2 }).listDomains());

  assert.ok(error instanceof ConnectionFailed);
  assert.match(error.message, /ECONNREFUSED/);
  assert.ok(error.message.includes(`${baseUrl}/v1/domains`));
  assert.match(error.message, /is running and reachable/);
});

test('a host that does not exist is an error at once', async () => {
  const began = performance.now();

  const error = await failure(clientOf({ baseUrl: 'http://nowhere.invalid' }).listDomains());

  assert.ok(error instanceof ConnectionFailed);
  assert.match(error.message, /nowhere\.invalid/);
  if (/ENOTFOUND/.test(error.message)) assert.equal(error.attempts, 1);
  assert.ok(performance.now() - began < 20_000);
});

test('a server that never answers is given up at the deadline', async (t) => {
  const server = await scripted(t, [() => undefined]);

  const error = await failure(clientOf(server).listDomains({ timeoutSeconds: 0.5 }));

  assert.ok(error instanceof ConnectionFailed);
  assert.match(error.message, /no answer in 0\.5 s/);
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
  const server = await scripted(t, [
    (_, response) => setTimeout(() => response.end(JSON.stringify(body)), 1000),
  ]);

  const error = await failure(
    clientOf(server).waitForEmail(INBOX, { subject: 'a', timeoutSeconds: 1 }),
  );

  assert.match(error.message, /is " \[2J evil ": /);
});

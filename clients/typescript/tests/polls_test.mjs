import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ApiError, Redirected, ServiceUnavailable, Tempinbox } from './harness/package.mjs';
import { failure } from './harness/failure.mjs';
import { scripted } from './harness/servers.mjs';

const ID = '01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f';
const NOTHING = { outcome: 'timeout', email: null, lastSequence: 3, waitedMs: 1, nearMisses: [] };
const MATCHED = { ...NOTHING, outcome: 'matched', email: { emailId: ID, sequence: 4 }, more: 1 };

function clientOf({ baseUrl }, settings = {}) {
  return new Tempinbox({ baseUrl, apiKey: 'ti_live_key', ...settings });
}

const queryOf = ({ url }) => Object.fromEntries(new URL(url, 'http://a').searchParams);

test('a poll is one request, which is not sent again', async (t) => {
  const server = await scripted(t, [{ status: 503, body: { message: 'busy' } }, { body: NOTHING }]);
  const client = clientOf(server, { maxHoldSeconds: 7 });

  const error = await failure(client.pollForResult(ID, { after: 2 }));
  const result = await client.pollForResult(ID, { after: 2, subject: 'x', expect: 'none' });

  assert.ok(error instanceof ServiceUnavailable);
  assert.deepEqual(result, NOTHING);
  assert.deepEqual(server.requests.map(queryOf), [
    { after: '2', expect: 'one', timeoutSeconds: '7' },
    { after: '2', subject: 'x', expect: 'none', timeoutSeconds: '7' },
  ]);
});

test('a call without retries is sent once', async (t) => {
  const server = await scripted(t, ['cut']);

  await failure(clientOf(server).getInbox(ID, { retries: false }));

  assert.equal(server.requests.length, 1);
});

test('the whole answer of a wait has what this version does not know', async (t) => {
  const server = await scripted(t, [{ body: NOTHING }, { body: MATCHED }]);

  const result = await clientOf(server, { maxHoldSeconds: 2 }).waitForResult(ID, { after: 3 });

  assert.deepEqual(result, MATCHED);
  assert.deepEqual(
    server.requests.map((request) => queryOf(request).timeoutSeconds),
    ['2', '2'],
  );
});

test('a wait in which nothing came ends with the last answer', async (t) => {
  const server = await scripted(t, [
    (_, response) => setTimeout(() => response.end(JSON.stringify(NOTHING)), 1000),
  ]);

  assert.deepEqual(await clientOf(server).waitForResult(ID, { timeoutSeconds: 1 }), NOTHING);
});

test('a page is as many requests as it takes, and has the next cursor', async (t) => {
  const inboxes = (count) => Array.from({ length: count }, (_, number) => ({ number }));
  const server = await scripted(t, [
    { body: { inboxes: inboxes(100), nextCursor: 'a' } },
    { body: { inboxes: inboxes(30), nextCursor: 'b' } },
  ]);

  const { items, nextCursor } = await clientOf(server)
    .listInboxes({ tag: 't', order: 'asc' })
    .page(130);

  assert.equal(items.length, 130);
  assert.equal(nextCursor, 'b');
  assert.deepEqual(server.requests.map(queryOf), [
    { tag: 't', order: 'asc', limit: '100' },
    { tag: 't', order: 'asc', limit: '30', cursor: 'a' },
  ]);
});

test('a page that is the same one again ends the list', async (t) => {
  const server = await scripted(t, [{ body: { inboxes: [], nextCursor: 'a' } }]);

  const error = await failure(clientOf(server).listInboxes().page(5));

  assert.match(error.message, /does not go on/);
});

test('an answer of another server can be told from one of the API', async (t) => {
  const other = await scripted(t, [{ body: ['no', 'object'] }]);
  const own = await scripted(t, [{ status: 404, body: { message: 'gone' } }]);

  const foreign = await failure(clientOf(other).getInbox(ID));
  const known = await failure(clientOf(own).getInbox(ID));

  assert.ok(foreign instanceof ApiError);
  assert.equal(foreign.isFromApi, false);
  assert.equal(known.isFromApi, true);
});

test('a redirect says where it leads', async (t) => {
  const server = await scripted(t, [{ status: 308, headers: { location: 'https://b.example' } }]);

  const error = await failure(clientOf(server).getInbox(ID));

  assert.ok(error instanceof Redirected);
  assert.equal(error.location, 'https://b.example');
});

test('a fetch that is given takes the place of the global one', async () => {
  const requests = [];
  const fetch = (url, { method, headers }) => {
    requests.push([method, url, headers['user-agent'].split(' ')[0]]);
    const body = (async function* () {
      yield await Promise.resolve(Buffer.from('{"domains":[]}'));
    })();
    return Promise.resolve({ status: 200, headers: { get: () => null }, body });
  };
  const client = clientOf({ baseUrl: 'http://a.example' }, { fetch, application: 'tests/1' });

  assert.deepEqual(await client.listDomains(), []);
  assert.deepEqual(requests, [['GET', 'http://a.example/v1/domains', 'tests/1']]);
});

test('settings out of their bounds are refused', () => {
  for (const wrong of [{ maxHoldSeconds: 61 }, { maxHoldSeconds: 0.5 }, { application: 'a b' }])
    assert.throws(() => clientOf({ baseUrl: 'http://a' }, wrong), /must be/);
});

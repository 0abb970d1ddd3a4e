import assert from 'node:assert/strict';
import { test } from 'node:test';

import { CursorExpired, CursorReset, InvalidArgument, Tempinbox } from './harness/package.mjs';
import { clock } from './harness/clock.mjs';
import { scripted } from './harness/servers.mjs';
import { send } from './harness/suite.mjs';

const page = (nextCursor, ...ids) => ({
  body: {
    events: ids.map((eventId) => ({ eventId, cursor: `c${eventId}`, payload: {} })),
    nextCursor,
    hasMore: false,
  },
});
const lost = (code, headers) => ({
  status: 410,
  headers: { 'x-error-code': code, 'x-resume-after': 'AQE', ...headers },
  body: { statusCode: 410, error: 'Gone', message: 'gone' },
});

function clientOf({ baseUrl }) {
  return new Tempinbox({ baseUrl, apiKey: 'ti_live_key' });
}

async function take(count, events) {
  const found = [];
  if (count > 0) for await (const event of events) if (found.push(event) === count) break;
  return found;
}

test('events of the suite are followed, each once', async () => {
  const client = new Tempinbox();
  const { nextCursor } = await client.listEvents();
  await client.withInbox(async (inbox) => {
    const subjects = ['one', 'two', 'three'];
    const { inboxId } = inbox;
    const following = take(4, client.events({ after: nextCursor, inboxId }));
    for (const subject of subjects) await send(inbox.emailAddress, { subject });

    const events = await following;

    const kinds = events.map(({ payload }) => payload.event);
    assert.deepEqual(kinds, ['inbox.created', ...subjects.map(() => 'email.received')]);
    const [, first] = events;
    const rest = await take(2, client.events({ after: first.cursor, inboxId }));
    assert.deepEqual(rest, events.slice(2));
    const mails = await client.listEvents({
      after: nextCursor,
      inboxId,
      types: ['email.received'],
    });
    assert.deepEqual(mails.events, events.slice(1));
  });
});

test('a reader goes on with its last cursor, whatever happens to a request', async (t) => {
  clock(t);
  const server = await scripted(t, [
    page('c0'),
    page('c2', '1', '2'),
    { status: 503, body: { message: 'try again' } },
    { status: 502, body: {} },
    page('c3', '3'),
  ]);

  const found = await take(3, clientOf(server).events());

  assert.deepEqual(
    found.map(({ eventId }) => eventId),
    ['1', '2', '3'],
  );
  const sent = server.requests.map(({ url }) => url.replace('/v1/events', ''));
  assert.deepEqual(sent.slice(0, 2), ['', '?after=c0&waitSeconds=55']);
  assert.deepEqual(new Set(sent.slice(2)), new Set(['?after=c2&waitSeconds=55']));
});

test('429 is waited out for as long as it says', async (t) => {
  const { delays } = clock(t);
  const server = await scripted(t, [
    page('c0'),
    { status: 429, headers: { 'retry-after': '7' }, body: { message: 'slower' } },
    page('c1', '1'),
  ]);

  const [event] = await take(1, clientOf(server).events());

  assert.equal(event.eventId, '1');
  assert.equal(delays.length, 1);
  assert.ok(delays[0] >= 7 && delays[0] <= 7 * 1.25, `${delays[0]} s`);
  const [, refused, repeated] = server.requests;
  assert.equal(repeated.url, refused.url);
});

test('a reader that breaks out asks for nothing more', async (t) => {
  const server = await scripted(t, [page('c0', '1', '2')]);
  const events = clientOf(server).events();

  await take(1, events);

  assert.deepEqual(await events.next(), { value: undefined, done: true });
  assert.equal(server.requests.length, 1);
});

test('a signal ends the request under way with its reason', async (t) => {
  const reason = new Error('enough');
  const ended = new AbortController();
  let noticed;
  const closed = new Promise((resolve) => {
    noticed = resolve;
  });
  const silent = (_, response) => {
    response.on('close', noticed);
    ended.abort(reason);
  };
  const server = await scripted(t, [page('c1', '1'), silent]);

  const following = take(2, clientOf(server).events({ signal: ended.signal }));

  await assert.rejects(following, reason);
  await closed;
  assert.equal(server.requests.length, 2);
});

test('what is lost is an error that says where to go on', async (t) => {
  const server = await scripted(t, [
    lost('cursor_expired', { 'x-missed-events': '7' }),
    lost('cursor_reset', {}),
  ]);
  const client = clientOf(server);

  await assert.rejects(
    take(1, client.events({ after: 'AQA' })),
    (error) => error instanceof CursorExpired && error.missed === 7 && error.resumeAfter === 'AQE',
  );
  await assert.rejects(
    client.listEvents({ after: 'AQA' }),
    (error) => error instanceof CursorReset && error.resumeAfter === 'AQE',
  );
  await assert.rejects(take(1, client.events({ waitSeconds: 5 })), InvalidArgument);
});

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

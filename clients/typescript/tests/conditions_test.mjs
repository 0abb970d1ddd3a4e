import assert from 'node:assert/strict';
import { test } from 'node:test';

import { failure } from './harness/failure.mjs';
import { InvalidArgument, Tempinbox, WaitTimeout } from './harness/package.mjs';
import { scripted } from './harness/servers.mjs';

const ID = '01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f';
const TIMEOUT = {
  outcome: 'timeout',
  email: null,
  matched: 0,
  emails: [],
  lastSequence: 3,
  waitedMs: 1,
  nearMisses: [],
};
const SUMMARY = {
  emailId: ID,
  inboxId: ID,
  sequence: 4,
  from: 'robot@a.example',
  fromName: '',
  to: [],
  recipients: [],
  subject: 'Your code',
  preview: '',
  receivedAt: '2026-11-21T10:00:00.123Z',
  sizeBytes: 1,
  attachmentCount: 0,
  isRead: false,
};
const EMAIL = { ...SUMMARY, codes: [], links: [], html: null };
const CONDITIONS = [
  [{ from: 'robot@' }, { from: 'robot@' }],
  [{ to: 'ann' }, { to: 'ann' }],
  [{ recipient: '+signup' }, { recipient: '+signup' }],
  [{ subject: 'code & more' }, { subject: 'code & more' }],
  [{ hasCode: false }, { hasCode: 'false' }],
  [{ hasLink: true }, { hasLink: 'true' }],
  [{ linkKind: 'reset' }, { linkKind: 'reset' }],
  [{ hasAttachment: true }, { hasAttachment: 'true' }],
  [{ isRead: false }, { isRead: 'false' }],
  [{ since: '2026-11-21T10:00:00+01:00' }, { since: '2026-11-21T10:00:00+01:00' }],
  [{ until: new Date(Date.UTC(2026, 10, 21, 10)) }, { until: '2026-11-21T10:00:00.000Z' }],
  [
    { headers: { 'X-Run': '4711', 'x-job': 'a b' } },
    { 'header.X-Run': '4711', 'header.x-job': 'a b' },
  ],
  [{ text: 'Straße 7' }, { text: 'Straße 7' }],
  [{ subject: undefined, headers: {} }, {}],
];

/** @type {[object, RegExp][]} */
const WRONG = [
  [{ subjekt: 'a' }, /^subjekt is unknown here; there are: from, to, recipient, subject/],
  [{ text: '' }, /^text must be a string of 1 to 500 characters/],
  [{ linkKind: 'login' }, /^linkKind must be one of verify, reset, unsubscribe, other/],
  [{ isRead: 'no' }, /^isRead must be true or false/],
  [{ since: 'yesterday' }, /^since must be a time such as/],
  [{ since: new Date(NaN) }, /^since must be a valid date/],
  [{ headers: 'X-Run: 1' }, /^headers must be an object of at most 4 pairs of strings/],
  [{ headers: { a: '1', b: '1', c: '1', d: '1', e: '1' } }, /^headers must be .* not 5 pairs/],
  [{ headers: { 'X Run': '1' } }, /^a name in headers must be a string of 1 to 100 characters/],
  [{ headers: { '': '1' } }, /^a name in headers must be a string of 1 to 100 characters/],
  [{ headers: { 'X-Run': '' } }, /^headers\.X-Run must be a string of 1 to 500 characters/],
];

const clientOf = ({ baseUrl }) => new Tempinbox({ baseUrl, apiKey: 'ti_live_key' });
const queryOf = ({ url }) => Object.fromEntries(new URL(url, 'http://a').searchParams);
const matched = (email, ...emails) => ({
  body: { ...TIMEOUT, outcome: 'matched', email, emails, matched: Math.max(1, emails.length) },
});

test('lists and waits ask for each condition', async (t) => {
  const server = await scripted(
    t,
    CONDITIONS.flatMap(() => [
      { body: { emails: [], nextCursor: null } },
      { body: { emails: [], nextCursor: null } },
      matched(EMAIL),
    ]),
  );
  const client = clientOf(server);

  for (const [conditions, sent] of CONDITIONS) {
    await client.listInboxEmails(ID, { ...conditions, after: SUMMARY }).toArray();
    await client.listEmails({ ...conditions, tag: 'run-4711', order: 'asc' }).toArray();
    await client.waitForEmail(ID, { ...conditions, after: 3, timeoutSeconds: 7 });

    const [ofInbox, ofAll, wait] = server.requests.slice(-3).map(queryOf);
    assert.deepEqual(ofInbox, { ...sent, after: '4' });
    assert.deepEqual(ofAll, { ...sent, tag: 'run-4711', order: 'asc' });
    assert.deepEqual(wait, { ...sent, after: '3', expect: 'one', timeoutSeconds: '7' });
  }
});

test('a wrong condition is refused before the call', async () => {
  const client = clientOf({ baseUrl: 'http://127.0.0.1:1' });
  for (const [conditions, says] of WRONG)
    for (const call of [
      () => client.waitForEmail(ID, conditions),
      () => client.waitForEmails(ID, { ...conditions, minCount: 2 }),
      () => client.waitForResult(ID, conditions),
      () => client.pollForResult(ID, conditions),
      () => client.expectNoEmail(ID, conditions),
      async () => await client.listInboxEmails(ID, conditions).toArray(),
      async () => await client.listEmails(conditions).toArray(),
    ]) {
      const error = await failure((async () => await call())());
      assert.ok(error instanceof InvalidArgument, String(error));
      assert.match(error.message, says);
    }
});

test('what a wait decides by itself is no condition of it', async () => {
  const client = clientOf({ baseUrl: 'http://127.0.0.1:1' });
  for (const [call, says] of [
    [client.waitForCode(ID, { hasCode: true }), /^hasCode is unknown here/],
    [client.waitForLink(ID, { linkKind: 'reset' }), /^linkKind is unknown here/],
    [client.waitForLink(ID, { kind: 'reset', hasLink: true }), /^hasLink is unknown here/],
    [client.waitForEmails(ID, {}), /^minCount is missing/],
    [client.waitForEmails(ID, { minCount: 101 }), /^minCount must be an integer of 1 to 100/],
  ]) {
    const error = await failure(call);
    assert.ok(error instanceof InvalidArgument, String(error));
    assert.match(error.message, says);
  }
});

test('a wait for a link asks the service for its kind', async (t) => {
  const links = (...pairs) => pairs.map(([kind, url]) => ({ kind, url, text: '' }));
  const server = await scripted(t, [
    matched({ ...EMAIL, links: links(['other', 'https://a/'], ['reset', 'https://a/r']) }),
    matched({ ...EMAIL, sequence: 5, links: links(['unsubscribe', 'https://a/u']) }),
    matched({ ...EMAIL, links: links(['other', 'https://a/o'], ['verify', 'https://a/v']) }),
  ]);
  const client = clientOf(server);

  assert.equal(await client.waitForLink(ID, { kind: 'reset', text: 'a' }), 'https://a/r');
  assert.equal(await client.waitForLink(ID), 'https://a/v');

  const common = { expect: 'one' };
  const sent = server.requests.map(queryOf).map(({ timeoutSeconds, ...rest }) => {
    assert.ok(timeoutSeconds);
    return rest;
  });
  assert.deepEqual(sent, [
    { ...common, after: '0', linkKind: 'reset', text: 'a' },
    { ...common, after: '0', hasLink: 'true' },
    { ...common, after: '5', hasLink: 'true' },
  ]);
});

test('a wait for several emails answers their summaries', async (t) => {
  const both = [SUMMARY, { ...SUMMARY, sequence: 6 }];
  const draining = { ...TIMEOUT, outcome: 'draining', matched: 1, emails: both.slice(0, 1) };
  const server = await scripted(t, [{ body: draining }, matched(EMAIL, ...both), matched(EMAIL)]);
  const client = clientOf(server);

  assert.deepEqual(await client.waitForEmails(ID, { minCount: 2, from: 'r', after: 3 }), both);
  assert.deepEqual(await client.waitForEmails(ID, { minCount: 1 }), [SUMMARY]);

  assert.deepEqual(
    server.requests.map(queryOf).map(({ minCount, after, from }) => [minCount, after, from]),
    [
      ['2', '3', 'r'],
      ['2', '3', 'r'],
      ['1', '0', undefined],
    ],
  );
});

test('a wait for several emails that ends too soon has those that came', async (t) => {
  const nearMisses = [{ emailId: ID, field: 'text', expected: 'order', actual: 'Hello' }];
  const server = await scripted(t, [
    { body: { ...TIMEOUT, matched: 1, emails: [SUMMARY], nearMisses } },
  ]);
  const conditions = { minCount: 2, text: 'order', headers: { 'X-Run': '7' }, timeoutSeconds: 1 };

  const error = await failure(clientOf(server).waitForEmails(ID, conditions));
  const result = await clientOf(server).waitForResult(ID, conditions);

  assert.ok(error instanceof WaitTimeout, String(error));
  assert.deepEqual(error.emails, [SUMMARY]);
  assert.deepEqual(error.nearMisses, nearMisses);
  assert.match(error.message, /^1 of 2 emails matched within 1 s\.\n/);
  assert.match(
    error.message,
    /asked for: minCount: 2, text: "order", header\.X-Run: "7", after: 0/,
  );
  assert.match(error.message, /matched: "Your code" from "robot@a\.example"/);
  assert.equal(result.matched, 1);
});

test('pages say how far a search looked', async (t) => {
  const searched = { emails: 2000, texts: 500, backTo: '2026-11-20T08:00:00.000Z' };
  const server = await scripted(t, [
    { body: { emails: [], nextCursor: 'a', searched } },
    { body: { emails: [SUMMARY], nextCursor: null, searched } },
  ]);

  const pages = [];
  for await (const page of clientOf(server).listEmails({ text: 'order' }).pages()) pages.push(page);

  assert.deepEqual(pages, [
    { items: [], nextCursor: 'a', searched },
    { items: [SUMMARY], nextCursor: null, searched },
  ]);
});

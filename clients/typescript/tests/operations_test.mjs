import assert from 'node:assert/strict';
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { failure } from './harness/failure.mjs';
import * as esm from './harness/package.mjs';
import { send, suite } from './harness/suite.mjs';

const { InvalidArgument, NotFound, Tempinbox, WebhookVerificationError, verifyWebhook } = esm;
const client = new Tempinbox();

test('every operation of the contract is a method', async () => {
  const contract = await (await fetch(`${suite.baseUrl}/openapi.json`)).json();
  const ids = Object.values(contract.paths).flatMap((item) =>
    Object.values(item).flatMap((operation) => operation.operationId ?? []),
  );

  assert.ok(ids.length >= 30, `${ids.length}`);
  for (const id of ids) assert.equal(typeof client[id], 'function', id);
});

test('the package works by require as well, and needs no other', () => {
  const require = createRequire(import.meta.url);
  const cjs = require('tempinbox');

  assert.equal(typeof cjs.Tempinbox, 'function');
  assert.notEqual(cjs.Tempinbox, Tempinbox);
  assert.equal(require('tempinbox/package.json').dependencies, undefined);
});

test('an inbox is made, found, changed and ended', async () => {
  const tag = `tag-${randomUUID()}`;
  const made = await client.createInbox({ name: 'a', tags: [tag], metadata: { a: 'b' } });
  await client.createInbox({ tags: [tag] });

  assert.equal((await client.getInbox(made)).name, 'a');
  const changed = await client.updateInbox(made, { ttlSeconds: 60, metadata: { a: null } });
  assert.deepEqual(changed.metadata, {});
  assert.equal((await client.listInboxes({ tag, limit: 1 }).toArray()).length, 2);
  assert.equal((await client.listInboxes({ tag, limit: 1 }).toArray(1)).length, 1);
  const oldest = await client.listInboxes({ tag, limit: 1, order: 'asc' }).toArray();
  assert.deepEqual(oldest[0].inboxId, made.inboxId);
  assert.deepEqual(await client.deleteInboxesByTag(tag), { deletedCount: 2 });
  assert.ok((await client.listDomains()).some((one) => one.isDefault));
});

test('inboxes are made together, each made or refused for itself', async () => {
  const tag = `tag-${randomUUID()}`;
  const taken = (await client.createInbox({ tags: [tag] })).emailAddress.split('@')[0];

  const [first, second, third] = await client.createInboxes([
    { name: 'a', tags: [tag] },
    { localPart: taken },
    { tags: [tag] },
  ]);

  assert.equal(first.inbox.name, 'a');
  assert.equal(first.error, null);
  assert.deepEqual([second.inbox, second.error.code], [null, 'address_taken']);
  assert.equal((await client.getInbox(third.inbox)).status, 'active');
  assert.deepEqual(await client.deleteInboxesByTag(tag), { deletedCount: 3 });
  for (const [given, what] of [
    [[], /inboxes must be an array of 1 to 100 items, not 0/],
    [[{}, { ttlSeconds: 59 }], /inboxes\[1\]\.ttlSeconds must be an integer from 60/],
    [[{ nme: 'x' }], /inboxes\[0\]\.nme is unknown here; there are: localPart/],
    [['x'], /inboxes\[0\] must be an object/],
  ])
    await assert.rejects(
      client.createInboxes(given),
      (error) => error instanceof InvalidArgument && what.test(error.message),
    );
});

test('withInbox ends the inbox, also when the callback throws', async () => {
  const seen = [];
  const value = await client.withInbox({ name: 'x' }, (inbox) => seen.push(inbox));
  const reason = new Error('the test failed');
  await assert.rejects(
    client.withInbox((inbox) => {
      seen.push(inbox);
      throw reason;
    }),
    reason,
  );

  assert.equal(value, 1);
  for (const inbox of seen) assert.equal((await client.getInbox(inbox)).status, 'expired');
});

test('an email is read in every form, marked and deleted', async () => {
  await client.withInbox(async (inbox) => {
    const attachments = [{ filename: 'a.txt', content: 'Grüße' }];
    await send(inbox.emailAddress, { subject: 'Forms', attachments });
    const { emailId, attachments: listed } = await client.waitForEmail(inbox);

    assert.match(
      Buffer.from(await client.getRawEmail(emailId)).toString(),
      /\r\nSubject: Forms\r\n/,
    );
    const found = await client.getAttachment(emailId, listed[0].attachmentId);
    assert.equal(Buffer.from(found.content).toString(), 'Grüße');
    const digest = createHash('sha256').update(found.content).digest('hex');
    assert.equal(listed[0].sha256, digest);
    assert.equal((await client.updateEmail(emailId, { isRead: true })).isRead, true);
    assert.ok((await client.getEmailTimeline(emailId)).steps.length >= 4);
    assert.equal((await client.listEmails({ subject: 'Forms' }).toArray(1)).length, 1);
    const withText = await client
      .listInboxEmails(inbox, { include: ['text', 'codes', 'links'] })
      .toArray();
    assert.equal(withText[0].text.trim(), 'Hello');
    assert.deepEqual(withText[0].links, []);
    assert.deepEqual(withText[0].to, [{ address: inbox.emailAddress, name: '' }]);
    assert.deepEqual(withText[0].recipients, [inbox.emailAddress]);
    assert.deepEqual(await client.listRejections(inbox), []);
    await client.deleteEmail(emailId);
    await assert.rejects(client.getEmail(emailId), NotFound);
    assert.equal((await client.emptyInbox(inbox)).deletedCount, 0);
  });
  assert.equal((await client.getUsage()).length, 30);
});

test('an inbox gets a login, a new password, and none', async () => {
  const inbox = await client.createInbox({ capture: true });
  try {
    const { user, password, url, host, ports } = inbox.capture;
    assert.equal(url, `smtps://${user}:${password}@${host}:${ports.tls[0]}`);
    const rotated = await client.rotateCapture(inbox, { graceSeconds: 60 });
    assert.equal(rotated.user, user);
    assert.notEqual(rotated.password, password);
    const shown = (await client.getInbox(inbox)).capture;
    assert.deepEqual([shown.user, shown.password, shown.url], [user, undefined, undefined]);
    const steps = [{ stage: 'rcpt', reply: '451 4.7.1 Try again later', times: 2 }];
    const [step] = (await client.setFaults(inbox, steps)).steps;
    assert.deepEqual([step.stage, step.times, step.used], ['rcpt', 2, 0]);
    assert.equal((await client.getFaults(inbox)).steps[0].reply, '451 4.7.1 Try again later');
    const report = await client.getSenderReport(inbox);
    assert.deepEqual([report.messages, report.marks.retriesAfter4xx.value], [[], 'not_seen']);
    await client.clearFaults(inbox);
    assert.deepEqual((await client.getFaults(inbox)).steps, []);
    await client.endCapture(inbox);
    assert.equal((await client.getInbox(inbox)).capture, null);
    assert.notEqual((await client.createCapture(inbox)).user, user);
  } finally {
    await client.deleteInbox(inbox);
  }
});

test('a catch-all has a subdomain of its own', async () => {
  const inbox = await client.createInbox({ localPart: '*' });
  try {
    const subdomain = inbox.emailAddress.replace('*@', '');
    const held = (await client.listDomains()).find((one) => one.domain === subdomain);
    assert.deepEqual([held.isSubdomain, held.takesSubdomains], [true, false]);
    const named = await client.createInbox({ localPart: 'ann', domain: subdomain });
    assert.equal(named.emailAddress, `ann@${subdomain}`);
    await client.deleteInbox(named);
  } finally {
    await client.deleteInbox(inbox);
  }
});

test('a webhook is made, tested, sent again and verified', async (t) => {
  const requests = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      requests.push({ headers: request.headers, body: Buffer.concat(chunks) });
      response.end();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${server.address().port}/hook`;

  const { webhookId, secret } = await client.createWebhook({ url, events: ['email.received'] });
  try {
    const delivery = await client.testWebhook(webhookId);
    assert.equal(delivery.status, 'succeeded');
    const event = verifyWebhook(requests[0].body, requests[0].headers, secret);
    assert.equal(event.event, 'email.received');
    const named = await client.testWebhook(webhookId, { event: 'inbox.created' });
    assert.equal(named.event, 'inbox.created');
    await client.retryDelivery(webhookId, delivery.deliveryId);
    const rotated = await client.rotateWebhookSecret(webhookId);
    await client.testWebhook(webhookId);
    for (const one of [secret, rotated.secret])
      verifyWebhook(requests.at(-1).body, requests.at(-1).headers, one);
    const { attempts } = await client.getDelivery(webhookId, delivery.deliveryId);
    assert.equal(attempts.length, 2);
    assert.equal((await client.listDeliveries(webhookId).toArray()).length, 3);
    const since = new Date(Date.now() - 60_000).toISOString();
    assert.equal((await client.replayDeliveries(webhookId, { since })).replayedCount, 0);
    assert.equal((await client.updateWebhook(webhookId, { description: 'x' })).description, 'x');
    assert.equal((await client.getWebhook(webhookId)).url, url);
    assert.ok((await client.listWebhooks().toArray()).length >= 1);
  } finally {
    await client.deleteWebhook(webhookId);
  }
});

test('a request of a webhook that is altered, old or signed by another is refused', () => {
  const key = Buffer.alloc(24, 7);
  const secret = `whsec_${key.toString('base64')}`;
  const body = '{"event":"inbox.created"}';
  const signed = (timestamp) => ({
    'Webhook-Id': 'a',
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': `v1,AAAA v1,${createHmac('sha256', key)
      .update(`a.${timestamp}.${body}`)
      .digest('base64')}`,
  });
  const now = Math.floor(Date.now() / 1000);

  assert.equal(verifyWebhook(body, signed(now), secret).event, 'inbox.created');
  assert.equal(verifyWebhook(body, new Headers(signed(now)), secret).event, 'inbox.created');
  for (const [what, call] of [
    [/another secret/, () => verifyWebhook(`${body} `, signed(now), secret)],
    [/another secret/, () => verifyWebhook(body, signed(now), `whsec_${'A'.repeat(32)}`)],
    [/old/, () => verifyWebhook(body, signed(now - 301), secret)],
    [/ahead/, () => verifyWebhook(body, signed(now + 310), secret)],
    [/webhook-id is missing/, () => verifyWebhook(body, {}, secret)],
    [/must be whsec_/, () => verifyWebhook(body, signed(now), 'whsec_')],
  ])
    assert.throws(
      call,
      (error) => error instanceof WebhookVerificationError && what.test(error.message),
    );
});

test('arguments out of bounds are refused before the call, by name, with what is allowed', async () => {
  const id = '01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f';
  for (const [call, message] of [
    [
      () => client.createInbox({ ttlSeconds: 59 }),
      /^ttlSeconds must be an integer from 60, not 59/,
    ],
    [() => client.createInbox({ tll: 60 }), /^tll is unknown here; there are: localPart/],
    [
      () => client.createInbox({ tags: ['x'.repeat(51)] }),
      /^tags\[0\] must be .* 1 to 50 .* not 51/,
    ],
    [() => client.createInbox({ localPart: '.a' }), /^localPart must be/],
    [() => client.updateInbox(id, {}), /at least one of: ttlSeconds/],
    [() => client.getInbox('x'), /^inboxId must be a UUID .* not "x"/],
    [() => client.getInbox(null), /^inbox must be an inbox or its id, not null/],
    [() => client.waitForCode(undefined), /^inbox must be an inbox or its id, not undefined/],
    [() => client.deleteInbox({ id }), /^inbox must be .* not an object without inboxId/],
    [() => client.waitForEmail(id, { after: '3' }), /^after must be a sequence .* not 3/],
    [() => client.getAttachment(id, '..'), /^attachmentId must not be/],
    [() => client.listInboxes({ limit: 101 }).toArray(), /^limit must be an integer of 1 to 100/],
    [() => client.listWebhooks({ order: 'up' }).toArray(), /^order must be one of desc, asc/],
    [() => client.createWebhook({}), /^url is missing/],
    [() => client.getAccount({ timeout: 3 }), /^timeout is unknown here/],
    [() => client.createInbox({}, { idempotencyKey: '' }), /^idempotencyKey must be/],
  ]) {
    const error = await failure(call());
    assert.ok(error instanceof InvalidArgument, String(error));
    assert.match(error.message, message);
  }
});

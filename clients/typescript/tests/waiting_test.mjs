import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { failure } from './harness/failure.mjs';
import {
  InvalidArgument,
  NotFound,
  Tempinbox,
  UnexpectedEmail,
  WaitTimeout,
} from './harness/package.mjs';
import { forwarder } from './harness/servers.mjs';
import { send, suite } from './harness/suite.mjs';

const client = new Tempinbox();
const isLong = process.env.TEMPINBOX_TEST_LONG === '1';

test('a code and a link are found in the mail that came after the inbox was made', async () => {
  await client.withInbox(async (inbox) => {
    await send(inbox.emailAddress, {
      subject: 'Confirm',
      text: 'Your code is 482913.\nOr open https://app.example.com/verify?t=ab12\n',
    });

    assert.equal(await client.waitForCode(inbox), '482913');
    assert.equal(await client.waitForLink(inbox), 'https://app.example.com/verify?t=ab12');
    assert.equal((await client.waitForEmail(inbox, { subject: 'confirm' })).sequence, 1);
  });
});

test('a mark taken before the trigger hides earlier mail, and an email does as well', async () => {
  await client.withInbox(async (inbox) => {
    await send(inbox.emailAddress, { text: 'Your code is 111222' });
    const first = await client.waitForEmail(inbox);
    const mark = await client.mark(inbox);
    await send(inbox.emailAddress, { text: 'Your code is 333444' });

    assert.equal(await client.waitForCode(inbox, { after: mark }), '333444');
    assert.equal(await client.waitForCode(inbox, { after: first }), '333444');
    assert.equal(await client.waitForCode(inbox.inboxId), '111222');
    const read = await client.getInbox(inbox);
    await client.expectNoEmail(read, { timeoutSeconds: 1 });
  });
});

test('a timeout prints what was asked for, the near misses and where to look', async () => {
  await client.withInbox(async (inbox) => {
    await send(inbox.emailAddress, { subject: 'Welcome' });
    await client.waitForEmail(inbox);

    const error = await failure(
      client.waitForEmail(inbox, { subject: 'your code', timeoutSeconds: 1 }),
    );

    assert.ok(error instanceof WaitTimeout, String(error));
    assert.equal(error.nearMisses[0].actual, 'Welcome');
    assert.match(error.message, /asked for: subject: "your code", after: 0/);
    assert.match(error.message, /subject should be "your code", is "Welcome"/);
    assert.ok(error.message.includes(inbox.emailAddress));
    assert.ok(error.message.includes(`${suite.baseUrl}/dashboard/inboxes/${inbox.inboxId}`));
  });
});

test('an email without such a link is a near miss, and the next one is looked at', async () => {
  await client.withInbox(async (inbox) => {
    await send(inbox.emailAddress, { text: 'https://one.example/a' });
    await client.waitForEmail(inbox);

    const error = await failure(
      client.waitForLink(inbox, { url: 'two.example', timeoutSeconds: 1 }),
    );
    await send(inbox.emailAddress, { text: 'https://two.example/b' });

    assert.ok(error instanceof WaitTimeout, String(error));
    assert.equal(error.nearMisses[0].field, 'link');
    assert.equal(await client.waitForLink(inbox, { url: 'two.example' }), 'https://two.example/b');
  });
});

test('emails are found by what is in them', async () => {
  const tag = `find-${randomUUID()}`;
  await client.withInbox({ tags: [tag] }, async (inbox) => {
    const text = 'Your order 4711\nis on its way.';
    await send(inbox.emailAddress, { subject: 'First', text, headers: { 'X-Run': 'R-7' } });
    await send(inbox.emailAddress, { subject: 'Second', text: 'https://a.example/verify?t=1' });
    const [first, second] = await client.waitForEmails(inbox, { minCount: 2, from: 'robot@' });
    await client.updateEmail(first.emailId, { isRead: true });

    /** @type {[object, string[]][]} */
    const cases = [
      [{ text: 'ORDER 4711 is' }, ['First']],
      [{ headers: { 'x-run': 'r-7' } }, ['First']],
      [{ recipient: inbox.emailAddress, hasCode: false }, ['First', 'Second']],
      [{ hasLink: true, hasAttachment: false }, ['Second']],
      [{ linkKind: 'verify', isRead: false }, ['Second']],
      [{ since: new Date(first.receivedAt), until: second.receivedAt }, ['First']],
    ];
    for (const [conditions, subjects] of cases) {
      const of = (emails) => emails.map(({ subject }) => subject);
      const listed = await client.listInboxEmails(inbox, { ...conditions, order: 'asc' }).toArray();
      assert.deepEqual(of(listed), subjects);
      const all = await client.listEmails({ ...conditions, tag, order: 'asc' }).toArray();
      assert.deepEqual(of(all), subjects);
      assert.equal((await client.waitForEmail(inbox, conditions)).subject, subjects[0]);
    }
    await client.expectNoEmail(inbox, { linkKind: 'reset', timeoutSeconds: 1 });
    const error = await failure(client.waitForEmails(inbox, { minCount: 3, timeoutSeconds: 1 }));
    assert.match(error.message, /^2 of 3 emails matched within 1 s/);
    assert.deepEqual(
      error.emails.map(({ sequence }) => sequence),
      [1, 2],
    );
  });
});

test('an email that should not come is named', async () => {
  await client.withInbox(async (inbox) => {
    await send(inbox.emailAddress, { subject: 'Reminder' });

    const error = await failure(client.expectNoEmail(inbox, { timeoutSeconds: 60 }));

    assert.ok(error instanceof UnexpectedEmail, String(error));
    assert.equal(error.email.subject, 'Reminder');
    assert.match(error.message, /"Reminder" from "robot@sender.example"/);
    await client.expectNoEmail(inbox, { subject: 'Other', timeoutSeconds: 1 });
  });
});

test('a wait on an inbox that ended says so', async () => {
  const inbox = await client.createInbox();
  await client.deleteInbox(inbox);

  await assert.rejects(client.waitForEmail(inbox), NotFound);
});

test('conditions that do not exist or make no sense are refused before the call', async () => {
  const inbox = { inboxId: '01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f' };
  for (const [conditions, argument] of [
    [{ subjekt: 'a' }, 'subjekt'],
    [{ subject: '' }, 'subject'],
    [{ after: -1 }, 'after'],
    [{ timeoutSeconds: 0 }, 'timeoutSeconds'],
  ]) {
    const error = await failure(client.waitForEmail(inbox, conditions));
    assert.ok(error instanceof InvalidArgument, String(error));
    assert.equal(error.argument, argument);
  }
});

// The holds of 55 s are 1 s long on the way to the suite, unless TEMPINBOX_TEST_LONG is 1.
test('a wait of many holds, one of them cut, sees the mail once', async (t) => {
  const inbox = await client.createInbox();
  t.after(() => client.deleteInbox(inbox));
  const holds = [];
  const sent = [];
  const way = await forwarder(t, suite.baseUrl, (path) => {
    if (!path.includes('/emails/wait')) return path;
    holds.push(path);
    if (holds.length === 2) way.cut();
    if (holds.length === 4) sent.push(send(inbox.emailAddress));
    return isLong ? path : path.replace(/timeoutSeconds=\d+/, 'timeoutSeconds=1');
  });
  const through = new Tempinbox({ baseUrl: way.baseUrl });

  const email = await through.waitForEmail(inbox, { timeoutSeconds: 180 });

  await Promise.all(sent);
  assert.equal(email.sequence, 1);
  assert.ok(holds.length >= 4, holds.join('\n'));
  assert.ok(holds.every((path) => path.includes('after=0')));
  assert.equal((await client.listInboxEmails(inbox).toArray()).length, 1);
});

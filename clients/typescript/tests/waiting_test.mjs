import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { failure } from './harness/failure.mjs';
import {
  BadRequest,
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

test('emails are found as by every door', async () => {
  const file = new URL('../../../tests/email_filters.json', import.meta.url);
  const table = JSON.parse(await readFile(file, 'utf8'));
  const tag = `find-${randomUUID()}`;
  await client.withInbox({ tags: [tag] }, async (inbox) => {
    const [local, domain] = inbox.emailAddress.split('@');
    for (const { plusTag, lines } of table.mails) {
      const to = `${local}${plusTag ? `+${plusTag}` : ''}@${domain}`;
      const envelope = { from: 'robot@sender.example', to };
      await send(to, { envelope, raw: lines.map((line) => `${line}\r\n`).join('') });
    }
    const emails = await client.waitForEmails(inbox, { minCount: table.mails.length });
    for (const [index, { isRead = false }] of table.mails.entries())
      await client.updateEmail(emails[index].emailId, { isRead });
    // Numbers of the table are sequences.
    const timeOf = (value) =>
      typeof value === 'number' ? new Date(emails[value - 1].receivedAt) : value;
    const conditionsOf = ({ since, until, ...others }) => ({
      ...others,
      since: timeOf(since),
      until: timeOf(until),
    });
    const sequencesOf = (found) => found.map(({ sequence }) => sequence);

    for (const { query, sequences } of table.found) {
      const conditions = conditionsOf(query);
      const what = JSON.stringify(query);
      const oldest = { ...conditions, order: 'asc', limit: 2 };
      const newest = { ...conditions, limit: 2 };
      for (const list of [
        await client.listInboxEmails(inbox, oldest).toArray(),
        await client.listEmails({ ...oldest, tag }).toArray(),
        (await client.listInboxEmails(inbox, newest).toArray()).reverse(),
        (await client.listEmails({ ...newest, tag }).toArray()).reverse(),
      ])
        assert.deepEqual(sequencesOf(list), sequences, what);
      const minCount = sequences.length;
      if (minCount === 0) await client.expectNoEmail(inbox, { ...conditions, timeoutSeconds: 1 });
      else {
        const found = await client.waitForEmails(inbox, { ...conditions, minCount });
        assert.deepEqual(sequencesOf(found), sequences, what);
      }
    }
    for (const query of table.refused) {
      const isRefused = (error) => error instanceof BadRequest || error instanceof InvalidArgument;
      const conditions = conditionsOf(query);
      await assert.rejects(
        async () => client.listInboxEmails(inbox, conditions).toArray(),
        isRefused,
      );
      await assert.rejects(async () => client.waitForEmail(inbox, conditions), isRefused);
    }
    const behind = client.listInboxEmails(inbox, { after: 1, order: 'asc', limit: 2 });
    assert.deepEqual(sequencesOf(await behind.toArray()), [2, 3, 4]);
  });
});

test('a wait for several emails that ends too soon has those that came', async () => {
  await client.withInbox(async (inbox) => {
    for (const subject of ['First', 'Second']) await send(inbox.emailAddress, { subject });
    await client.waitForEmails(inbox, { minCount: 2, from: 'robot@' });

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

// The page of a catch-all: its list says which of its names each mail was sent to.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';

import { openInboxPage } from './harness/inbox-page.mjs';
import { makeInbox } from './harness/person.mjs';
import { send, suite } from './harness/suite.mjs';

let opened;
let page;

before(async () => {
  opened = await openInboxPage();
  ({ page } = opened);
});

after(async () => {
  await opened?.close();
});

const rowOf = (subject) =>
  page.locator('.mails').getByRole('listitem').filter({ hasText: subject });

test('mail to two names of a catch-all: each row has its name', async () => {
  const subdomain = `t${randomUUID().slice(-12)}.${suite.domain}`;
  const inbox = await makeInbox(page, { localPart: '*', domain: subdomain });
  await page.goto(`${suite.dashboard}/inboxes/${inbox.inboxId}`);
  await send(`a@${subdomain}`, 'First', 'Hello');
  await send(`b@${subdomain}`, 'Second', 'Hello');

  await rowOf('First').getByText(`to a@${subdomain}`).waitFor();
  await rowOf('Second').getByText(`to b@${subdomain}`).waitFor();
});

test('mail to the address of an ordinary inbox names no recipient', async () => {
  const { inbox } = opened;
  await page.goto(`${suite.dashboard}/inboxes/${inbox.inboxId}`);
  await send(inbox.emailAddress, 'To the address', 'Hello');

  await rowOf('To the address').waitFor();
  assert.equal(await page.locator('.mail-to').count(), 0);
});

test('nothing was asked of anybody else', () => {
  assert.deepEqual(opened.outside.take(), []);
});

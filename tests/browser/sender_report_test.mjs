// What senders did with an inbox: nothing yet, then marks and attempts as they come.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { openInboxPage } from './harness/inbox-page.mjs';
import { ask, makeInbox } from './harness/person.mjs';
import { eventually, refusalOf, send } from './harness/suite.mjs';

const LATER = '451 4.7.1 Try again later';

let opened;
let page;
let inbox;

before(async () => {
  opened = await openInboxPage();
  ({ page, inbox } = opened);
});

after(async () => {
  await opened?.close();
});

const section = () => page.getByRole('region', { name: 'Sender report' });
const lookAgain = () => section().getByRole('button', { name: 'Look again' }).click();
const mark = (name) =>
  section().getByRole('list', { name: 'Marks' }).getByRole('listitem').filter({ hasText: name });
const messages = () => section().getByRole('list', { name: 'Messages' }).locator('> li');

/** Looks again until the text is in the section. */
async function shows(text) {
  await eventually(async () => {
    await lookAgain();
    return await section().getByText(text).first().isVisible();
  }, `the report has ${text}`);
}

describe('the report on senders', () => {
  test('says of an inbox without login and faults what it would show', async () => {
    await section().getByText('you see here what senders do after a refusal').waitFor();
    assert.equal(await section().getByRole('list').count(), 0);
  });

  test('is empty until somebody sends', async () => {
    await ask(page, 'PUT', `/inboxes/${inbox.inboxId}/faults`, {
      steps: [
        { stage: 'rcpt', reply: LATER, times: 1, to: 'deferred' },
        { stage: 'end', reply: '452 4.2.2 Full', to: 'shared' },
      ],
    });
    await shows('Nobody sent anything here in the last 72 hours.');
  });

  test('shows each attempt of a message, and marks the sender', async () => {
    const deferred = inbox.emailAddress.replace('@', '+deferred@');
    const first = await eventually(() => refusalOf(deferred, 'Once'), 'the faults are in force');
    assert.equal(first, LATER);
    assert.equal(await refusalOf(deferred, 'Once'), '');

    await shows('Tries again after a 4xx');
    await eventually(async () => {
      await lookAgain();
      return await mark('Tries again after a 4xx').getByText('yes', { exact: true }).isVisible();
    }, 'the sender is marked');
    await mark('Tries again after a 4xx')
      .getByText(/^RFC 5321 [\d.]+ · attempts? /)
      .waitFor();
    await mark('Keeps the Message-ID').getByText('not seen').waitFor();
    await mark('Uses TLS').getByText('no', { exact: true }).waitFor();
    const message = messages().last();
    await message.getByText(`to ${deferred}`).waitFor();
    await message.getByText(`At RCPT: ${LATER}, on purpose`).waitFor();
    await message.getByText(/ s later · At the end of the message: 250 2\.0\.0 Ok/).waitFor();
    await message.getByText('accepted', { exact: true }).waitFor();
  });

  test('names faults that were not played, with the reason', async () => {
    const neighbour = await makeInbox(page);
    const shared = inbox.emailAddress.replace('@', '+shared@');
    await send([shared, neighbour.emailAddress], 'For both', 'Hello');

    await shows('Faults that were not played');
    await section()
      .getByText('the message was for other inboxes, too, which had it not due')
      .waitFor();
  });
});

test('nothing was asked of anybody else', () => {
  assert.deepEqual(opened.outside.take(), []);
});

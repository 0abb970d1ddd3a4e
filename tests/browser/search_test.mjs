// Mail is found by the words that are typed, in one inbox and in all of them.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { openBrowser } from './harness/browser.mjs';
import { Outside } from './harness/outside.mjs';
import { ask, makeInbox, signUp } from './harness/person.mjs';
import { eventually, send, suite } from './harness/suite.mjs';

const LINK = 'https://app.example.com/verify?t=1';

let outside;
let browser;
let page;
let inbox;

before(async () => {
  outside = await Outside.start();
  browser = await openBrowser(outside, [suite.origin]);
  page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(15_000);
  await signUp(page);
  inbox = await makeInbox(page, { tags: ['run-1'] });
  const other = await makeInbox(page, { tags: ['run-2'] });
  await send(inbox.emailAddress, 'Your code', 'Your code is 482913.', 'robot@one.example');
  await send(inbox.emailAddress, 'Order', 'Your order is\r\non its way.', 'shop@two.example');
  await send(other.emailAddress, 'Welcome', `Confirm: ${LINK}`, 'shop@two.example');
  await eventually(
    async () => (await ask(page, 'GET', '/emails')).emails.length === 3,
    'all mail is there',
  );
});

after(async () => {
  await browser?.close();
  await outside?.stop();
});

const box = () => page.getByRole('searchbox', { name: 'Search' });

/** Types the words; the subjects that are listed then. */
async function found(words, expected) {
  await box().fill(words);
  const subjects = page.locator('.mails .mail-subject');
  let listed;
  const isFound = async () => {
    listed = (await subjects.allTextContents()).map((text) => text.trim());
    return JSON.stringify(listed) === JSON.stringify(expected);
  };
  try {
    await eventually(isFound, words);
  } catch {
    assert.deepEqual(listed, expected, words);
  }
}

describe('in one inbox', () => {
  before(async () => {
    await page.goto(`${suite.dashboard}/inboxes/${inbox.inboxId}`);
    await found('', ['Order', 'Your code']);
  });

  test('words are a phrase of the text, across its lines', async () => {
    await found('ORDER is on its', ['Order']);
  });

  test('names with a colon look elsewhere', async () => {
    await found('from:one.example', ['Your code']);
    await found('subject:"your code"', ['Your code']);
    await found(`recipient:${inbox.emailAddress} has:code`, ['Your code']);
    await found('has:code', ['Your code']);
    await found('is:unread from:two.example your order', ['Order']);
    await found('', ['Order', 'Your code']);
  });

  test('what finds nothing says how much was looked at', async () => {
    await found('nothing like it', []);
    await page.getByText('Nothing found. Looked at 2 mails').waitFor();
  });

  test('what is no filter there is said', async () => {
    await found('tag:run-1', ['Order', 'Your code']);
    await page.getByText('tag: is for the page Mail').waitFor();
    await found('has:money', ['Order', 'Your code']);
    await page.getByText('has: takes code, link or attachment.').waitFor();
  });
});

describe('in all inboxes', () => {
  before(async () => {
    await page.goto(`${suite.dashboard}/mail`);
    await found('', ['Welcome', 'Order', 'Your code']);
  });

  test('the tag of inboxes is a filter', async () => {
    await found('tag:run-2', ['Welcome']);
    await found('tag:run-1 has:code', ['Your code']);
    await found('has:link', ['Welcome']);
  });

  test('mail that comes appears by itself, in a search as well', async () => {
    await found('from:two.example', ['Welcome', 'Order']);
    await send(inbox.emailAddress, 'Receipt', 'Paid.', 'shop@two.example');
    await found('from:two.example', ['Receipt', 'Welcome', 'Order']);
  });

  test('a search that has more to look at goes on by a button', async () => {
    const searched = (backTo) => ({ emails: 2000, texts: 500, backTo });
    await page.route(/\/dashboard\/api\/emails\?.*text=far/, async (route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor');
      const { emails } = await ask(page, 'GET', '/emails?subject=Welcome');
      await route.fulfill({
        json: cursor
          ? { emails, nextCursor: null, searched: searched('2026-11-19T08:00:00.000Z') }
          : { emails: [], nextCursor: 'next', searched: searched('2026-11-20T08:00:00.000Z') },
      });
    });

    await found('far', []);
    await page.getByText('Nothing found yet. Looked at 2,000 mails, back to Nov 20').waitFor();
    await page.getByRole('button', { name: 'Look further back' }).click();
    await found('far', ['Welcome']);
    assert.equal(await page.getByRole('button', { name: 'Look further back' }).count(), 0);
  });
});

test('nothing was asked of anybody else', () => {
  assert.deepEqual(outside.take(), []);
});

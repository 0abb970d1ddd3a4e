// Several tabs of one browser: they share its connections and its session.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { openBrowser } from './harness/browser.mjs';
import { Outside } from './harness/outside.mjs';
import { ask, makeInbox, PASSWORD, signUp } from './harness/person.mjs';
import { eventually, send, suite } from './harness/suite.mjs';

const CONNECTIONS = 6; // what a browser opens to one host over HTTP/1.1

let outside;
let browser;

before(async () => {
  outside = await Outside.start();
  browser = await openBrowser(outside, [suite.origin]);
});

after(async () => {
  await browser?.close();
  await outside?.stop();
});

/** A window whose tabs can be behind others: to a page without a screen nothing is ever hidden. */
async function newWindow() {
  const context = await browser.newContext();
  context.setDefaultTimeout(15_000);
  await context.addInitScript(() => {
    let state = 'visible';
    Object.defineProperty(document, 'visibilityState', { get: () => state });
    window.becomes = (newState) => {
      state = newState;
      document.dispatchEvent(new Event('visibilitychange'));
    };
  });
  return context;
}

const hide = (tab) => tab.evaluate(() => window.becomes('hidden'));
const show = (tab) => tab.evaluate(() => window.becomes('visible'));

/** The page's requests under way; its stream of events never ends, and is not among them. */
function requestsUnderWay(page) {
  const underWay = new Set();
  page.on('request', (it) => it.resourceType() !== 'eventsource' && underWay.add(it));
  page.on('requestfinished', (it) => underWay.delete(it));
  page.on('requestfailed', (it) => underWay.delete(it));
  return underWay;
}

describe('more tabs than the browser has connections', () => {
  test('all work, and show what came meanwhile when they are looked at again', async () => {
    const context = await newWindow();
    const first = await context.newPage();
    await signUp(first);
    const inbox = await makeInbox(first);
    await first.goto(`${suite.dashboard}/inboxes/${inbox.inboxId}`);
    await first.getByText('New mail appears by itself').waitFor();

    let front = first;
    for (let tab = 1; tab <= CONNECTIONS; ++tab) {
      await hide(front);
      front = await context.newPage();
      await front.goto(`${suite.dashboard}/inboxes/${inbox.inboxId}`);
      await front.getByText('New mail appears by itself').waitFor();
    }
    await send(inbox.emailAddress, 'While you were away', 'Nothing new.');
    await front.getByRole('link', { name: /While you were away/ }).waitFor();
    await hide(front);
    assert.equal(await first.getByRole('link', { name: /While you were away/ }).count(), 0);
    await show(first);

    await first.getByText('New mail appears by itself').waitFor();
    await first.getByRole('link', { name: /While you were away/ }).waitFor();
    await context.close();
  });
});

describe('a session that another tab began anew', () => {
  const makeInboxByHand = async (tab) => {
    await tab.getByRole('button', { name: 'New inbox' }).first().click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Create inbox' }).click();
  };

  test('is taken up by the first change', async () => {
    const context = await newWindow();
    const [mine, other] = [await context.newPage(), await context.newPage()];
    await signUp(mine);
    await mine.goto(`${suite.dashboard}/inboxes`);
    await mine.getByRole('button', { name: 'New inbox' }).first().waitFor();
    await hide(mine);
    await other.goto(`${suite.dashboard}/account`);
    await other.getByLabel('Current password').fill(PASSWORD);
    await other.getByLabel('New password').fill(`${PASSWORD} again`);
    await other.getByRole('button', { name: 'Change password' }).click();
    await other.getByText('Your password is changed').first().waitFor();
    await hide(other);
    await show(mine);

    await makeInboxByHand(mine);

    await mine.getByRole('heading', { level: 1, name: `@${suite.domain}` }).waitFor();
    await context.close();
  });

  test('of another account changes nothing there, and is shown', async () => {
    const context = await newWindow();
    const elsewhere = await newWindow();
    const { email } = await signUp(await elsewhere.newPage());
    await elsewhere.close();
    const mine = await context.newPage();
    const underWay = requestsUnderWay(mine);
    await signUp(mine);
    await mine.goto(`${suite.dashboard}/inboxes`);
    await mine.getByRole('button', { name: 'New inbox' }).first().waitFor();
    // The change below is to be the first request that meets the other session.
    await hide(mine);
    await eventually(() => underWay.size === 0, 'nothing is asked any more');
    const headers = { Origin: suite.origin };
    const answer = await context.request.post(`${suite.dashboard}/api/session`, {
      headers,
      data: { email, password: PASSWORD },
    });
    assert.equal(answer.status(), 200);

    await Promise.all([mine.waitForEvent('load'), makeInboxByHand(mine)]);

    await mine.getByRole('button', { name: 'New inbox' }).first().waitFor();
    assert.deepEqual((await ask(mine, 'GET', '/inboxes')).inboxes, []);
    await mine.goto(`${suite.dashboard}/account`);
    await mine.getByText(email).first().waitFor();
    await context.close();
  });
});

test('nothing was asked of anybody else', () => {
  assert.deepEqual(outside.take(), []);
});

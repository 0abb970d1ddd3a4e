// Resources of a larger plan are shown as they are on the smaller one, and can always be deleted.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { openBrowser } from './harness/browser.mjs';
import { Outside } from './harness/outside.mjs';
import { ask, setPlan, signUp } from './harness/person.mjs';
import { suite } from './harness/suite.mjs';

const INACTIVE = 'inactive on this plan';
const urlOf = (number) => `http://127.0.0.1:8080/hook-${number}`;

let outside;
let browser;
let page;
let accountId;

before(async () => {
  outside = await Outside.start();
  browser = await openBrowser(outside, [suite.origin]);
  page = await browser.newPage();
  page.setDefaultTimeout(15_000);
  ({ accountId } = await signUp(page));
  const webhooks = [];
  for (const number of [1, 2, 3, 4, 5])
    webhooks.push(await ask(page, 'POST', '/webhooks', { url: urlOf(number) }));
  await ask(page, 'POST', '/rules', {
    name: 'Orders',
    webhookId: webhooks[4].webhookId,
    conditions: [],
    isEnabled: true,
  });
  await ask(page, 'POST', '/keys', { label: 'Leaked' });
});

after(async () => {
  await browser?.close();
  await outside?.stop();
});

const open = async (path, notice) => {
  await page.goto(`${suite.dashboard}/settings/${path}`);
  await page.getByText(notice).first().waitFor();
};
const confirm = (name) => page.getByRole('dialog').getByRole('button', { name }).click();
const offered = async () =>
  (await page.getByRole('main').getByRole('button').allTextContents()).map((text) => text.trim());

describe('a plan with fewer webhooks and no rules', () => {
  before(() => setPlan(page, accountId, 'business'));

  test('marks the youngest webhooks, which get nothing', async () => {
    await open('webhooks', urlOf(1));
    const cards = page
      .getByRole('main')
      .getByRole('listitem')
      .filter({ has: page.getByRole('heading') });
    assert.equal(await cards.count(), 5);
    const marked = await cards
      .filter({ hasText: INACTIVE })
      .getByRole('heading')
      .getByRole('link')
      .allTextContents();
    assert.deepEqual(marked, [urlOf(5), urlOf(4)]);
  });

  test('shows the rules that are left and lets them be deleted, then their webhook', async () => {
    await open('webhooks/rules', 'Each mail to the right webhook');
    const rule = page.getByRole('listitem').filter({ hasText: 'Orders' });
    await rule.getByText(INACTIVE).waitFor();
    await rule.getByText(urlOf(5)).waitFor();
    assert.deepEqual(await offered(), ['']); // the one with the bin
    await page.getByRole('button', { name: 'Delete rule Orders' }).click();
    await confirm('Delete rule');
    await rule.waitFor({ state: 'detached' });

    await open('webhooks', urlOf(1));
    await page.getByRole('button', { name: `Delete ${urlOf(5)}` }).click();
    await confirm('Delete webhook');
    await page.getByRole('link', { name: urlOf(5), exact: true }).waitFor({ state: 'detached' });
  });
});

describe('a plan with neither keys nor webhooks', () => {
  before(() => setPlan(page, accountId, 'free'));

  test('lets keys be revoked', async () => {
    await open('keys', 'Inboxes from your programs');
    const key = page.getByRole('listitem').filter({ hasText: 'Leaked' });
    await key.getByText(INACTIVE).waitFor();
    assert.deepEqual(await offered(), ['Revoke']);
    await page.getByRole('button', { name: 'Revoke Leaked' }).click();
    await confirm('Revoke key');
    await key.waitFor({ state: 'detached' });
    assert.deepEqual((await ask(page, 'GET', '/keys')).keys, []);
  });

  test('lets webhooks be deleted', async () => {
    await open('webhooks', 'Your servers hear of mail at once');
    await page.getByText(INACTIVE).nth(3).waitFor();
    assert.deepEqual(await offered(), ['Delete', 'Delete', 'Delete', 'Delete']);
    await page.getByRole('button', { name: `Delete ${urlOf(1)}` }).click();
    await confirm('Delete webhook');
    await page.getByRole('link', { name: urlOf(1), exact: true }).waitFor({ state: 'detached' });
  });
});

// The dialog that makes an inbox: its login, its renewal, and how it keeps mail.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { openBrowser } from './harness/browser.mjs';
import { Outside } from './harness/outside.mjs';
import { ask, signUp } from './harness/person.mjs';
import { sendByLogin, suite } from './harness/suite.mjs';

const WEEK = 604_800;
const DAY = 86_400;

let outside;
let browser;
let page;

before(async () => {
  outside = await Outside.start();
  browser = await openBrowser(outside, [suite.origin]);
  page = await newPerson('premium');
});

after(async () => {
  await browser?.close();
  await outside?.stop();
});

/** Somebody on the plan, with a browser's profile of their own. */
async function newPerson(plan) {
  const it = await (await browser.newContext()).newPage();
  it.setDefaultTimeout(15_000);
  await signUp(it, plan);
  return it;
}

/** The dialog, just opened. */
async function openDialog(it) {
  await it.goto(`${suite.dashboard}/inboxes`);
  await it.getByRole('button', { name: 'New inbox' }).first().click();
  const dialog = it.getByRole('dialog', { name: 'New inbox' });
  await dialog.waitFor();
  return dialog;
}

const renewal = (dialog) => dialog.getByLabel('Lives on while it is used');
const login = (dialog) => dialog.getByLabel('With a login');
const age = (dialog) => dialog.getByLabel('Keeps each mail for');
const full = (dialog) => dialog.getByLabel('When it is full');

/** Creates the inbox of the dialog and returns it, once its page is shown. */
async function create(it, dialog) {
  await dialog.getByRole('button', { name: 'Create inbox' }).click();
  await it.waitForURL(/\/inboxes\/[0-9a-f-]{36}$/);
  return await ask(it, 'GET', `/inboxes/${it.url().split('/').at(-1)}`);
}

describe('a new inbox', () => {
  test('is as ever where nothing is chosen', async () => {
    const dialog = await openDialog(page);
    assert.equal(await renewal(dialog).isChecked(), false);
    assert.equal(await age(dialog).inputValue(), 'all');
    assert.equal(await full(dialog).inputValue(), 'refuse');

    const inbox = await create(page, dialog);

    assert.equal(inbox.capture, null);
    assert.equal(inbox.renewOnUse, false);
    assert.deepEqual(inbox.retention, { maxAgeSeconds: null, whenFull: 'refuse' });
  });

  test('keeps mail and lives on as is chosen', async () => {
    const dialog = await openDialog(page);
    await renewal(dialog).check();
    await age(dialog).selectOption('1 day');
    await full(dialog).selectOption('the oldest mail is dropped before');

    const inbox = await create(page, dialog);

    assert.equal(inbox.renewOnUse, true);
    assert.deepEqual(inbox.retention, { maxAgeSeconds: DAY, whenFull: 'dropOldest' });
  });
});

describe('a new inbox with a login', () => {
  test('shows its password once, which an application sends with', async () => {
    const dialog = await openDialog(page);
    await login(dialog).check();
    assert.equal(await renewal(dialog).isChecked(), true);
    assert.equal(await age(dialog).inputValue(), `${WEEK}`);
    assert.equal(await full(dialog).inputValue(), 'dropOldest');
    await dialog.getByRole('button', { name: 'Create inbox' }).click();
    const shown = page.getByRole('dialog', { name: 'The login of this inbox' });
    const password = await shown.getByLabel('password', { exact: true }).textContent();
    assert.match(password, /^tic_\w+$/);
    await shown.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('region', { name: 'Send here' }).waitFor();
    assert.ok(!(await page.content()).includes(password));

    const inbox = await ask(page, 'GET', `/inboxes/${page.url().split('/').at(-1)}`);
    assert.equal(inbox.renewOnUse, true);
    assert.deepEqual(inbox.retention, { maxAgeSeconds: WEEK, whenFull: 'dropOldest' });
    const { host, ports, user } = inbox.capture;
    await sendByLogin(
      { host, port: ports.starttls[0], user, password },
      { to: 'anybody@shop.example', subject: 'From staging' },
    );
    await page.getByRole('link', { name: /From staging/ }).waitFor();
  });

  test('has what was chosen instead of what logins have', async () => {
    const dialog = await openDialog(page);
    await login(dialog).check();
    await renewal(dialog).uncheck();
    await full(dialog).selectOption('new mail is refused');
    await dialog.getByRole('button', { name: 'Create inbox' }).click();
    const shown = page.getByRole('dialog', { name: 'The login of this inbox' });
    await shown.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('region', { name: 'Send here' }).waitFor();

    const inbox = await ask(page, 'GET', `/inboxes/${page.url().split('/').at(-1)}`);
    assert.equal(inbox.renewOnUse, false);
    assert.deepEqual(inbox.retention, { maxAgeSeconds: WEEK, whenFull: 'refuse' });
  });
});

test('a plan without the API is offered no renewal, and its login has none', async () => {
  const free = await newPerson('free');
  const dialog = await openDialog(free);
  assert.equal(await renewal(dialog).count(), 0);
  await login(dialog).check();
  await dialog.getByRole('button', { name: 'Create inbox' }).click();
  const shown = free.getByRole('dialog', { name: 'The login of this inbox' });
  await shown.getByRole('button', { name: 'I have copied it' }).click();
  await free.getByRole('region', { name: 'Send here' }).waitFor();

  const { inboxes } = await ask(free, 'GET', '/inboxes');
  assert.deepEqual(
    inboxes.map((it) => [it.capture !== null, it.renewOnUse]),
    [[true, false]],
  );
  await free.context().close();
});

test('nothing was asked of anybody else', () => {
  assert.deepEqual(outside.take(), []);
});

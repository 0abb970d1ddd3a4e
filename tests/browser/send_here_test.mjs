// An inbox's login: made, shown once, sent with, rotated, ended.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { openInboxPage } from './harness/inbox-page.mjs';
import { ask, makeInbox, signUp } from './harness/person.mjs';
import { eventually, sendByLogin, suite } from './harness/suite.mjs';

let opened;
let page;
let inbox;
let login; // what the page has shown, as an application is configured

before(async () => {
  opened = await openInboxPage({ permissions: ['clipboard-read', 'clipboard-write'] });
  ({ page, inbox } = opened);
});

after(async () => {
  await opened?.close();
});

const section = () => page.getByRole('region', { name: 'Send here' });
const shown = () => page.getByRole('dialog', { name: 'The login of this inbox' });
const headingHasFocus = () => page.evaluate(() => document.activeElement?.id === 'send-here');

/** The password in the dialog, which is closed then. */
async function takePassword() {
  const password = await shown().getByLabel('password', { exact: true }).textContent();
  assert.match(password, /^tic_\w+$/);
  await shown().getByRole('button', { name: 'I have copied it' }).click();
  await shown().waitFor({ state: 'hidden' });
  return password;
}

/** The value beside the name in the section. */
async function fact(name) {
  return await section()
    .locator('.facts > div')
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator('dd')
    .first()
    .textContent();
}

/** A session that began before the login ended is sent away at its next mail, with 421. */
async function isRefused(oldLogin) {
  try {
    await sendByLogin(oldLogin, { to: 'anybody@shop.example', subject: 'Refused' });
    return false;
  } catch (error) {
    assert.ok([421, 535].includes(error.responseCode), error.message);
    return error.responseCode === 535;
  }
}

describe('a login', () => {
  test('is made by a click, and its password is shown once', async () => {
    await section().getByRole('button', { name: 'Make a login' }).click();
    await shown().getByRole('button', { name: 'Copy password' }).click();
    await page.getByText('Copied password').first().waitFor();
    const password = await takePassword();

    await section().getByRole('button', { name: 'New password' }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), password);
    await eventually(headingHasFocus, 'the focus is on the heading');
    assert.ok(!(await page.content()).includes(password));
    const { starttls } = (await ask(page, 'GET', `/inboxes/${inbox.inboxId}`)).capture.ports;
    login = { host: await fact('Host'), port: starttls[0], user: await fact('User'), password };
    assert.match(
      await fact('Ports'),
      new RegExp(`^${login.port} with STARTTLS; \\d+ with TLS; \\d+ without TLS$`),
    );
    assert.equal(await fact('Last used'), 'never');
  });

  test('takes mail to anybody, and the list says to whom', async () => {
    const to = ['ann@shop.example', 'bob@shop.example'];
    await sendByLogin(login, { to, bcc: 'eve@elsewhere.example', subject: 'Welcome' });

    const row = page.getByRole('listitem').filter({ hasText: 'Welcome' });
    await row.getByText('to ann@shop.example and 2 more').waitFor();
    await eventually(
      async () => (await ask(page, 'GET', `/inboxes/${inbox.inboxId}`)).capture.lastUsedAt,
      'the use is written',
      30,
    );
    await page.reload();
    await section().getByText('Last used').waitFor();
    assert.match(await fact('Last used'), /now|ago/);
  });

  test('has lines for each framework, without the password', async () => {
    const choice = section().getByLabel('Lines for');
    const names = await choice.locator('option').allTextContents();
    assert.deepEqual(names, [
      ...['Laravel', 'Symfony', 'Django', 'Rails', 'Spring', 'Nodemailer', '.NET', 'Postfix'],
    ]);
    for (const name of names) {
      await choice.selectOption(name);
      await section()
        .getByRole('button', { name: `Copy lines for ${name}` })
        .click();
      await page.getByText(`Copied lines for ${name}`).first().waitFor();
      const lines = await page.evaluate(() => navigator.clipboard.readText());
      assert.equal(await section().locator('pre').textContent(), lines);
      for (const part of [login.host, `${login.port}`, login.user, '<password>'])
        assert.ok(lines.includes(part), `${name}: ${part}`);
    }
  });

  test('gets a new password, and the one before is refused', async () => {
    await section().getByRole('button', { name: 'New password' }).click();
    await page.getByRole('button', { name: 'Make a new password' }).click();
    const old = login;
    login = { ...login, password: await takePassword() };

    assert.notEqual(login.password, old.password);
    await eventually(() => isRefused(old), 'the password before is refused');
    await sendByLogin(login, { to: 'anybody@shop.example', subject: 'With the new one' });
    await page.getByRole('link', { name: /With the new one/ }).waitFor();
  });

  test('says how often a wrong password was given', async () => {
    const attempts = async () => {
      const { rejections } = await ask(page, 'GET', `/inboxes/${inbox.inboxId}/rejections`);
      return rejections.some(({ reason }) => reason === 'bad_login');
    };
    await eventually(attempts, 'the wrong password is among the refusals', 30);
    await page.reload();
    await section().getByText('Wrong password').waitFor();
    assert.match(await fact('Wrong password'), /^\d+ attempts? in the last 24 hours$/);
    const refused = page.getByRole('region', { name: 'Not accepted' }).getByRole('listitem');
    await refused.filter({ hasText: 'wrong password' }).getByText('(at the login)').waitFor();
  });

  test('keeps the password before for as long as is chosen', async () => {
    await section().getByRole('button', { name: 'New password' }).click();
    await page.getByLabel('The password before').selectOption('stays good for 1 hour');
    await page.getByRole('button', { name: 'Make a new password' }).click();
    await takePassword();

    await section().getByText('good until').waitFor();
    await sendByLogin(login, { to: 'anybody@shop.example', subject: 'With the one before' });
    await page.getByRole('link', { name: /With the one before/ }).waitFor();
  });

  test('ends by a click; the mail stays, and says to whom it was sent', async () => {
    await section().getByRole('button', { name: 'End login' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End login' }).click();

    await section().getByRole('button', { name: 'Make a login' }).waitFor();
    await eventually(headingHasFocus, 'the focus is on the heading');
    await eventually(() => isRefused(login), 'the login is refused');
    const row = page.getByRole('listitem').filter({ hasText: 'Welcome' });
    await row.getByText('to ann@shop.example and 2 more').waitFor();
  });
});

test('a login past the number of the plan is refused in words', async () => {
  const starter = await (await opened.browser.newContext()).newPage();
  starter.setDefaultTimeout(15_000);
  await signUp(starter, 'starter');
  await makeInbox(starter, { capture: true });
  const second = await makeInbox(starter);
  await starter.goto(`${suite.dashboard}/inboxes/${second.inboxId}`);
  await starter.getByRole('button', { name: 'Make a login' }).click();

  await starter.getByText('That is not allowed').waitFor();
  await starter.context().close();
});

test('nothing was asked of anybody else', () => {
  assert.deepEqual(opened.outside.take(), []);
});

// The dashboard below a path of a host that others share, over TLS, with nothing of the page's at the host's root.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { openBrowser } from './harness/browser.mjs';
import { Outside } from './harness/outside.mjs';
import { PASSWORD } from './harness/person.mjs';
import { SharedHost } from './harness/shared-host.mjs';
import { operate, send } from './harness/suite.mjs';

const PATH = '/some/path.1';

let outside;
let host;
let browser;
let context;
let page;
const requested = [];
const failed = [];

before(async () => {
  outside = await Outside.start();
  host = await SharedHost.start(PATH);
  browser = await openBrowser(outside, [host.origin]);
  context = await browser.newContext({ ignoreHTTPSErrors: true });
  page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on('request', (request) => requested.push(request.url()));
  page.on('response', (response) => {
    if (response.status() >= 400 && response.status() !== 401)
      failed.push(`${response.status()} ${response.url()}`);
  });
});

after(async () => {
  await browser?.close();
  await host?.stop();
  await outside?.stop();
});

const heading = (name) => page.getByRole('heading', { level: 1, name });
const goTo = async (name) => {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click();
  await heading(name).waitFor();
};

describe('the dashboard below a path', () => {
  test('signs somebody up, whose cookie is of the whole host', async () => {
    await page.goto(`${host.base}/dashboard/sign-up`);
    await page.getByLabel('Email address').fill(`${randomUUID().slice(0, 13)}@example.com`);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await heading('Overview').waitFor();

    assert.equal(new URL(page.url()).pathname, `${PATH}/dashboard`);
    const cookies = (await context.cookies()).map(({ name, path, secure }) => ({
      name,
      path,
      secure,
    }));
    assert.deepEqual(cookies, [{ name: '__Host-tempinbox_session', path: '/', secure: true }]);
  });

  test('goes to its pages, which can be opened and reloaded', async () => {
    await goTo('Inboxes');
    assert.equal(new URL(page.url()).pathname, `${PATH}/dashboard/inboxes`);
    await page.reload();
    await heading('Inboxes').waitFor();
    await page.goto(`${host.base}/dashboard/settings/keys`);
    await heading('API Keys').waitFor();
    await page.goBack();
    await heading('Inboxes').waitFor();
  });

  test('shows mail as it arrives', async () => {
    const session = await (await context.request.get(`${host.base}/dashboard/api/session`)).json();
    const made = await context.request.post(`${host.base}/dashboard/api/inboxes`, {
      headers: { 'X-CSRF-Token': session.csrfToken },
    });
    const inbox = await made.json();
    assert.equal(made.headers().location, `${PATH}/dashboard/api/inboxes/${inbox.inboxId}`);
    await page.goto(`${host.base}/dashboard/inboxes/${inbox.inboxId}`);
    await page.getByText(inbox.emailAddress).first().waitFor();

    await send(inbox.emailAddress, 'Your code', 'Your code is 482913.');

    await page.getByText('Your code').first().click();
    await page.getByText('482913').first().waitFor();
    assert.match(
      new URL(page.url()).pathname,
      new RegExp(`^${PATH}/dashboard/inboxes/[^/]+/[^/]+$`),
    );
  });

  test('leads to the documentation, which has its style', async () => {
    const { accountId } = await (
      await context.request.get(`${host.base}/dashboard/api/session`)
    ).json();
    await operate('account', 'set-plan', accountId, '--plan', 'pro');
    await page.goto(`${host.base}/dashboard/settings/keys`);
    await page.getByRole('link', { name: 'The API is described here.' }).click();
    await heading('Temporary Inbox Service API').waitFor();
    assert.equal(new URL(page.url()).pathname, `${PATH}/docs`);
  });

  test('asks for nothing outside its path, and everything is there', () => {
    assert.ok(requested.length > 10);
    assert.deepEqual(
      requested.filter((url) => !url.startsWith(`${host.base}/`)),
      [],
    );
    assert.deepEqual(failed, []);
    assert.deepEqual(outside.take(), []);
  });
});

// Tests that a browser keeps the dashboard apart from other origins.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';

import { openBrowser, settle } from './harness/browser.mjs';
import { Outside } from './harness/outside.mjs';
import { ask, makeInbox, PASSWORD, signUp } from './harness/person.mjs';
import { eventually, sendRaw, suite } from './harness/suite.mjs';

let outside;
let browser;
let context;
let page;
let person;
let stranger; // a page of another origin, on another host name
const strangersPages = new Map();

before(async () => {
  outside = await Outside.start();
  stranger = createServer((request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
    response.end(strangersPages.get(request.url) ?? '<!doctype html><title>Elsewhere</title>');
  });
  await new Promise((resolve) => stranger.listen(0, 'localhost', resolve));
  browser = await openBrowser(outside, [suite.origin, elsewhere()]);
  context = await browser.newContext();
  page = await context.newPage();
  person = await signUp(page);
});

after(async () => {
  await browser?.close();
  stranger?.closeAllConnections();
  await new Promise((resolve) => (stranger ? stranger.close(resolve) : resolve()));
  await outside?.stop();
});

const elsewhere = () => `http://localhost:${stranger.address().port}`;

/** Directives of a Content-Security-Policy by name. */
function policyOf(headers) {
  const directives = (headers['content-security-policy'] ?? '')
    .split(';')
    .map((text) => text.trim().split(/\s+/));
  return new Map(directives.map(([name, ...sources]) => [name, sources]));
}

describe('headers of the page', () => {
  test('allow no script but its own, no frame around it, no base and no form', async () => {
    const headers = (await context.request.get(suite.dashboard)).headers();
    const policy = policyOf(headers);
    assert.deepEqual(policy.get('default-src'), ["'none'"]);
    assert.deepEqual(policy.get('script-src'), ["'self'"]);
    assert.deepEqual(policy.get('connect-src'), ["'self'"]);
    assert.deepEqual(policy.get('frame-ancestors'), ["'none'"]);
    assert.deepEqual(policy.get('base-uri'), ["'none'"]);
    assert.ok(["'none'", "'self'"].includes(policy.get('form-action')?.join(' ')));
    for (const [name, sources] of policy)
      assert.ok(!sources.includes('*') && !sources.includes("'unsafe-eval'"), `${name} ${sources}`);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.ok(
      ['no-referrer', 'same-origin', 'strict-origin'].includes(headers['referrer-policy']),
      headers['referrer-policy'],
    );
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
    assert.match(headers['cache-control'], /no-cache|no-store/);
  });

  test('are the same at every address of the page', async () => {
    const first = (await context.request.get(suite.dashboard)).headers()['content-security-policy'];
    for (const path of ['/', '/inboxes', '/settings/keys', '/nothing/here']) {
      const answer = await context.request.get(`${suite.dashboard}${path}`);
      assert.equal(answer.status(), 200, path);
      assert.equal(answer.headers()['content-security-policy'], first, path);
    }
  });

  test('let assets be kept for ever, and be nothing but what they are', async () => {
    const html = await (await context.request.get(suite.dashboard)).text();
    const assets = [...html.matchAll(/(?:src|href)="(\/dashboard\/assets\/[^"]+)"/g)].map(
      ([, path]) => path,
    );
    assert.ok(assets.length >= 2);
    for (const path of assets) {
      const answer = await context.request.get(`${suite.origin}${path}`, {
        headers: { 'Accept-Encoding': 'br, gzip' },
      });
      assert.equal(answer.status(), 200);
      assert.match(
        answer.headers()['cache-control'],
        /max-age=31536000.*immutable|immutable.*max-age=31536000/,
      );
      assert.equal(answer.headers()['x-content-type-options'], 'nosniff');
    }
    assert.equal(
      (await context.request.get(`${suite.dashboard}/assets/absent-12345678.js`)).status(),
      404,
    );
  });

  test('answers of its API are not kept, framed or sniffed', async () => {
    const headers = (await context.request.get(`${suite.dashboard}/api/session`)).headers();
    assert.match(headers['cache-control'] ?? '', /no-store/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['access-control-allow-origin'], undefined);
  });
});

describe('the session cookie', () => {
  test('cannot be read by scripts, and stays with its site', async () => {
    assert.equal(await page.evaluate(() => document.cookie), '');
    const cookies = (await context.cookies()).filter(({ name }) => name.includes('session'));
    assert.equal(cookies.length, 1);
    assert.equal(cookies[0].httpOnly, true);
    assert.equal(cookies[0].sameSite, 'Lax');
    assert.ok(cookies[0].value.length >= 43, 'has 256 bits');
  });

  test('changes at sign-in, whatever cookie was planted before', async () => {
    const own = await browser.newContext();
    const [{ name, value }] = (await context.cookies()).filter((cookie) =>
      cookie.name.includes('session'),
    );
    const planted = 'A'.repeat(value.length);
    await own.addCookies([{ name, value: planted, url: suite.origin }]);
    const it = await own.newPage();
    await it.goto(`${suite.dashboard}/sign-in`);
    await it.getByLabel('Email address').fill(person.email);
    await it.getByLabel('Password').fill(PASSWORD);
    await it.getByRole('button', { name: 'Sign in' }).click();
    await it.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const now = (await own.cookies()).filter((cookie) => cookie.name === name);
    assert.equal(now.length, 1);
    assert.notEqual(now[0].value, planted);
    assert.notEqual(now[0].value, value);
    await own.close();
  });

  test('opens nothing under /v1', async () => {
    assert.equal((await context.request.get(`${suite.origin}/v1/inboxes`)).status(), 401);
  });
});

describe('another origin', () => {
  async function atStranger(html) {
    strangersPages.set('/page', html);
    const it = await context.newPage();
    await it.goto(`${elsewhere()}/page`);
    return it;
  }

  test('cannot put the dashboard into a frame', async () => {
    const it = await atStranger(
      `<!doctype html><iframe src="${suite.dashboard}"></iframe><iframe src="${suite.dashboard}/settings/keys"></iframe>`,
    );
    await it.waitForLoadState('load');
    await eventually(
      () =>
        it.frames().length === 3 &&
        it
          .frames()
          .slice(1)
          .every((frame) => frame.url().startsWith('chrome-error:')),
      'both frames are refused',
    );
    await it.close();
  });

  test('cannot read the API with the session of the visitor', async () => {
    const it = await atStranger('<!doctype html>');
    const outcome = await it.evaluate(async (url) => {
      try {
        return await (await fetch(url, { credentials: 'include' })).text();
      } catch (problem) {
        return problem.name;
      }
    }, `${suite.dashboard}/api/session`);
    assert.equal(outcome, 'TypeError');
    await it.close();
  });

  test('cannot sign the visitor in, up or out by a form', async () => {
    const before_ = await ask(page, 'GET', '/session');
    const body = '{"email":"x@example.com","password":"correct horse battery staple","ignored":"';
    for (const path of ['/session', '/accounts', '/keys', '/inboxes']) {
      const it = await atStranger(
        `<!doctype html><form method=post enctype=text/plain action="${suite.dashboard}/api${path}"><input name='${body}' value='"}'><button>go</button></form>`,
      );
      const answered = it.waitForResponse(
        (response) =>
          response.url().includes('/dashboard/api') && response.request().method() === 'POST',
      );
      await it.getByRole('button').click();
      const answer = await answered;
      assert.ok([401, 403, 415].includes(answer.status()), `${path} answered ${answer.status()}`);
      await it.close();
    }
    assert.deepEqual(await ask(page, 'GET', '/session'), before_);
    assert.deepEqual((await ask(page, 'GET', '/keys')).keys, []);
  });

  test('is not told where its visitors come from, and cannot reach back', async () => {
    const inbox = await makeInbox(page);
    const html = `From: a@sender.example\r\nSubject: Link\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<a href="${elsewhere()}/landing" rel="opener" target="_self">go</a>\r\n`;
    const emailId = await sendRaw(inbox.emailAddress, Buffer.from(html));
    await page.goto(`${suite.dashboard}/inboxes/${inbox.inboxId}/${emailId}`);
    await page.getByRole('tablist').waitFor();
    const opening = page.waitForEvent('popup');
    await page.frameLocator('iframe').getByText('go').click();
    const popup = await opened(opening);
    assert.deepEqual(await popup.evaluate(() => [window.opener, document.referrer]), [null, '']);
    await popup.close();
  });
});

async function opened(opening) {
  const popup = await opening;
  await popup.waitForLoadState();
  return popup;
}

describe('addresses', () => {
  test('of the page never lead to another host', async () => {
    for (const path of [
      '//tracker.example/',
      '/%2f%2ftracker.example',
      '/\\tracker.example',
      '/?next=http://tracker.example/',
      '/sign-in?return=//tracker.example',
      '/#//tracker.example',
      '/inboxes/..%2f..%2f',
    ]) {
      await page.goto(`${suite.dashboard}${path}`);
      await settle(page, '/dashboard/api/settings');
      assert.equal(new URL(page.url()).origin, suite.origin, path);
    }
    assert.deepEqual(outside.take(), []);
  });

  test('with line breaks in them add no header', async () => {
    const answer = await context.request.get(`${suite.dashboard}/a%0d%0aX-Injected:%201`);
    assert.equal(answer.headers()['x-injected'], undefined);
  });
});

describe('text of strangers in the page', () => {
  test('names, tags, labels and descriptions are shown as they are', async () => {
    const hostile = `"><img src=x onerror="console.log('HOSTILE')">`;
    const spoken = [];
    page.on('console', (message) => spoken.push(message.text()));
    const inbox = await makeInbox(page, { name: hostile, metadata: { note: hostile } });
    await ask(page, 'POST', '/keys', { label: hostile });
    for (const path of ['/inboxes', `/inboxes/${inbox.inboxId}`, '/settings/keys']) {
      await page.goto(`${suite.dashboard}${path}`);
      await page.getByText(hostile).first().waitFor();
      await settle(page, '/dashboard/api/settings');
      assert.equal(await page.locator('img').count(), 0, path);
    }
    assert.ok(!spoken.includes('HOSTILE'));
  });
});

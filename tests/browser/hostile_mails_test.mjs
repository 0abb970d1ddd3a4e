// Hostile mails, sent by SMTP and opened in the dashboard: nothing runs, nothing loads, nothing leads away.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { openBrowser, settle, Witness } from './harness/browser.mjs';
import { hostileMails } from './harness/hostile-mails.mjs';
import { Outside } from './harness/outside.mjs';
import { ask, makeInbox, signUp } from './harness/person.mjs';
import { eventually, sendRaw, suite } from './harness/suite.mjs';

const MAILS = hostileMails();
const CHEAP = '/dashboard/api/settings';

let outside;
let browser;
let page;
let inbox;

before(async () => {
  outside = await Outside.start();
  browser = await openBrowser(outside, [suite.origin]);
  page = await (await browser.newContext({ acceptDownloads: true })).newPage();
  await signUp(page);
  inbox = await makeInbox(page, { ttlSeconds: 3600 });
});

after(async () => {
  await browser?.close();
  await outside?.stop();
});

/** Returns whether the page itself makes this request. */
function isExpected(url) {
  const { origin, pathname, search, hash } = new URL(url);
  if (origin !== suite.origin || hash !== '') return false;
  if (/^\/dashboard(\/assets\/[\w.-]+|\/inboxes\/[0-9a-f-]+(\/[0-9a-f-]+)?)?$/.test(pathname))
    return search === '';
  return /^\/dashboard\/api\/(session|settings|account(\/usage)?|events|rules|rules\/test|domains|inboxes|inboxes\/[0-9a-f-]+(\/(emails|rejections|faults))?|emails|emails\/[0-9a-f-]+(\/raw|\/timeline|\/attachments\/[0-9a-f-]+)?)$/.test(
    pathname,
  );
}

async function openMail(emailId) {
  await page.goto(`${suite.dashboard}/inboxes/${inbox.inboxId}/${emailId}`);
  await page.getByRole('tablist').waitFor();
}

async function frameIsShown() {
  await page.frameLocator('iframe').locator('body').waitFor({ state: 'attached' });
}

/** Runs `act` under observation; answers what went wrong. */
async function observed(act) {
  outside.take();
  const witness = new Witness(page);
  await act();
  await settle(page, CHEAP);
  const left = await page.evaluate(() => ({
    cookie: document.cookie,
    isFramed: window.top !== window,
    scripts: document.querySelectorAll('script:not([src])').length,
  }));
  const found = [
    ...witness.found(isExpected),
    ...outside.take().map((request) => `outside: ${request}`),
  ];
  witness.stop();
  assert.deepEqual(left, { cookie: '', isFramed: false, scripts: 0 });
  return found;
}

test('there are at least thirty of them', () => assert.ok(MAILS.length >= 30, `${MAILS.length}`));

describe('opened in the dashboard', () => {
  for (const { name, bytes } of MAILS) {
    test(`${name} does nothing, on any of its tabs`, async () => {
      const emailId = await sendRaw(inbox.emailAddress, bytes);
      const found = await observed(async () => {
        await openMail(emailId);
        for (const tab of await page.getByRole('tab').all()) {
          await tab.click();
          await page.getByRole('tabpanel').waitFor();
          if ((await page.locator('iframe').count()) > 0) await frameIsShown();
          await settle(page, CHEAP, 1);
        }
      });
      assert.deepEqual(found, []);
    });
  }
});

test('arriving while the list is open they do nothing', async () => {
  const fresh = await makeInbox(page); // where none of them was before: the same mail again is the same email
  const found = await observed(async () => {
    await page.goto(`${suite.dashboard}/inboxes/${fresh.inboxId}`);
    await page.getByText('New mail appears by itself').waitFor();
    const ids = [];
    for (const { name, bytes } of MAILS)
      if (/header|right-to-left|attachment-names|text-only/.test(name))
        ids.push(await sendRaw(fresh.emailAddress, bytes));
    for (const id of ids) await page.locator(`a[href$="${id}"]`).waitFor();
  });
  assert.deepEqual(found, []);
});

test('the frame of a mail has neither scripts nor forms nor our origin', async () => {
  const { bytes } = MAILS.find(({ name }) => name === 'tracking-pictures');
  await openMail(await sendRaw(inbox.emailAddress, bytes));
  await frameIsShown();
  const frame = page.locator('iframe');
  assert.equal(await frame.count(), 1);
  assert.equal(await frame.getAttribute('sandbox'), 'allow-popups allow-popups-to-escape-sandbox');
  assert.equal(await frame.getAttribute('src'), null);
  assert.match(
    await frame.getAttribute('srcdoc'),
    /<head><meta charset="utf-8">\s*<meta http-equiv="Content-Security-Policy" content="default-src 'none';/,
  );
  assert.equal(
    await page
      .frameLocator('iframe')
      .locator('html')
      .evaluate(() => window.origin),
    'null',
  );
});

describe('remote pictures', () => {
  test('are counted, and loaded over https once asked for', async () => {
    const { bytes } = MAILS.find(({ name }) => name === 'tracking-pictures');
    await openMail(await sendRaw(inbox.emailAddress, bytes));
    await frameIsShown();
    outside.take();
    await page.getByText(/\d+ remote pictures not shown/).waitFor();
    await page.getByRole('button', { name: 'Load pictures' }).click();
    await eventually(
      () => outside.requests.some((request) => request === 'CONNECT tracker.example:443'),
      'a picture was asked for',
    );
    await page.getByText(/remote pictures? not shown/).waitFor({ state: 'detached' });
    await settle(page, CHEAP);
    assert.deepEqual(
      outside
        .take()
        .filter((request) => !request.startsWith('CONNECT ') || !request.endsWith(':443')),
      [],
      'over plain http',
    );
    // Pictures are asked for again as long as their page is there.
    await page.goto(`${suite.dashboard}/inboxes/${inbox.inboxId}`);
    await settle(page, CHEAP);
  });

  test('of the next mail are off again', async () => {
    const { bytes } = MAILS.find(({ name }) => name === 'tracking-pictures');
    const found = await observed(async () => {
      await openMail(await sendRaw(inbox.emailAddress, bytes));
      await frameIsShown();
    });
    assert.deepEqual(found, []);
  });

  test('parts of the mail itself are shown without asking', async () => {
    const { bytes } = MAILS.find(({ name }) => name === 'cid-pictures');
    await openMail(await sendRaw(inbox.emailAddress, bytes));
    const picture = page.frameLocator('iframe').locator('img[alt="a good part"]');
    await picture.waitFor({ state: 'attached' });
    assert.match(await picture.getAttribute('src'), /^data:image\/png;base64,iVBOR/);
    assert.equal(
      await page.frameLocator('iframe').locator('img[alt="an SVG part"]').getAttribute('src'),
      null,
    );
  });
});

describe('links', () => {
  test('lead nowhere but to web pages in tabs that know nothing of the dashboard', async () => {
    const { bytes } = MAILS.find(({ name }) => name === 'javascript-links');
    await openMail(await sendRaw(inbox.emailAddress, bytes));
    await frameIsShown();
    const here = page.url();
    const links = page.frameLocator('iframe').locator('a[href]');
    const targets = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    assert.ok(targets.length > 0);
    for (const target of targets) assert.match(target, /^(https?:\/\/|mailto:|tel:)/);
    const popup = page.waitForEvent('popup');
    await page.frameLocator('iframe').locator('a[href="http://tracker.example/plain"]').click();
    const opened = await popup;
    await opened.waitForLoadState();
    assert.equal(await opened.evaluate(() => `${window.opener} ${document.referrer}`), 'null ');
    assert.equal(await opened.evaluate(() => window.origin), 'http://tracker.example'); // a page like any other, not sandboxed by us
    await opened.close();
    assert.equal(page.url(), here);
  });

  test('without an address do nothing when clicked', async () => {
    const { bytes } = MAILS.find(({ name }) => name === 'javascript-links');
    const emailId = await sendRaw(inbox.emailAddress, bytes);
    const found = await observed(async () => {
      await openMail(emailId);
      await frameIsShown();
      for (const link of await page.frameLocator('iframe').locator('a:not([href])').all())
        await link.click();
    });
    assert.deepEqual(found, []);
  });
});

describe('attachments', () => {
  for (const name of ['attachment-names', 'attached-documents', 'right-to-left']) {
    test(`of ${name} are saved under plain names, never opened`, async () => {
      const { bytes } = MAILS.find((mail) => mail.name === name);
      const emailId = await sendRaw(inbox.emailAddress, bytes);
      await openMail(emailId);
      await page.getByRole('tab', { name: /Attachments/ }).click();
      const before_ = page.url();
      const email = await ask(page, 'GET', `/emails/${emailId}`);
      const buttons = await page
        .getByRole('tabpanel')
        .getByRole('button', { name: /^Download/ })
        .all();
      assert.equal(buttons.length, email.attachments.length);
      for (const button of buttons) {
        const saving = page.waitForEvent('download');
        await button.click();
        const saved = await saving;
        assert.doesNotMatch(
          saved.suggestedFilename(),
          // eslint-disable-next-line no-control-regex -- these are what must not be in a name
          /[/\\<>"\u0000-\u001f\u202a-\u202e\u2066-\u2069]/,
        );
      }
      assert.equal(page.url(), before_);
    });

    test(`of ${name} asked for as pages are downloads all the same`, async () => {
      const { bytes } = MAILS.find((mail) => mail.name === name);
      const email = await ask(page, 'GET', `/emails/${await sendRaw(inbox.emailAddress, bytes)}`);
      assert.ok(email.attachments.length > 0);
      for (const { attachmentId } of email.attachments) {
        const answer = await page
          .context()
          .request.get(
            `${suite.dashboard}/api/emails/${email.emailId}/attachments/${attachmentId}`,
            { headers: { Accept: 'text/html,*/*' } },
          );
        assert.equal(answer.status(), 200);
        const headers = answer.headers();
        assert.match(headers['content-disposition'] ?? '', /^attachment/);
        assert.equal(headers['x-content-type-options'], 'nosniff');
        assert.equal(headers['set-cookie'], undefined);
      }
    });
  }
});

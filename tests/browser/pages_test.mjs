// Every page in both themes and both widths: axe finds nothing, nothing scrolls sideways, screenshots are kept, and all of it weighs little.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import axe from 'axe-core';

import { openBrowser } from './harness/browser.mjs';
import { Outside } from './harness/outside.mjs';
import { ask, makeInbox, setPlan, signUp } from './harness/person.mjs';
import { Receiver } from './harness/receiver.mjs';
import { eventually, send, sendByLogin, sendRaw, suite } from './harness/suite.mjs';

const MAX_BYTES = 200 * 1024;
const WIDTHS = [1280, 375];
const SHOTS = process.env.TEMPINBOX_SCREENSHOTS;
const HTML_MAIL = (to) =>
  `From: "Shop" <orders@shop.example>
To: ${to}
Subject: Your order is on its way
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/html; charset=utf-8

<html><body style="margin:0;background:#f4f4f6"><table width="600" align="center" bgcolor="#ffffff" cellpadding="24"><tr><td style="font-family:Georgia,serif">
<h1 style="color:#7a2e8e">Thank you</h1><p>Your order 4711 left today. Your pickup code is <b>602418</b>.</p><img src="https://shop.example/logo.png" alt="Shop">
<p><a href="https://shop.example/orders/4711">See the order</a></p></td></tr></table></body></html>
--b
Content-Type: application/pdf
Content-Disposition: attachment; filename="invoice.pdf"
Content-Transfer-Encoding: base64

JVBERi0xLjQK
--b--
`.replace(/\n/g, '\r\n');

let outside;
let browser;
let receiver;
let context;
let page;
let emptyContext;
let emptyPage;
let freeContext;
let freePage;
let pastContext; // of someone whose plan has ended
let pastPage;
const ids = {};

before(async () => {
  outside = await Outside.start();
  receiver = await Receiver.start();
  browser = await openBrowser(outside, [suite.origin]);
  if (SHOTS) mkdirSync(SHOTS, { recursive: true });
  [context, emptyContext, freeContext, pastContext] = await Promise.all(
    [1, 2, 3, 4].map(() => browser.newContext()),
  );
  [page, emptyPage, freePage, pastPage] = await Promise.all(
    [context, emptyContext, freeContext, pastContext].map((it) => it.newPage()),
  );
  await signUp(page);
  await signUp(emptyPage);
  await signUp(freePage, 'free');
  await fillAccount();
  await fillPastAccount();
});

after(async () => {
  await browser?.close();
  await receiver?.stop();
  await outside?.stop();
});

/** Something of everything, so that pages have what to show. */
async function fillAccount() {
  const webhook = await ask(page, 'POST', '/webhooks', {
    url: receiver.url,
    description: 'Accounting',
  });
  const inbox = await makeInbox(page, {
    name: 'Checkout tests',
    tags: ['ci', 'staging'],
    metadata: { build: '1234' },
    ttlSeconds: 3600,
  });
  const full = await makeInbox(page, { ttlSeconds: 600 });
  const dropping = await makeInbox(page, {
    ttlSeconds: 600,
    retention: { whenFull: 'dropOldest' },
  });
  for (const { inboxId } of [full, dropping])
    await page.route(`**/dashboard/api/inboxes/${inboxId}`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), isFull: true } });
    });
  const captured = await makeInbox(page, { name: 'Staging', capture: true });
  const { host, ports, user, password } = captured.capture;
  await sendByLogin(
    { host, port: ports.starttls[0], user, password },
    { to: ['ann@shop.example', 'bob@shop.example'], subject: 'Welcome to the shop' },
  );
  const caught = await makeInbox(page, { localPart: '*' });
  const faulty = await makeInbox(page);
  await ask(page, 'PUT', `/inboxes/${faulty.inboxId}/faults`, {
    steps: [
      { stage: 'rcpt', reply: '451 4.7.1 Greylisted', times: 1, per: 'recipient' },
      { stage: 'end', cut: 'stored', to: 'ann@', every: 3 },
    ],
  });
  const [local, domain] = faulty.emailAddress.split('@');
  await eventually(
    () =>
      send(faulty.emailAddress, 'Deferred', 'Hello').then(
        () => false,
        () => true,
      ),
    'the faults are in force',
  );
  await send(faulty.emailAddress, 'Deferred', 'Hello');
  await assert.rejects(send(`${local}+${'long'.repeat(10)}@${domain}`, 'Deferred, too', 'Hello'));
  const ended = await makeInbox(page);
  await ask(page, 'DELETE', `/inboxes/${ended.inboxId}`);
  await assert.rejects(send(ended.emailAddress, 'Too late', 'Hello'));
  await ask(page, 'POST', '/keys', { label: 'CI of the shop' });
  await ask(page, 'POST', '/keys', {
    label: 'Agent',
    scopes: ['inboxes:read', 'inboxes:write', 'emails:read', 'emails:write', 'account:read'],
    tag: 'agent',
    expiresAt: '2099-01-31T10:00:00Z',
  });
  const conditions = [
    { field: 'subject', operator: 'contains', value: 'order' },
    { field: 'from', operator: 'ends_with', value: '@shop.example' },
  ];
  await ask(page, 'POST', '/rules', {
    name: 'Orders',
    webhookId: webhook.webhookId,
    conditions,
    isEnabled: true,
  });
  await ask(page, 'POST', '/rules', {
    name: 'Everything',
    webhookId: webhook.webhookId,
    conditions: [],
    isEnabled: false,
  });
  ids.html = await sendRaw(
    inbox.emailAddress,
    Buffer.from(HTML_MAIL(inbox.emailAddress)),
    'orders@shop.example',
  );
  ids.text = await send(
    inbox.emailAddress,
    'Your sign-in code',
    'Your verification code is 482913.',
  );
  ids.webhook = webhook.webhookId;
  ids.inbox = inbox.inboxId;
  ids.full = full.inboxId;
  ids.dropping = dropping.inboxId;
  ids.captured = captured.inboxId;
  ids.caught = caught.inboxId;
  ids.faulty = faulty.inboxId;
  ids.ended = ended.inboxId;
  await eventually(
    async () => (await ask(page, 'GET', `/inboxes/${ids.ended}/rejections`)).rejections.length,
    'what was refused is shown',
  );
  assert.equal((await ask(page, 'GET', `/inboxes/${ids.inbox}`)).isFull, false);
  await eventually(
    () => receiver.requests.some(({ body }) => JSON.stringify(body).includes(ids.html)),
    'the delivery came',
    30,
  );
}

/** Resources that outlived their plan. */
async function fillPastAccount() {
  const { accountId } = await signUp(pastPage);
  const webhook = await ask(pastPage, 'POST', '/webhooks', {
    url: receiver.url,
    description: 'Accounting',
  });
  await ask(pastPage, 'POST', '/keys', { label: 'CI of the shop' });
  await ask(pastPage, 'POST', '/rules', {
    name: 'Orders',
    webhookId: webhook.webhookId,
    conditions: [],
    isEnabled: true,
  });
  await setPlan(pastPage, accountId, 'free');
}

const heading = (name) => (it) => it.getByRole('heading', { level: 1, name }).waitFor();
const tab = (name) => async (it) => {
  await it.getByRole('tab', { name }).click();
  await it.getByRole('tabpanel').waitFor();
  await settled(it);
};
const dialog =
  (button, act = async () => {}) =>
  async (it) => {
    await settled(it);
    await it.getByRole('button', { name: button }).first().click();
    await it.getByRole('dialog').waitFor();
    await act(it.getByRole('dialog'));
  };

/** The form behind the first one of sign-up, where a mail relay is set. */
async function codeForm(it) {
  await it.route('**/dashboard/api/accounts', (route) =>
    route.fulfill({ status: 202, json: { email: 'ann@example.com', codeSent: true } }),
  );
  await it.getByLabel('Email address').fill('ann@example.com');
  await it.getByLabel('Password').fill('correct horse battery staple');
  await it.getByRole('button', { name: 'Create account' }).click();
  await heading('Check your mail')(it);
}

/**
 * Name, whose page (null: of nobody who is signed in), path, and what must be there (and done)
 * before it is looked at.
 * @type {[string, (() => any) | null, string | (() => string), (it: any) => Promise<unknown>][]}
 */
const PAGES = [
  ['sign-in', null, '/sign-in', heading('Sign in')],
  ['sign-up', null, '/sign-up', heading('Create an account')],
  ['sign-up-code', null, '/sign-up', codeForm],
  ['reset', null, '/reset-password', heading('Reset your password')],
  ['reset-new', null, '/reset-password#token', heading('Choose a new password')],
  ['overview', () => page, '', heading('Overview')],
  ['overview-empty', () => emptyPage, '', heading('Overview')],
  ['inboxes', () => page, '/inboxes', heading('Inboxes')],
  ['inboxes-empty', () => emptyPage, '/inboxes', heading('Inboxes')],
  ['inbox-new', () => page, '/inboxes', dialog('New inbox')],
  [
    'inbox',
    () => page,
    () => `/inboxes/${ids.inbox}`,
    (it) => it.getByRole('link', { name: /Your sign-in code/ }).waitFor(),
  ],
  [
    'inbox-delete',
    () => page,
    () => `/inboxes/${ids.inbox}`,
    dialog('Delete', (it) => it.getByRole('button', { name: 'Cancel' }).waitFor()),
  ],
  [
    'inbox-full',
    () => page,
    () => `/inboxes/${ids.full}`,
    (it) => it.getByText('This inbox is full: new mail is refused.').waitFor(),
  ],
  [
    'inbox-full-dropping',
    () => page,
    () => `/inboxes/${ids.dropping}`,
    (it) => it.getByText('This inbox is full for a moment').waitFor(),
  ],
  [
    'inbox-rejections',
    () => page,
    () => `/inboxes/${ids.ended}`,
    async (it) => {
      const refused = it.getByRole('region', { name: 'Not accepted' }).getByRole('listitem');
      await refused.getByText('robot@sender.example').waitFor();
      await refused.getByText('550 5.1.1 No such mailbox here').waitFor();
      await refused.getByText('after its end').waitFor();
    },
  ],
  [
    'inbox-captured',
    () => page,
    () => `/inboxes/${ids.captured}`,
    (it) => it.getByText('to ann@shop.example and 1 more').waitFor(),
  ],
  [
    'inbox-faults',
    () => page,
    () => `/inboxes/${ids.faulty}`,
    async (it) => {
      await it.getByText('At RCPT: 451 4.7.1 Greylisted – on purpose').waitFor();
      const report = it.getByRole('region', { name: 'Sender report' });
      await report.getByRole('button', { name: 'Look again' }).click();
      await report.getByText('Tries again after a 4xx').waitFor();
    },
  ],
  [
    'faults-new',
    () => page,
    () => `/inboxes/${ids.faulty}`,
    dialog('Play faults', async (it) => {
      await it.getByLabel('Steps').fill('{}');
      await it.getByRole('button', { name: 'Play these' }).click();
      await it.getByText('The steps must be a list').waitFor();
    }),
  ],
  [
    'login-made',
    () => page,
    () => `/inboxes/${ids.captured}`,
    dialog('New password', async (it) => {
      await it.getByRole('button', { name: 'Make a new password' }).click();
      await it.getByText('I have copied it').waitFor();
    }),
  ],
  [
    'mail',
    () => page,
    '/mail',
    (it) => it.getByRole('link', { name: /Your sign-in code/ }).waitFor(),
  ],
  ['mail-empty', () => emptyPage, '/mail', (it) => it.getByText('Nothing yet.').waitFor()],
  [
    'mail-search',
    () => page,
    '/mail',
    async (it) => {
      await it.getByRole('searchbox', { name: 'Search' }).fill('has:code nothing like it');
      await it.getByText('Nothing found. Looked at').waitFor();
    },
  ],
  ['mail-html', () => page, () => `/inboxes/${ids.inbox}/${ids.html}`, tab('HTML')],
  ['mail-text', () => page, () => `/inboxes/${ids.inbox}/${ids.text}`, tab('Text')],
  ['mail-attachments', () => page, () => `/inboxes/${ids.inbox}/${ids.html}`, tab(/Attachments/)],
  ['mail-headers', () => page, () => `/inboxes/${ids.inbox}/${ids.html}`, tab('Headers')],
  ['mail-timeline', () => page, () => `/inboxes/${ids.inbox}/${ids.html}`, tab('What happened')],
  ['mail-routing', () => page, () => `/inboxes/${ids.inbox}/${ids.html}`, tab('Why it was routed')],
  ['mail-details', () => page, () => `/inboxes/${ids.inbox}/${ids.html}`, tab('Details')],
  ['mail-source', () => page, () => `/inboxes/${ids.inbox}/${ids.html}`, tab('Source')],
  ['keys', () => page, '/settings/keys', (it) => it.getByText('CI of the shop').waitFor()],
  ['keys-empty', () => emptyPage, '/settings/keys', (it) => it.getByText('No key yet').waitFor()],
  [
    'keys-free',
    () => freePage,
    '/settings/keys',
    (it) => it.getByText('Inboxes from your programs').waitFor(),
  ],
  [
    'keys-past',
    () => pastPage,
    '/settings/keys',
    (it) => it.getByRole('button', { name: 'Revoke CI of the shop' }).waitFor(),
  ],
  ['key-new', () => page, '/settings/keys', dialog('New key')],
  ['webhooks', () => page, '/settings/webhooks', (it) => it.getByText('Accounting').waitFor()],
  [
    'webhooks-empty',
    () => emptyPage,
    '/settings/webhooks',
    (it) => it.getByText('No webhook yet').waitFor(),
  ],
  [
    'webhooks-free',
    () => freePage,
    '/settings/webhooks',
    (it) => it.getByText('Your servers hear of mail at once').waitFor(),
  ],
  [
    'webhooks-past',
    () => pastPage,
    '/settings/webhooks',
    (it) => it.getByRole('button', { name: `Delete ${receiver.url}` }).waitFor(),
  ],
  ['webhook-new', () => page, '/settings/webhooks', dialog('New webhook')],
  [
    'webhook-log',
    () => page,
    () => `/settings/webhooks/${ids.webhook}`,
    (it) => it.locator('li.delivery summary').first().click(),
  ],
  [
    'rules',
    () => page,
    '/settings/webhooks/rules',
    async (it) => {
      await it.getByRole('switch', { name: 'Rule Orders' }).waitFor();
      const catchAll = it.getByRole('listitem').filter({ hasText: 'catch-all' });
      await catchAll.getByText('also mail that other rules match').first().waitFor();
    },
  ],
  [
    'rules-empty',
    () => emptyPage,
    '/settings/webhooks/rules',
    (it) => it.getByText('Rules need a webhook').waitFor(),
  ],
  [
    'rules-past',
    () => pastPage,
    '/settings/webhooks/rules',
    (it) => it.getByRole('button', { name: 'Delete rule Orders' }).waitFor(),
  ],
  [
    'rules-free',
    () => freePage,
    '/settings/webhooks/rules',
    (it) => it.getByText('Each mail to the right webhook').waitFor(),
  ],
  [
    'rule-new',
    () => page,
    '/settings/webhooks/rules',
    dialog('New rule', async (it) => {
      await it.getByLabel('Value of condition 1').fill('invoice');
      await it.getByRole('button', { name: 'Try it on a mail' }).click();
      await it.getByLabel('Subject', { exact: true }).fill('Your invoice');
      await it.getByRole('button', { name: 'Test', exact: true }).click();
      await it.getByText('It would be delivered').waitFor();
    }),
  ],
  [
    'account',
    () => page,
    '/account',
    async (it) => {
      await it.getByText('29 a month').waitFor();
      const offers = it.getByRole('region', { name: 'Plans and prices' }).locator('dt');
      assert.equal(await offers.count(), 6);
      assert.match(await offers.last().textContent(), /Premium.*your plan/);
      const catchAll = it.getByRole('region', { name: 'Subdomains' }).getByRole('link');
      assert.match(await catchAll.textContent(), /^\*@[^@]+$/);
      assert.ok((await catchAll.getAttribute('href')).endsWith(`/inboxes/${ids.caught}`));
    },
  ],
  ['account-empty', () => emptyPage, '/account', (it) => it.getByText('You hold none.').waitFor()],
  ['not-found', () => page, '/nothing/here', heading('There is no such page')],
];

/** Nothing of the page is still on its way. */
async function settled(it) {
  await it.waitForFunction(
    () =>
      !document.querySelector('[aria-busy="true"], .loading') &&
      document
        .getAnimations()
        .every(
          (one) => one.playState !== 'running' || one.effect?.getTiming().iterations === Infinity,
        ),
  );
}

async function opened(whose, path, ready) {
  const it = whose ? whose() : await (await browser.newContext()).newPage();
  await it.goto(`${suite.dashboard}${typeof path === 'function' ? path() : path}`);
  return {
    it,
    show: async () => {
      await ready(it);
      await settled(it);
    },
  };
}

describe('each page', () => {
  for (const [name, whose, path, ready] of PAGES) {
    for (const width of WIDTHS) {
      test(`${name} at ${width} px, light and dark`, async () => {
        const { it, show } = await opened(whose, path, ready);
        await it.setViewportSize({ width, height: width === 375 ? 812 : 800 });
        await it.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
        await show();
        const problems = [];
        for (const colorScheme of ['light', 'dark']) {
          await it.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          await settled(it);
          if (SHOTS)
            await it.screenshot({
              path: `${SHOTS}/${name}-${width}-${colorScheme}.png`,
              fullPage: true,
            });
          problems.push(...(await broken(it)).map((what) => `${colorScheme}: ${what}`));
        }
        const sideways = await it.evaluate(
          () => document.documentElement.scrollWidth - window.innerWidth,
        );
        if (!whose) await it.context().close();
        assert.deepEqual(problems, []);
        assert.ok(sideways <= 0, `${sideways} px too wide`);
      });
    }
  }
});

/** Returns the findings of axe in words. */
async function broken(it) {
  await it.evaluate(axe.source);
  const { violations } = await it.evaluate(() =>
    window.axe.run(document, { iframes: false, resultTypes: ['violations'] }),
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  );
}

/** The colors of a strip of the page, left to right, as the screen shows them. */
async function colorsOf(it, clip) {
  const png = (await it.screenshot({ clip })).toString('base64');
  const canvas = await (await browser.newContext()).newPage();
  const colors = await canvas.evaluate(async (data) => {
    const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const context2d = new OffscreenCanvas(picture.width, 1).getContext('2d');
    context2d.drawImage(picture, 0, 0);
    const { data: values } = context2d.getImageData(0, 0, picture.width, 1);
    return Array.from({ length: picture.width }, (_, x) =>
      values.slice(4 * x, 4 * x + 3).join(' '),
    );
  }, png);
  await canvas.context().close();
  return colors;
}

describe('a list of tabs', () => {
  // Above the words of the tabs.
  const strip = async (list) => {
    const box = await list.boundingBox();
    return {
      x: Math.ceil(box.x),
      y: Math.ceil(box.y) + 2,
      width: Math.floor(box.width),
      height: 1,
    };
  };

  for (const colorScheme of ['light', 'dark']) {
    test(`that fits shows the ground alone, ${colorScheme}`, async () => {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.goto(`${suite.dashboard}/settings/webhooks`);
      await page.getByText('Accounting').waitFor();
      await settled(page);
      const clip = await strip(page.getByRole('navigation', { name: 'Webhooks' }));

      const ground = await colorsOf(page, { ...clip, x: clip.x - 10, width: 4 });
      assert.deepEqual([...new Set(await colorsOf(page, clip))], [ground[0]]);
    });

    test(`that is too wide has a shade where more of it is, ${colorScheme}`, async () => {
      await page.setViewportSize({ width: 375, height: 812 });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.goto(`${suite.dashboard}/inboxes/${ids.inbox}/${ids.html}`);
      const list = page.getByRole('tablist');
      await list.waitFor();
      await settled(page);
      const clip = await strip(list);
      const scrollTo = (left) => list.evaluate((it, value) => (it.scrollLeft = value), left);

      await scrollTo(0);
      const atStart = await colorsOf(page, clip);
      await scrollTo(10_000);
      const atEnd = await colorsOf(page, clip);

      const ground = atStart[Math.floor(clip.width / 2)];
      assert.equal(atStart[0], ground);
      assert.notEqual(atStart.at(-1), ground);
      assert.notEqual(atEnd[0], ground);
      assert.equal(atEnd.at(-1), ground);
    });
  }
});

test('a chart without data says so and has no scale', async () => {
  await emptyPage.goto(suite.dashboard);
  const chart = emptyPage.getByRole('region', { name: 'Last 30 days' });
  await chart.getByRole('button', { name: 'Deliveries' }).click();

  await chart.getByText('No deliveries in these 30 days').waitFor();
  assert.deepEqual(await chart.locator('.chart-scale span').allTextContents(), ['0']);
});

describe('weight', () => {
  test('all that the page ever loads of itself is under 200 KB compressed', async () => {
    const fresh = await browser.newContext({ storageState: await context.storageState() });
    const it = await fresh.newPage();
    const sizes = new Map();
    const measured = [];
    it.on('requestfinished', (request) => {
      const { pathname } = new URL(request.url());
      if (!pathname.startsWith('/dashboard') || pathname.startsWith('/dashboard/api')) return;
      measured.push(
        request
          .sizes()
          .then(({ responseBodySize }) =>
            sizes.set(pathname, Math.max(responseBodySize, sizes.get(pathname) ?? 0)),
          ),
      );
    });
    for (const [, , path, ready] of PAGES.filter(
      ([name, whose]) => whose && !/empty|free|past|full|-new|-delete/.test(name),
    )) {
      await it.goto(`${suite.dashboard}${typeof path === 'function' ? path() : path}`);
      await ready(it);
    }
    await Promise.all(measured);
    const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    console.log(
      `the dashboard weighs ${(total / 1024).toFixed(1)} KB compressed in ${sizes.size} files`,
    );
    await fresh.close();
    assert.ok(sizes.size >= 3);
    assert.ok(total < MAX_BYTES, `${total} bytes: ${JSON.stringify([...sizes])}`);
  });
});

// Makes the pictures of README.md anew, from the running suite: an inbox with some mail, in both themes.
//
// eval "$(./dev env)" && node tests/browser/readme_pictures.mjs

import { fileURLToPath } from 'node:url';

import { openBrowser, settle } from './harness/browser.mjs';
import { Outside } from './harness/outside.mjs';
import { ask, makeInbox } from './harness/person.mjs';
import { sendRaw, suite } from './harness/suite.mjs';

const FOLDER = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const SIZE = { width: 1200, height: 640 };
const MAILS = [
  ['Shop', 'Order 4711 is on its way', 'Your pickup code is <b>602418</b>.'],
  ['Forum', 'Confirm your address', '<a href="https://forum.example/verify?t=9fK2">Confirm</a>'],
  ['Bank', 'Your transfer', 'Your security code: <b>90-31-77</b>.'],
  [
    'Example App',
    'Your sign-in code',
    '<h2 style="color:#0f6b66">Sign in to Example App</h2><p>Your verification code is <b>482913</b>. It is good for ten minutes.</p>',
  ],
];

function mail(to, [name, subject, html]) {
  const lines = [
    `From: ${name} <no-reply@${name.toLowerCase().replace(' ', '-')}.example>`,
    `To: ${to}`,
    `Subject: ${subject}`,
    'MIME-Version: 1.0',
    'Content-Type: text/html; charset=utf-8',
    '',
    `<html><body style="font-family:sans-serif">${html}</body></html>`,
    '',
  ];
  return Buffer.from(lines.join('\r\n'));
}

async function signIn(page) {
  await page.goto(`${suite.dashboard}/sign-in`);
  await page.getByLabel('Email address').fill(process.env.TEMPINBOX_DASHBOARD_EMAIL);
  await page.getByLabel('Password').fill(process.env.TEMPINBOX_DASHBOARD_PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
}

async function fill(page) {
  const inbox = await makeInbox(page, { name: 'Checkout tests', tags: ['ci', 'staging'] });
  for (const it of MAILS) await sendRaw(inbox.emailAddress, mail(inbox.emailAddress, it));
  return inbox.inboxId;
}

const outside = await Outside.start();
const browser = await openBrowser(outside, [suite.origin]);
try {
  let inbox;
  for (const theme of ['light', 'dark']) {
    const context = await browser.newContext({ colorScheme: theme, viewport: SIZE });
    const page = await context.newPage();
    await signIn(page);
    inbox ??= await fill(page);
    await page.goto(`${suite.dashboard}/inboxes/${inbox}`);
    await page.getByRole('link', { name: /Your sign-in code/ }).click();
    await page.locator('iframe').waitFor();
    await page.mouse.move(0, 0);
    await settle(page, `${suite.dashboard}/api/session`);
    await page.screenshot({ path: `${FOLDER}dashboard-${theme}.png` });
    if (theme === 'dark') await ask(page, 'DELETE', `/inboxes/${inbox}`);
    await context.close();
  }
} finally {
  await browser.close();
  await outside.stop();
}

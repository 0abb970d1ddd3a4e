// The main path with nothing but a keyboard: everything can be reached, seen to be reached, and used.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { openBrowser } from './harness/browser.mjs';
import { Outside } from './harness/outside.mjs';
import { ask, PASSWORD, signUp } from './harness/person.mjs';
import { eventually, send, suite } from './harness/suite.mjs';

const MAX_STEPS = 80;

let outside;
let browser;
let page;
let email;
let address;

before(async () => {
  outside = await Outside.start();
  browser = await openBrowser(outside, [suite.origin]);
  const context = await browser.newContext({
    permissions: ['clipboard-read', 'clipboard-write'],
    reducedMotion: 'reduce',
  });
  page = await context.newPage();
  ({ email } = await signUp(page));
  await ask(page, 'DELETE', '/session');
  await context.clearCookies();
  // Effects run as late as they ever do: a key that is pressed as soon as a page is seen must not
  // meet a focus that still moves.
  await page.addInitScript(() => (window.requestAnimationFrame = () => 0));
});

after(async () => {
  await browser?.close();
  await outside?.stop();
});

/** Describes the element with the focus: its role, its name, and whether the focus is visible. */
async function focused() {
  return await page.evaluate(() => {
    const it = document.activeElement;
    const labels = it.labels?.length
      ? [...it.labels].map((label) => label.textContent).join(' ')
      : '';
    const name = (it.getAttribute('aria-label') ?? (labels || it.textContent || ''))
      .replace(/\s+/g, ' ')
      .trim();
    const shown = [
      it,
      ...(it.closest('label, .address-input, li, .check')
        ? [it.closest('label, .address-input, li, .check')]
        : []),
    ];
    const isVisible = shown.some((one) => {
      const style = getComputedStyle(one);
      return (
        (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) ||
        style.boxShadow !== 'none'
      );
    });
    return { tag: it.tagName, name, isVisible };
  });
}

/** Presses Tab until the named control has the focus. */
async function tabTo(name, key = 'Tab') {
  const passed = [];
  for (let step = 0; step < MAX_STEPS; ++step) {
    await page.keyboard.press(key);
    const here = await focused();
    if (here.tag !== 'BODY' && here.tag !== 'IFRAME' && here.tag !== 'MAIN')
      assert.ok(here.isVisible, `the focus on ${here.tag} "${here.name}" cannot be seen`);
    if (name instanceof RegExp ? name.test(here.name) : here.name === name) return;
    passed.push(here.name);
  }
  assert.fail(`"${name}" was not reached; passed: ${passed.join(' | ')}`);
}

describe('with a keyboard alone', () => {
  test('one signs in', async () => {
    await page.goto(`${suite.dashboard}/sign-in`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await tabTo('Email address');
    await page.keyboard.type(email);
    await tabTo('Password');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });

  test('the first stop skips to the content', async () => {
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.keyboard.press('Tab');
    assert.equal((await focused()).name, 'Skip to the content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.closest('main') !== null), true);
  });

  test('one goes to another page, and the focus is at its heading', async () => {
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await tabTo('Inboxes');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Inboxes' }).waitFor();
    await eventually(async () => (await focused()).tag === 'H1', 'the heading has the focus');
  });

  test('a dialog keeps the focus, and Escape gives it back', async () => {
    await tabTo('New inbox');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    for (let step = 0; step < 30; ++step) {
      await page.keyboard.press('Tab');
      assert.ok(
        await page.evaluate(
          () =>
            document.activeElement === document.body ||
            document.activeElement.closest('dialog') !== null,
        ),
        'the focus left the dialog',
      );
    }
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await eventually(
      async () => (await focused()).name === 'New inbox',
      'the button has the focus again',
    );
  });

  test('one creates an inbox', async () => {
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo('Create inbox');
    await page.keyboard.press('Enter');
    const heading = page.getByRole('heading', { level: 1, name: `@${suite.domain}` });
    await heading.waitFor();
    address = (await heading.textContent()).trim();
  });

  test('one opens the mail that came and copies its code', async () => {
    await page.getByText('New mail appears by itself').waitFor();
    await send(address, 'Your code', 'Your verification code is 204867.');
    await page.getByRole('link', { name: /Your code/ }).waitFor();
    await tabTo(/Your code/);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Copy code' }).waitFor();
    await tabTo('Copy code');
    await page.keyboard.press('Enter');
    await eventually(
      async () => (await page.evaluate(() => navigator.clipboard.readText())) === '204867',
      'the code is in the clipboard',
    );
  });

  test('arrows move between the tabs of the mail', async () => {
    await tabTo('Text');
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tab', { name: 'Attachments', selected: true }).waitFor();
    assert.equal((await focused()).name, 'Attachments');
    await page.keyboard.press('End');
    await page.getByRole('tab', { name: 'Source', selected: true }).waitFor();
  });

  test('one creates and revokes a key', async () => {
    await page.goto(`${suite.dashboard}/settings/keys`);
    await page.getByText('No key yet').waitFor();
    await tabTo('New key');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo('Label');
    await page.keyboard.type('By keyboard');
    await page.keyboard.press('Enter');
    await page.locator('code[aria-label="key"]').waitFor();
    await tabTo('I have copied it');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Revoke By keyboard' }).waitFor();
    await tabTo('Revoke By keyboard');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo('Revoke key');
    await page.keyboard.press('Enter');
    await page.getByText('No key yet').waitFor();
  });
});

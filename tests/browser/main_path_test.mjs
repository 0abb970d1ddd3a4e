// From signing up to a delivery seen and a key refused, as a person goes: each step builds on the one before.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { openBrowser } from './harness/browser.mjs';
import { Outside } from './harness/outside.mjs';
import { signUp } from './harness/person.mjs';
import { Receiver } from './harness/receiver.mjs';
import { eventually, program, send, suite } from './harness/suite.mjs';

let outside;
let browser;
let page;
let receiver;
let address;
let key;

before(async () => {
  outside = await Outside.start();
  receiver = await Receiver.start();
  browser = await openBrowser(outside, [suite.origin]);
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
  page = await context.newPage();
  page.setDefaultTimeout(15_000);
});

after(async () => {
  await browser?.close();
  await receiver?.stop();
  await outside?.stop();
});

const goTo = async (name) => {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
};
const curl = async (gateway, ...more) => {
  const { stdout } = await program(
    'curl',
    '-sS',
    '-o',
    '/dev/null',
    '-w',
    '%{http_code}',
    '-H',
    `X-API-Key: ${key}`,
    `${gateway}/v1/inboxes`,
    ...more,
  );
  return stdout;
};

describe('the way of a new customer', () => {
  test('signs up', async () => {
    await signUp(page);
  });

  test('creates an inbox and is shown its address', async () => {
    await goTo('Inboxes');
    await page.getByRole('button', { name: 'New inbox' }).click();
    await page.getByRole('dialog').getByLabel('Name', { exact: false }).first().waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Create inbox' }).click();
    const heading = page.getByRole('heading', { level: 1, name: `@${suite.domain}` });
    await heading.waitFor();
    address = (await heading.textContent()).trim();
    assert.match(address, /^[\w.-]+@[\w.-]+$/);
  });

  test('copies the address', async () => {
    await page.getByRole('button', { name: 'Copy address' }).click();
    await page.getByText('Copied address').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), address);
  });

  test('sees a real mail arrive by itself', async () => {
    await page.getByText('New mail appears by itself').waitFor();
    await send(
      address,
      'Your sign-in code',
      'Your verification code is 482913. It is good for ten minutes.',
    );
    await page.getByRole('link', { name: /Your sign-in code/ }).waitFor();
  });

  test('copies the code', async () => {
    await page.getByRole('link', { name: /Your sign-in code/ }).click();
    await page.getByRole('button', { name: 'Copy code' }).click();
    await eventually(
      async () => (await page.evaluate(() => navigator.clipboard.readText())) === '482913',
      'the code is in the clipboard',
    );
  });

  test('creates a key, which opens the API', async () => {
    await goTo('API Keys');
    await page.getByRole('button', { name: 'New key' }).first().click();
    await page.getByRole('dialog').getByLabel('Label').fill('From the test');
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    key = (await page.locator('code[aria-label="key"]').textContent()).trim();
    assert.equal(await curl(suite.origin), '200');
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.reload();
    await page.getByText('From the test').waitFor();
    assert.ok(!(await page.content()).includes(key), 'the key is shown once');
  });

  test('creates a key that can do less, and is shown what', async () => {
    await goTo('API Keys');
    await page.getByRole('button', { name: 'New key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Label').fill('For CI');
    await dialog.getByLabel('Scopes').selectOption('chosen');
    await dialog.getByLabel('webhooks:read').waitFor();
    await dialog.getByLabel('Tag').fill('ci');
    assert.equal(await dialog.getByLabel('webhooks:read').count(), 0);
    await dialog.getByLabel('inboxes:read').uncheck();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'For CI' });
    await row.getByText('inboxes:write, emails:read').waitFor();
    await row.getByText('only inboxes tagged').waitFor();
  });

  test('creates a webhook and is shown its secret once', async () => {
    await goTo('Webhooks');
    await page.getByRole('button', { name: 'New webhook' }).first().click();
    await page.getByRole('dialog').getByLabel('URL').fill(receiver.url);
    await page.getByRole('dialog').getByRole('button', { name: 'Create webhook' }).click();
    const secret = (await page.locator('code[aria-label="secret"]').textContent()).trim();
    assert.match(secret, /^whsec_/);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('link', { name: receiver.url, exact: true }).waitFor();
  });

  test('makes a rule after trying it', async () => {
    const settings = page.getByRole('navigation', { name: 'Main' });
    assert.equal(await settings.getByRole('link', { name: /rules/i }).count(), 0);
    await goTo('Webhooks');
    const tabs = page.getByRole('navigation', { name: 'Webhooks' });
    await tabs.getByRole('link', { name: 'Routing rules' }).click();
    await page.getByRole('heading', { level: 1, name: 'Routing Rules' }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/dashboard/settings/webhooks/rules');
    assert.equal(await tabs.locator('[aria-current="page"]').textContent(), 'Routing rules');
    await page.getByRole('button', { name: 'New rule' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Invoices');
    await dialog.getByLabel('Value of condition 1').fill('invoice');
    await dialog.getByRole('button', { name: 'Try it on a mail' }).click();
    await dialog.getByLabel('Subject', { exact: true }).fill('Your Invoice 17');
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await dialog.getByText('It would be delivered to').waitFor();
    await dialog.getByLabel('Subject', { exact: true }).fill('Something else');
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await dialog.getByText('It would be delivered nowhere').waitFor();
    await dialog.getByRole('button', { name: 'Create rule' }).click();
    await page.getByRole('switch', { name: 'Rule Invoices' }).waitFor();
  });

  test('finds the rules where they were before, and goes back past that address', async () => {
    await goTo('Account');
    await page.goto(`${suite.dashboard}/settings/rules`);
    await page.getByRole('switch', { name: 'Rule Invoices' }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/dashboard/settings/webhooks/rules');
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
  });

  test('a mail is routed by it, and another is not', async () => {
    const before_ = receiver.requests.length;
    await send(address, 'Lunch?', 'At noon.');
    await send(address, 'Invoice 18', 'Please pay.');
    await eventually(
      () => receiver.requests.some(({ body }) => JSON.stringify(body).includes('Invoice 18')),
      'the delivery came',
      30,
    );
    const routed = receiver.requests
      .slice(before_)
      .filter(({ body }) => JSON.stringify(body).includes('email.received'));
    assert.ok(!routed.some(({ body }) => JSON.stringify(body).includes('Lunch?')));
  });

  test('the delivery is in the log, with the rule that routed it', async () => {
    await goTo('Webhooks');
    await page.getByRole('link', { name: `Delivery log of ${receiver.url}` }).click();
    await page.getByRole('heading', { name: 'Delivery log' }).waitFor();
    await eventually(async () => {
      if (
        await page
          .locator('li.delivery', { hasText: 'email.received' })
          .filter({ hasText: 'succeeded' })
          .count()
      )
        return true;
      await page.getByRole('button', { name: 'Refresh' }).click();
      return false;
    }, 'the delivery shows as succeeded');
    await page
      .locator('li.delivery', { hasText: 'email.received' })
      .locator('summary')
      .first()
      .click();
    await page.getByText('Routed by').first().waitFor();
    await page.locator('dd', { hasText: 'Invoices' }).first().waitFor();
  });

  test('a mail that came while the webhook was off is in the log, with the reason', async () => {
    await goTo('Webhooks');
    const deliver = page.getByRole('switch', { name: `Deliver to ${receiver.url}` });
    await deliver.click();
    await page
      .getByRole('switch', { name: `Deliver to ${receiver.url}`, checked: false })
      .waitFor();
    await send(address, 'Invoice 19', 'Please pay.');
    await page.getByRole('link', { name: `Delivery log of ${receiver.url}` }).click();
    const missed = page.locator('li.delivery').filter({ hasText: 'failed' });
    await eventually(async () => {
      if (await missed.count()) return true;
      await page.getByRole('button', { name: 'Refresh' }).click();
      return false;
    }, 'the delivery shows as failed');
    await missed.locator('summary').click();
    await missed.getByText('Nothing was sent: the webhook was off').waitFor();
  });

  test('the mail tells why it was routed', async () => {
    await goTo('Inboxes');
    await page.getByRole('link', { name: address }).click();
    await page.getByRole('link', { name: /Invoice 18/ }).click();
    // The record is written after the delivery is under way.
    await eventually(async () => {
      await page.getByRole('tab', { name: 'Why it was routed' }).click();
      const panel = page.getByRole('tabpanel');
      await panel.getByText('What the rules say now').waitFor();
      if (await panel.getByText('matched', { exact: true }).count()) return true;
      await page.reload();
      return false;
    }, 'the mail tells which rule matched');
  });

  test('the mail tells what happened to it, up to the webhook’s answer', async () => {
    await page.getByRole('tab', { name: 'What happened' }).click();
    const steps = page.getByRole('list', { name: 'What happened' }).getByRole('listitem');
    // The attempt is written after the receiver answered.
    await eventually(async () => {
      await steps.first().waitFor();
      if (await steps.filter({ hasText: 'Attempt 1' }).count()) return true;
      await page.getByRole('button', { name: 'Refresh' }).click();
      return false;
    }, 'the attempt is there');
    const said = await steps.locator('strong').allTextContents();
    assert.deepEqual(said, [
      'A mail server connected',
      'The mail was received',
      'It was stored',
      'Webhooks were told',
      'Routing rules were asked',
      'A webhook was to get it',
      'Attempt 1',
    ]);
    const attempt = steps.filter({ hasText: 'Attempt 1' });
    await attempt.getByText(receiver.url).waitFor();
    await attempt.getByText('204', { exact: true }).waitFor();
    await steps
      .filter({ hasText: 'Routing rules were asked' })
      .getByText('Invoices')
      .first()
      .waitFor();
  });

  test('the revoked key is refused by every gateway within a second', async () => {
    await goTo('API Keys');
    for (const gateway of suite.gateways) assert.equal(await curl(gateway), '200');
    await page.getByRole('button', { name: 'Revoke From the test' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('Revoked From the test').waitFor();
    const revoked = performance.now();
    await Promise.all(
      suite.gateways.map((gateway) =>
        eventually(async () => {
          // An answer may take its time: what counts is when it was asked for.
          const elapsed = performance.now() - revoked;
          const status = await curl(gateway);
          assert.ok(
            status !== '200' || elapsed < 1000,
            `${gateway} took the key ${elapsed} ms after it was revoked`,
          );
          return status === '401';
        }, `${gateway} refuses the key`),
      ),
    );
    await page.getByRole('button', { name: 'Revoke From the test' }).waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Revoke For CI' }).waitFor();
  });

  test('signs out, and the page asks to sign in', async () => {
    await goTo('Account');
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.deepEqual(
      (await page.context().cookies()).filter(
        ({ name, value }) => name.includes('session') && value !== '',
      ),
      [],
    );
  });
});

test('nothing was asked of anybody else', () => {
  assert.deepEqual(outside.take(), []);
});

// Tests the errors that depend on the account, with accounts made for them.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { failure } from './harness/failure.mjs';
import {
  BadRequest,
  Forbidden,
  RateLimited,
  Tempinbox,
  Unauthorized,
  errorCodes,
} from './harness/package.mjs';
import { eventually, newAccount, operate, suite } from './harness/suite.mjs';

test('a wrong key says that it is wrong and where to make one', async () => {
  const error = await failure(new Tempinbox({ apiKey: 'ti_live_wrong' }).getAccount());

  assert.ok(error instanceof Unauthorized, String(error));
  assert.ok(error.message.includes(`${suite.baseUrl}/dashboard/settings/keys`));
  assert.match(error.message, /wrong, revoked or expired: .*TEMPINBOX_API_KEY/);
  assert.ok(error.requestId);
});

test('a plan that ended says where to see what it allows', async () => {
  const { email, apiKey } = await newAccount('pro');
  const client = new Tempinbox({ apiKey });
  await client.getAccount();
  await operate('account', 'set-plan', email, '--plan', 'free');

  const error = await eventually(
    async () =>
      await client.getAccount().then(
        () => null,
        (/** @type {unknown} */ reason) => reason,
      ),
    'the new plan in force',
  );

  assert.ok(error instanceof Forbidden, String(error));
  assert.equal(error.code, errorCodes.planRequired);
  assert.ok(error.message.includes('/dashboard/account'));
});

test('a used-up day is an error at once that says until when', async () => {
  const { apiKey } = await newAccount('business');
  await operate('plan', 'set', 'business', '--requests-per-day', '3');
  try {
    const client = new Tempinbox({ apiKey });
    const error = await eventually(
      async () =>
        await client.getAccount().then(
          () => null,
          (/** @type {unknown} */ reason) => reason,
        ),
      'the end of the day',
    );

    assert.ok(error instanceof RateLimited, String(error));
    assert.equal(error.isDayUsedUp, true);
    assert.equal(error.rateLimit.remaining, 0);
    assert.ok(error.rateLimit.resetsAt > new Date());
    assert.match(error.message, /used up until \d{4}-/);
  } finally {
    await operate('plan', 'set', 'business', '--requests-per-day', '10000');
  }
});

test('what only the service can judge is a BadRequest that names the field', async () => {
  const error = await failure(new Tempinbox().createInbox({ ttlSeconds: 1e9 }));

  assert.ok(error instanceof BadRequest, String(error));
  assert.equal(error.code, errorCodes.invalidField);
  assert.equal(error.field, 'ttlSeconds');
});

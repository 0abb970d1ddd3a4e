import assert from 'node:assert/strict';
import { test } from 'node:test';

import { part } from './harness/cli.mjs';

const { exitCodes, explain, CommandFailure } = await part('failure');
const { ConnectionFailed, Redirected, InvalidArgument, errorOf } = await import(
  new URL('../dist/esm/errors.js', import.meta.url)
);

const BASE = 'https://mail.example.com/prefix';
const ORIGIN = { baseUrl: BASE, keyOrigin: 'TEMPINBOX_API_KEY' };

function refusal(status, reason, more = {}) {
  const answer = { status, reason, isFromApi: true, dashboard: `${BASE}/dashboard`, ...more };
  return explain(errorOf(answer), ORIGIN);
}

function broken(code) {
  const cause = code === undefined ? undefined : Object.assign(new Error('why'), { code });
  return explain(new ConnectionFailed('GET x', 'why', 1, cause), ORIGIN).message;
}

test('each refusal says what to do', () => {
  assert.equal(
    refusal(401, 'API key is not valid').message,
    'the service refuses the API key of TEMPINBOX_API_KEY: API key is not valid. Is it wrong, ' +
      `revoked or expired? You make one at ${BASE}/dashboard/settings/keys`,
  );
  assert.equal(
    refusal(403, 'No API access on this plan').message,
    `No API access on this plan. What the plan allows: ${BASE}/dashboard/account; what a key may ` +
      `do: ${BASE}/dashboard/settings/keys`,
  );
  const rateLimit = { limit: 10, remaining: 0, resetsAt: new Date() };
  const code = 'daily_limit';
  assert.equal(
    refusal(429, 'Used up', { code, retryAfterSeconds: 7200, rateLimit }).message,
    `Used up; try again in 2h. What the plan allows: ${BASE}/dashboard/account`,
  );
  const other = { code: 'authentication_limit', retryAfterSeconds: 60, rateLimit };
  assert.equal(refusal(429, 'Too many', other).message, 'Too many; try again in 1m');
  assert.equal(
    refusal(503, 'Busy', { retryAfterSeconds: 1, requestId: 'r1' }).message,
    'the service failed: Busy; try again in 1s (request r1)',
  );
  assert.equal(
    explain(new Redirected('GET x', 308, 'https://new.example.com/'), ORIGIN).message,
    `${BASE} leads to "https://new.example.com/": give that address as TEMPINBOX_BASE_URL or ` +
      '--base-url',
  );
});

test('each refusal has its exit code', () => {
  for (const [status, code] of [
    [400, exitCodes.badUsage],
    [401, exitCodes.refused],
    [403, exitCodes.refused],
    [404, exitCodes.notFound],
    [410, exitCodes.notFound],
    [409, exitCodes.conflict],
    [422, exitCodes.conflict],
    [429, exitCodes.overLimit],
    [500, exitCodes.unreachable],
    [503, exitCodes.unreachable],
  ])
    assert.equal(refusal(status, 'x').code, code, `${status}`);
  for (const [reason, code] of [
    ['inbox_limit', exitCodes.overLimit],
    ['capture_limit', exitCodes.overLimit],
    ['plan_required', exitCodes.refused],
    ['scope_required', exitCodes.refused],
  ])
    assert.equal(refusal(403, 'x', { code: reason }).code, code, reason);
  assert.equal(explain(new InvalidArgument('tag', 'is'), ORIGIN).code, exitCodes.badUsage);
  assert.equal(explain(new Error('disk'), ORIGIN).code, exitCodes.localFailure);
  const own = new CommandFailure(exitCodes.conflict, 'x');
  assert.equal(explain(own, ORIGIN), own);
});

test('a service that cannot be reached says what to check', () => {
  assert.match(
    broken('ECONNREFUSED'),
    /^cannot reach https:\/\/mail.*: the connection was not made/,
  );
  assert.match(broken('ECONNREFUSED'), /Does the service run there/);
  assert.match(broken('ENOTFOUND'), /host name/);
  assert.match(broken('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), /--ca-file/);
  assert.match(broken('ECONNRESET'), /was cut.*--hold/);
  assert.match(broken('HPE_INVALID_CONSTANT'), /does not answer as the service does/);
  assert.match(broken(undefined), /no answer in time/);
});

test("an answer that is not the service's says what to check", () => {
  for (const status of [200, 404]) {
    const { code, message } = refusal(status, 'text/html', { isFromApi: false });
    assert.equal(code, exitCodes.unreachable);
    assert.match(message, /does not answer as the service does.*TEMPINBOX_BASE_URL/);
  }
  const proxy = refusal(502, 'text/html', { isFromApi: false }).message;
  assert.match(proxy, /^the service failed: 502 Bad Gateway/);
});

test('text of the service cannot command the terminal', () => {
  assert.equal(refusal(400, 'a\u001b[2J\nb').message, 'a[2J b');
});

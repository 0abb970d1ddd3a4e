import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ConfigurationError, Tempinbox } from './harness/package.mjs';
import { scripted } from './harness/servers.mjs';

const KEY = 'ti_live_key';
const BASE = 'https://host.example';

/** Makes a client while the environment says this and nothing else. */
function make(settings, environment = {}) {
  const before = { ...process.env };
  try {
    delete process.env.TEMPINBOX_BASE_URL;
    delete process.env.TEMPINBOX_API_KEY;
    Object.assign(process.env, environment);
    return new Tempinbox(settings);
  } finally {
    Object.assign(process.env, before);
  }
}

function refused(settings, environment = {}) {
  try {
    make(settings, environment);
  } catch (error) {
    assert.ok(error instanceof ConfigurationError, String(error));
    return error.message;
  }
  return assert.fail('the settings were taken');
}

test('settings come from the environment where none are given', () => {
  const client = make(undefined, { TEMPINBOX_BASE_URL: BASE, TEMPINBOX_API_KEY: KEY });

  assert.equal(client.dashboardLink('x'), `${BASE}/dashboard/inboxes/x`);
});

test('what is given wins over the environment', () => {
  const environment = { TEMPINBOX_BASE_URL: 'https://other.example', TEMPINBOX_API_KEY: KEY };

  const client = make({ baseUrl: `${BASE}/prefix/`, apiKey: KEY }, environment);

  assert.equal(client.dashboardLink('x'), `${BASE}/prefix/dashboard/inboxes/x`);
});

test('a missing address or key is an error that names both ways to give it', () => {
  assert.match(refused({ apiKey: KEY }), /missing.*baseUrl.*TEMPINBOX_BASE_URL/);
  assert.match(refused({ baseUrl: BASE }), /missing.*apiKey.*TEMPINBOX_API_KEY/);
  assert.match(refused({ baseUrl: BASE, apiKey: '' }), /missing.*apiKey.*TEMPINBOX_API_KEY/);
});

test('a malformed address is an error that says what is allowed', () => {
  for (const baseUrl of ['host', 'ftp://host', 'http://', `${BASE}?a=b`, `${BASE}#a`])
    assert.match(refused({ baseUrl, apiKey: KEY }), /must be http\(s\):\/\/host/, baseUrl);
  assert.match(refused({ baseUrl: `${BASE}/v1/`, apiKey: KEY }), /without \/v1.*baseUrl/);
});

test('a password in the address is refused and not shown', () => {
  const message = refused({ baseUrl: 'https://me:secret@host.example', apiKey: KEY });

  assert.match(message, /without user name/);
  assert.doesNotMatch(message, /secret/);
});

test('a malformed key is refused and not shown', () => {
  for (const apiKey of ['ti_live_ secret', 'secret\r\nX-Other: 1', 'secret'.repeat(50)]) {
    const message = refused({ baseUrl: BASE, apiKey });
    assert.match(message, /printable ASCII.*TEMPINBOX_API_KEY/);
    assert.doesNotMatch(message, /secret/);
  }
});

test('an unknown setting and a senseless timeout are refused', () => {
  assert.match(refused({ baseUrl: BASE, apiKey: KEY, timeout: 3 }), /"timeout".*timeoutSeconds/);
  for (const timeoutSeconds of [0, -1, Number.NaN, Infinity, 86_401, '5'])
    assert.match(refused({ baseUrl: BASE, apiKey: KEY, timeoutSeconds }), /timeoutSeconds must be/);
});

test('calls go below the path of the address', async (t) => {
  const server = await scripted(t, [{ body: { domains: [] } }]);
  const client = new Tempinbox({ baseUrl: `${server.baseUrl}/prefix`, apiKey: KEY });

  await client.listDomains();

  assert.equal(server.requests[0].url, '/prefix/v1/domains');
  assert.equal(server.requests[0].headers['x-api-key'], KEY);
});

test('a client does not show its key', () => {
  const client = make({ baseUrl: BASE, apiKey: 'ti_live_secret' });

  assert.doesNotMatch(JSON.stringify(client), /secret/);
});

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { part, refusalOf, system } from './harness/cli.mjs';

const { Arguments } = await part('command');
const { readSettings } = await part('settings');

function line(options = {}) {
  const given = new Arguments();
  for (const [name, value] of Object.entries(options)) given.options.set(name, [value]);
  return given;
}

const linux = (variables = {}) => system('linux', variables);
const refusal = (options, variables, name = 'linux') =>
  refusalOf(() => readSettings(line(options), system(name, variables)));

/** A folder that ends with the test. */
function scratch(context) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tempinbox-'));
  context.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function write(file, content, mode = 0o600) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
}

test('a missing setting names each way to give it', () => {
  const key = refusal({}, { TEMPINBOX_BASE_URL: 'http://a/b', HOME: '/nowhere' });

  assert.match(refusal({}, { TEMPINBOX_API_KEY: 'k' }), /TEMPINBOX_BASE_URL=.* --base-url/);
  assert.match(key, /TEMPINBOX_API_KEY=.*\/nowhere\/.config\/tempinbox\/key/);
  assert.match(key, /http:\/\/a\/b\/dashboard\/settings\/keys/);
  assert.match(
    refusal({}, { TEMPINBOX_BASE_URL: 'http://a', APPDATA: 'C:\\a' }, 'win32'),
    /C:\\a\\tempinbox\\key/,
  );
});

test('an address that is none is refused', () => {
  const read = (url) => readSettings(line({ 'base-url': url }), linux({ TEMPINBOX_API_KEY: 'k' }));
  const refused = (url) => refusalOf(() => read(url));

  assert.match(refused('mail.example.com'), /^--base-url: the URL/);
  assert.match(refused('ftp://a'), /must begin with http:\/\/ or https:\/\//);
  assert.match(refused('https://user@a'), /must not carry a user name/);
  assert.match(refused('https://a/?b=c'), /without a query/);
  assert.equal(refused('https://a/v1/'), '--base-url must be without /v1, not "https://a/v1"');
  assert.match(refused('https://a/prefix/v1'), /without \/v1/);
  assert.equal(read('https://a/prefix/').baseUrl, 'https://a/prefix');
  assert.equal(read('https://v1').baseUrl, 'https://v1');
});

test('a key file that others can read is refused with what to type', (context) => {
  const file = write(path.join(scratch(context), 'my key'), 'ti_live_abc\n', 0o640);
  const options = { 'base-url': 'http://a', 'key-file': file };

  assert.equal(
    refusal(options)
      .replaceAll(file, 'FILE')
      .replace(/"[^"]*my key"|"[^"]*…"/, '"FILE"'),
    `others can read the key file "FILE"; type: chmod 600 'FILE'`,
  );
  chmodSync(file, 0o600);
  assert.equal(readSettings(line(options), linux()).apiKey, 'ti_live_abc');
  assert.match(refusal({ ...options, 'key-file': path.dirname(file) }), /is no file$/);
});

test("the key comes from the option, the variable or the user's folder, in this order", (context) => {
  const folder = scratch(context);
  write(path.join(folder, 'tempinbox', 'key'), 'from_folder\n');
  const named = write(path.join(folder, 'other'), 'from_option\n');
  const both = linux({ TEMPINBOX_API_KEY: 'from_variable', XDG_CONFIG_HOME: folder });
  const url = { 'base-url': 'http://a' };
  const key = (options, platform) => readSettings(line({ ...url, ...options }), platform).apiKey;

  assert.equal(key({}, linux({ XDG_CONFIG_HOME: folder })), 'from_folder');
  assert.equal(key({}, both), 'from_variable');
  assert.equal(key({ 'key-file': named }, both), 'from_option');
});

test('what cannot be a key is refused and not shown', () => {
  for (const key of ['two words', 'a\r\nX-Other: b', 'k'.repeat(201)]) {
    const message = refusal({ 'base-url': 'http://a' }, { TEMPINBOX_API_KEY: key });
    assert.match(message, /^TEMPINBOX_API_KEY holds no API key/);
    assert.ok(!message.includes(key));
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { part, system } from './harness/cli.mjs';

const {
  browserCommands,
  canOthersRead,
  canRewriteLines,
  describeProcess,
  keyFile,
  positionFile,
  protectionAdvice,
  systemCertificateFiles,
} = await part('platform');

const HOME = { HOME: '/srv/a' };
const WINDOWS = {
  USERPROFILE: 'C:\\Users\\a',
  APPDATA: 'C:\\Users\\a\\AppData\\Roaming',
  LOCALAPPDATA: 'C:\\Users\\a\\AppData\\Local',
};

test('the key is in the folder that each system has for settings', () => {
  assert.equal(keyFile(system('linux', HOME)), '/srv/a/.config/tempinbox/key');
  assert.equal(keyFile(system('darwin', { HOME: '/Users/a' })), '/Users/a/.config/tempinbox/key');
  assert.equal(keyFile(system('win32', WINDOWS)), 'C:\\Users\\a\\AppData\\Roaming\\tempinbox\\key');
});

test('the position is in the folder that each system has for state', () => {
  const linux = '/srv/a/.local/state/tempinbox/listen/x';
  assert.equal(positionFile(system('linux', HOME), 'x'), linux);
  assert.equal(positionFile(system('darwin', HOME), 'x'), linux);
  assert.equal(
    positionFile(system('win32', WINDOWS), 'x'),
    'C:\\Users\\a\\AppData\\Local\\tempinbox\\listen\\x',
  );
});

test("a folder of the user's own comes before the usual one, if it is absolute", () => {
  const chosen = { ...HOME, XDG_CONFIG_HOME: '/etc/a', XDG_STATE_HOME: 'relative' };

  for (const name of ['linux', 'darwin']) {
    assert.equal(keyFile(system(name, chosen)), '/etc/a/tempinbox/key');
    assert.equal(positionFile(system(name, chosen), 'x'), '/srv/a/.local/state/tempinbox/listen/x');
  }
  assert.equal(keyFile(system('win32', { APPDATA: 'D:\\a' })), 'D:\\a\\tempinbox\\key');
});

test('without a home there is no folder', () => {
  for (const name of ['linux', 'darwin', 'win32']) {
    assert.equal(keyFile(system(name)), undefined);
    assert.equal(positionFile(system(name, { HOME: 'a', USERPROFILE: 'a' }), 'x'), undefined);
  }
});

test('others can read a file by its mode, but for Windows, which has none', () => {
  for (const name of ['linux', 'darwin']) {
    assert.equal(canOthersRead(system(name), 0o100600), false);
    for (const mode of [0o100640, 0o100604, 0o100601])
      assert.equal(canOthersRead(system(name), mode), true);
    assert.equal(protectionAdvice(system(name), "it's"), "chmod 600 'it'\\''s'");
  }
  assert.equal(canOthersRead(system('win32'), 0o100666), false);
  assert.match(protectionAdvice(system('win32'), 'C:\\key'), /^icacls "C:\\key"/);
});

test('a process is told from a later one with its number where the system says when it began', () => {
  const stat = (state) => `7 (a ) b) ${state} ${'0 '.repeat(18)}4711 0\n`;
  const reading = (state) => (file) =>
    ({ '/proc/sys/kernel/random/boot_id': 'boot\n', '/proc/7/stat': stat(state) })[file];
  const shown = (name, read = reading('S')) => describeProcess(system(name), 7, read);

  assert.equal(shown('linux'), '7 boot 4711\n');
  assert.equal(shown('linux', reading('Z')), '7 boot ended\n');
  for (const name of ['darwin', 'win32']) assert.equal(shown(name), '7  \n');
});

test('certificates are those of the variable, else those of the system', () => {
  for (const name of ['linux', 'darwin', 'win32'])
    assert.deepEqual(systemCertificateFiles(system(name, { SSL_CERT_FILE: 'a' })), ['a']);
  assert.ok(systemCertificateFiles(system('linux')).includes('/etc/ssl/ca-bundle.pem'));
  assert.ok(systemCertificateFiles(system('darwin')).includes('/etc/ssl/cert.pem'));
  assert.deepEqual(systemCertificateFiles(system('win32')), []);
});

test("each system's own program opens an address, and never a shell", () => {
  const url = 'https://a/?b&calc.exe';
  const commands = (name) => browserCommands(system(name), url);

  assert.deepEqual(commands('linux'), [
    ['xdg-open', [url]],
    ['open', [url]],
  ]);
  assert.deepEqual(commands('darwin'), [['open', [url]]]);
  assert.deepEqual(commands('win32'), [['rundll32.exe', ['url.dll,FileProtocolHandler', url]]]);
});

test('a line is written over on terminals that can, also those of Windows', () => {
  const xterm = { TERM: 'xterm' };
  for (const name of ['linux', 'darwin']) {
    assert.equal(canRewriteLines(system(name, xterm), true), true);
    assert.equal(canRewriteLines(system(name), true), false);
  }
  assert.equal(canRewriteLines(system('win32'), true), true);
  for (const name of ['linux', 'darwin', 'win32']) {
    assert.equal(canRewriteLines(system(name, { TERM: 'dumb' }), true), false);
    assert.equal(canRewriteLines(system(name, xterm), false), false);
  }
});

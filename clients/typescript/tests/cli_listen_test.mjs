import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { part, refusalOf } from './harness/cli.mjs';
import { verifyWebhook } from './harness/package.mjs';

const { readWebhookSecret, webhookHeaders, webhookPayload } = await part('webhook');
const { PositionFile } = await part('position-file');
const { deliveryDelay } = await part('listen');
const { chooseLink } = await part('email-commands');

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** A file that does not exist yet, in a folder that ends with the test. */
function newFile(context, ...names) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tempinbox-'));
  context.after(() => rmSync(folder, { recursive: true }));
  return path.join(folder, ...names, 'position');
}

test("the payload is the webhook's", () => {
  const email = {
    emailId: 'e',
    inboxId: 'i',
    sequence: 3,
    from: 'a@b',
    subject: 'Hi "you"',
    receivedAt: '2026-11-21T10:00:07.512Z',
    text: 'secret',
  };

  assert.equal(
    webhookPayload(email),
    '{"event":"email.received","timestamp":"2026-11-21T10:00:07.512Z",' +
      '"data":{"emailId":"e","inboxId":"i","from":"a@b","subject":"Hi \\"you\\""}}',
  );
});

test("the signature is the webhook's", () => {
  const now = Math.floor(Date.now() / 1000);

  const headers = webhookHeaders('id', now, '{"event":"x"}', readWebhookSecret(SECRET), 2);

  assert.equal(headers['webhook-id'], 'id');
  assert.equal(headers['webhook-timestamp'], String(now));
  assert.equal(headers['webhook-attempt'], '2');
  assert.deepEqual(verifyWebhook('{"event":"x"}', headers, SECRET), { event: 'x' });
  assert.ok(!('webhook-signature' in webhookHeaders('id', 1, '{}', undefined, 1)));
});

test("what is no webhook's secret is refused", () => {
  for (const wrong of ['', 'abc', 'whsec_', 'whsec_YWJj', 'whsec_***', SECRET.slice(6)])
    assert.match(
      refusalOf(() => readWebhookSecret(wrong)),
      /--secret must be a webhook's secret/,
    );
});

test('a position outlasts the run', (context) => {
  const file = newFile(context, 'new', 'folder');
  const first = new PositionFile(file);
  assert.equal(first.read(), undefined);
  first.write({ cursor: 'AQEHK6zqvT9LAQEHK6zqvT9L' });
  first.write({ cursor: 'AQEH' });
  first.close();

  const second = new PositionFile(file);

  assert.deepEqual(second.read(), { cursor: 'AQEH' });
  second.close();
});

test('the position of an earlier version is a sequence, which a cursor replaces', (context) => {
  const file = newFile(context, 'new');
  const position = new PositionFile(file);
  writeFileSync(file, '0000000009000000000\n');

  assert.deepEqual(position.read(), { sequence: 9_000_000_000 });
  position.write({ sequence: 9_000_000_001 });
  assert.deepEqual(position.read(), { sequence: 9_000_000_001 });
  position.write({ cursor: 'AQEH' });
  assert.deepEqual(position.read(), { cursor: 'AQEH' });
  position.close();
});

test('what is no cursor is not kept', (context) => {
  const position = new PositionFile(newFile(context));

  for (const cursor of ['', 'a'.repeat(65), 'a b', 'a\n'])
    assert.match(
      refusalOf(() => position.write({ cursor })),
      /what is no cursor/,
    );
  assert.equal(position.read(), undefined);
  position.close();
});

test('two runs cannot share a position', (context) => {
  const file = newFile(context);
  const first = new PositionFile(file);

  const refusal = refusalOf(() => new PositionFile(file));
  assert.match(refusal, /another tempinbox listen/);
  assert.ok(refusal.endsWith(`it holds "${file}.lock"; if none runs, delete that file`), refusal);
  first.close();
  new PositionFile(file).close();
});

test('the position of a run that was killed is taken over', async (context) => {
  const file = newFile(context);
  const module = new URL('../dist/esm/cli/position-file.js', import.meta.url).href;
  const script = `const { PositionFile } = await import(${JSON.stringify(module)});
    new PositionFile(${JSON.stringify(file)}).write({ cursor: 'five' });
    console.log('held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  await once(child.stdout, 'data');
  assert.match(
    refusalOf(() => new PositionFile(file)),
    /another tempinbox listen/,
  );
  child.kill('SIGKILL');
  await once(child, 'exit');

  const next = new PositionFile(file);

  assert.deepEqual(next.read(), { cursor: 'five' });
  next.close();
});

test('a process that only has the number of one that is gone holds nothing', (context) => {
  const file = newFile(context);
  writeFileSync(`${file}.lock`, `${process.pid} of-another-boot 1\n`);

  const position = new PositionFile(file);

  assert.match(readFileSync(`${file}.lock`, 'utf8'), new RegExp(`^${process.pid} `));
  position.close();
});

test('a position that is none is no position', (context) => {
  for (const content of ['12\n', 'what is this doing here\n', `${'AQEH'.padEnd(64)} `]) {
    const file = newFile(context);
    writeFileSync(file, content);
    const position = new PositionFile(file);
    assert.equal(position.read(), undefined);
    position.close();
  }
});

test('a target is tried again after 1, 2, 4 … 60 seconds', () => {
  assert.deepEqual([1, 2, 6, 7, 1_000_000].map(deliveryDelay), [1, 2, 32, 60, 60]);
});

test('the link to follow is the one to verify, and never the one to unsubscribe', () => {
  const unsubscribe = { url: 'u', kind: 'unsubscribe' };
  const other = { url: 'o', kind: 'other' };
  const all = { links: [unsubscribe, other, { url: 'v', kind: 'verify' }] };

  assert.equal(chooseLink(all).url, 'v');
  assert.equal(chooseLink(all, 'unsubscribe').url, 'u');
  assert.equal(chooseLink(all, 'reset'), undefined);
  assert.equal(chooseLink({ links: [unsubscribe, other] }).url, 'o');
  assert.equal(chooseLink({ links: [unsubscribe] }), undefined);
});

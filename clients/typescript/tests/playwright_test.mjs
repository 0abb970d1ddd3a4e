import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { Tempinbox } from './harness/package.mjs';
import { CONFIG, projectFolder, runPlaywright } from './harness/playwright.mjs';
import { suite } from './harness/suite.mjs';

const client = new Tempinbox();
const newRun = () => randomUUID().slice(-12);
const SEND = `
import nodemailer from 'nodemailer';
export async function send(to, mail) {
  const transport = nodemailer.createTransport({ ...${JSON.stringify(suite.smtp)}, ignoreTLS: true });
  await transport.sendMail({ from: 'robot@sender.example', to, ...mail });
  transport.close();
}
`;

async function inboxesOf(run, status) {
  return await client.listInboxes({ tag: `run-${run}`, status }).toArray();
}

test('200 tests on 8 workers see their own mail alone and leave no inbox', async (t) => {
  const run = newRun();
  const folder = await projectFolder(t, {
    'package.json': '{"type":"module"}',
    'playwright.config.mjs': CONFIG.replace(
      '{',
      '{ fullyParallel: true, workers: 8, timeout: 120_000,',
    ),
    'send.mjs': SEND,
    'many.spec.mjs': `
import { test, expect } from 'tempinbox/playwright';
import { send } from './send.mjs';
for (let number = 0; number < 200; ++number)
  test('test ' + number, async ({ inbox, tempinbox }) => {
    const code = String(100_000 + number * 7);
    await send(inbox.emailAddress, { subject: 'Code of ' + number, text: 'Your code is ' + code });
    expect(await tempinbox.waitForCode(inbox)).toBe(code);
    const emails = await tempinbox.listInboxEmails(inbox).toArray();
    expect(emails.map((email) => email.subject)).toEqual(['Code of ' + number]);
  });
`,
  });

  const { results, said } = await runPlaywright(folder, [], { TEMPINBOX_RUN: run });

  assert.equal(results.filter(({ ok }) => ok).length, 200, said);
  assert.equal(new Set(results.map(({ parallelIndex }) => parallelIndex)).size, 8);
  assert.deepEqual(await inboxesOf(run, 'active'), []);
  const ended = await inboxesOf(run, 'expired');
  assert.equal(ended.length, 200);
  assert.equal(new Set(ended.map(({ emailAddress }) => emailAddress)).size, 200);
  assert.ok(ended.every(({ tags }) => tags.some((tag) => tag.startsWith('worker-'))));
});

test('the report of a failed test has the mail, its picture and the near misses', async (t) => {
  const run = newRun();
  const folder = await projectFolder(t, {
    'package.json': '{"type":"module"}',
    'playwright.config.mjs': CONFIG.replace('{', '{ workers: 1, timeout: 60_000,'),
    'send.mjs': SEND,
    'failing.spec.mjs': `
import { test, expect } from 'tempinbox/playwright';
import { send } from './send.mjs';
const MAIL = { subject: 'Welcome', html: '<h1>Hi</h1><script>document.body.textContent = ""</script>' };
test('waits for another subject', async ({ inbox, tempinbox }) => {
  await send(inbox.emailAddress, MAIL);
  await tempinbox.waitForEmail(inbox);
  await tempinbox.waitForEmail(inbox, { subject: 'your code', timeoutSeconds: 1 });
});
test('is cut in a wait', async ({ inbox, tempinbox }) => {
  await send(inbox.emailAddress, MAIL);
  await tempinbox.waitForEmail(inbox);
  // 5 s for the wait alone: this process is older than the test.
  test.setTimeout(performance.now() + 5_000);
  await tempinbox.waitForEmail(inbox, { subject: 'your code', timeoutSeconds: 60 });
});
test('passes', async ({ inbox, makeInbox }) => {
  expect((await makeInbox({ name: 'second' })).emailAddress).not.toBe(inbox.emailAddress);
});
`,
  });

  const { results, said } = await runPlaywright(folder, [], { TEMPINBOX_RUN: run });
  const byTitle = new Map(results.map((result) => [result.title, result]));
  const attached = (title) => new Map(byTitle.get(title).attachments.map((one) => [one.name, one]));
  const textOf = async ({ body, path }) =>
    body ? Buffer.from(body, 'base64') : await readFile(path);

  assert.equal(byTitle.get('passes').ok, true, said);
  assert.deepEqual(byTitle.get('passes').attachments, []);
  for (const title of ['waits for another subject', 'is cut in a wait']) {
    const files = attached(title);
    assert.equal(byTitle.get(title).ok, false);
    assert.match(String(await textOf(files.get('mail-1.eml'))), /Subject: Welcome/);
    assert.equal((await textOf(files.get('mail-1.png'))).subarray(1, 4).toString(), 'PNG', said);
    const summary = String(await textOf(files.get('mail.txt')));
    assert.match(summary, /subject should be "your code", is "Welcome"/, title);
  }
  assert.match(byTitle.get('waits for another subject').error.message, /near misses/);
  assert.deepEqual(await inboxesOf(run, 'active'), []);
  assert.equal((await inboxesOf(run, 'expired')).length, 4);
});

test('inboxes of a worker that was killed end with the run', async (t) => {
  const run = newRun();
  const folder = await projectFolder(t, {
    'package.json': '{"type":"module"}',
    'playwright.config.mjs': CONFIG.replace(
      '{',
      "{ workers: 1, globalTeardown: 'tempinbox/playwright-teardown',",
    ),
    'killed.spec.mjs': `
import { test } from 'tempinbox/playwright';
test('is killed', async ({ inbox }) => { process.kill(process.pid, 'SIGKILL'); await new Promise(() => inbox); });
`,
  });

  const { code } = await runPlaywright(folder, [], { TEMPINBOX_RUN: run });

  assert.notEqual(code, 0);
  assert.deepEqual(await inboxesOf(run, 'active'), []);
  assert.equal((await inboxesOf(run, 'expired')).length, 1);
});

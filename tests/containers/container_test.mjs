// TempinboxContainer of the npm package, with a real Docker daemon. `./dev image --check all-in-one`
// runs it in a folder whose node_modules has the package as `npm pack` makes it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import { createTransport } from 'nodemailer';
import { TempinboxContainer } from 'tempinbox/container';

async function send(service, to, code) {
  const transport = createTransport({ ...service.smtp, ignoreTLS: true });
  await transport.sendMail({ from: 'shop@shop.example', to, subject: 'Hi', text: `Code: ${code}` });
  transport.close();
}

test('a mail of the application is a code five lines later', async (t) => {
  const service = await new TempinboxContainer().start();
  t.after(() => service.stop());
  const tempinbox = service.client();
  const inbox = await tempinbox.createInbox();
  await send(service, inbox.emailAddress, '482913');

  assert.equal(await tempinbox.waitForCode(inbox), '482913');
  assert.equal((await tempinbox.getAccount()).plan, 'premium');
});

test('mail of a login comes to its inbox, whomever it is addressed to', async (t) => {
  const service = await new TempinboxContainer().start();
  t.after(() => service.stop());
  const tempinbox = service.client();
  const inbox = await tempinbox.createInbox({ capture: true });
  const { user, password } = inbox.capture;
  const transport = createTransport({ ...service.submission, auth: { user, pass: password } });
  t.after(() => transport.close());
  const mail = { from: 'shop@shop.example', to: 'ann@corp.example', text: 'Code: 482913' };
  await transport.sendMail(mail);

  assert.equal(await tempinbox.waitForCode(inbox), '482913');
  const stranger = createTransport(service.submission);
  t.after(() => stranger.close());
  await assert.rejects(stranger.sendMail(mail), { responseCode: 530 });
});

test('containers side by side have ports and keys of their own, and take settings', async (t) => {
  const started = await Promise.all(
    ['one.test', 'two.test'].map((domain) =>
      new TempinboxContainer().withEnvironment({ TEMPINBOX_DOMAIN: domain }).start(),
    ),
  );
  t.after(() => Promise.all(started.map((service) => service.stop())));

  const [one, two] = started;
  assert.notEqual(one.baseUrl, two.baseUrl);
  assert.notEqual(one.smtp.port, two.smtp.port);
  assert.notEqual(one.apiKey, two.apiKey);
  assert.match((await one.client().createInbox()).emailAddress, /@one\.test$/);
  assert.match((await two.client().createInbox()).emailAddress, /@two\.test$/);
});

test('a container that ends before it is ready is an error', async () => {
  const broken = new TempinboxContainer().withEnvironment({ TEMPINBOX_LISTEN: 'nowhere' });

  await assert.rejects(broken.start());
});

test('the CommonJS build has it, too', () => {
  const require = createRequire(import.meta.url);

  assert.equal(typeof require('tempinbox/container').TempinboxContainer, 'function');
});

test('its types fit those of testcontainers', () => {
  writeFileSync(
    'types.mts',
    `import { Network } from 'testcontainers';
import { TempinboxContainer, type StartedTempinboxContainer } from 'tempinbox/container';

const network = await new Network().start();
const container: TempinboxContainer = new TempinboxContainer('image').withNetwork(network);
const service: StartedTempinboxContainer = await container.start();
const port: number = service.smtp.port + service.submission.port;
const inboxId: string = (await service.client({ timeoutSeconds: port }).createInbox()).inboxId;
await service.exec(['cat', inboxId]);
await service.stop({ timeout: 1 });
`,
  );
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'NodeNext'];
  const tsc = ['node_modules/typescript/bin/tsc', ...options, '--types', 'node', 'types.mts'];

  execFileSync(process.execPath, tsc, { stdio: 'inherit' });
});

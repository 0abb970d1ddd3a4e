// The pages' own text, executed.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';

import { FOLDER, NotFound, Tempinbox, WaitTimeout } from './harness/package.mjs';
import {
  BROWSER,
  CONFIG,
  emptyFolder,
  projectFolder,
  run,
  signUpApplication,
} from './harness/playwright.mjs';
import { send, suite } from './harness/suite.mjs';

async function blocks(page, language) {
  const text = await readFile(join(FOLDER, page), 'utf8');
  return [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)]
    .filter((found) => found[1] === language)
    .map((found) => found[2]);
}

test('the five minutes of the README end in a passing sign-up test of at most 10 lines', async (t) => {
  const [, install, start] = await blocks('README.md', 'sh');
  const [spec] = await blocks('README.md', 'ts');
  const { devDependencies } = JSON.parse(await readFile(join(FOLDER, 'package.json'), 'utf8'));
  const folder = await emptyFolder(t);
  const appUrl = await signUpApplication(t, suite.smtp);
  // The package as `npm pack` makes it; its clone is elsewhere and may be read-only.
  const packed = await run('npm', ['pack', '--pack-destination', folder], FOLDER);
  assert.equal(packed.code, 0, packed.said);
  await writeFile(join(folder, 'signup.spec.ts'), spec);
  // Two things differ here: the browser is the machine's, and versions are those of the lock file.
  await writeFile(join(folder, 'playwright.config.mjs'), CONFIG.replace("'json'", "'list'"));
  assert.ok(install.includes('npx playwright install chromium\n'), BROWSER);
  const commands = `${install.replace('npx playwright install chromium\n', '')}${start}`
    .replace('@playwright/test', `@playwright/test@${devDependencies['@playwright/test']}`)
    .replace('"$CLONE"/clients/typescript', '.');

  const { code, said } = await run('sh', ['-euc', commands], folder, {
    APP_URL: appUrl,
    TEMPINBOX_API: suite.baseUrl,
    npm_config_prefer_offline: 'true',
    npm_config_ignore_scripts: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  });

  assert.equal(code, 0, said);
  assert.match(said, /1 passed/);
  assert.ok(spec.trim().split('\n').length <= 10);
});

test("the tasks of the Cypress page work as Cypress' process calls them", async (t) => {
  const [config, spec] = await blocks('docs/cypress.md', 'js');
  const folder = await projectFolder(t, { 'cypress.config.cjs': config });
  const { taskTimeout, e2e } = createRequire(join(folder, 'x'))('./cypress.config.cjs');
  const tasks = {};
  e2e.setupNodeEvents((event, given) => {
    assert.equal(event, 'task');
    Object.assign(tasks, given);
  });

  const inbox = await tasks.createInbox({ tags: ['mine'] });
  await send(inbox.emailAddress, { text: 'Your code is 482913: https://a.example/verify?a=b' });

  assert.ok(taskTimeout > 60_000);
  assert.ok(inbox.tags.includes('mine'), inbox.tags.join());
  assert.equal(await tasks.waitForCode({ inbox }), '482913');
  const [found] = await tasks.waitForEmails({ inbox, minCount: 1, text: 'code is' });
  assert.equal(found.sequence, 1);
  assert.equal(
    await tasks.waitForLink({ inbox, url: 'a.example' }),
    'https://a.example/verify?a=b',
  );
  assert.equal(await tasks.expectNoEmail({ inbox, subject: 'No', timeoutSeconds: 1 }), null);
  await assert.rejects(
    tasks.waitForCode({ inbox, subject: 'No', timeoutSeconds: 1 }),
    (error) => error.name === WaitTimeout.name,
  );
  for (const [, name] of spec.matchAll(/cy\.task\('(\w+)'/g)) assert.ok(name in tasks, name);
  assert.deepEqual(await tasks.endInboxes(), { deletedCount: 1 });
  await assert.rejects(new Tempinbox().waitForEmail(inbox), NotFound);
});

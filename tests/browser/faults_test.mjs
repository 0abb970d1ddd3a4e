// Faults on purpose: a story is set, played to whoever sends, counted, and ended.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { openInboxPage } from './harness/inbox-page.mjs';
import { ask } from './harness/person.mjs';
import { eventually, refusalOf } from './harness/suite.mjs';

const LATER = '451 4.7.1 Try again later';

let opened;
let page;
let inbox;

before(async () => {
  opened = await openInboxPage();
  ({ page, inbox } = opened);
});

after(async () => {
  await opened?.close();
});

const section = () => page.getByRole('region', { name: 'Faults' });
const steps = () => section().getByRole('listitem');
const dialog = () => page.getByRole('dialog', { name: 'Play faults on purpose' });
const mail = (subject) => page.getByRole('link', { name: new RegExp(subject) });
const refusal = (subject) => refusalOf(inbox.emailAddress, subject);

describe('faults of an inbox', () => {
  test('are a story that is chosen', async () => {
    await section().getByText('Mail is taken as ever.').waitFor();
    await section().getByRole('button', { name: 'Play faults' }).click();
    await dialog().getByLabel('Story').selectOption('Deferred twice, then refused for good');
    await dialog().getByRole('button', { name: 'Play these' }).click();
    await dialog().waitFor({ state: 'hidden' });

    await steps().nth(1).waitFor();
    assert.deepEqual(
      (await steps().allTextContents()).map((text) => text.trim()),
      [
        `At RCPT: ${LATER} – on purpose, the first 2 times0 uses`,
        'At RCPT: 550 5.7.1 Not here – on purpose, always0 uses',
      ],
    );
  });

  test('are played, and say how often', async () => {
    const first = await eventually(() => refusal('Too early'), 'the faults are in force');
    assert.deepEqual(
      [first, await refusal('Twice'), await refusal('For good')],
      [LATER, LATER, '550 5.7.1 Not here'],
    );

    await section().getByRole('button', { name: 'Look again' }).click();
    await steps().nth(0).getByText('2 uses').waitFor();
    await steps().nth(1).getByText('1 use', { exact: true }).waitFor();
  });

  test('are among what was not accepted, as made on purpose', async () => {
    const refused = page.getByRole('region', { name: 'Not accepted' });
    await eventually(async () => {
      await refused.getByRole('button', { name: 'Look again' }).click();
      return await refused.getByText('550 5.7.1 Not here').isVisible();
    }, 'the refusals are shown');
    await refused.getByRole('listitem').first().getByText('on purpose').waitFor();
  });

  test('that are none are refused with what is wrong', async () => {
    await section().getByRole('button', { name: 'Play faults' }).click();
    const refusals = [
      ['[', 'The steps are not JSON.'],
      ['{}', 'The steps must be a list'],
      ['[{"stage": "connect", "reply": "451 4.7.1 No"}]', 'steps[0].stage must be one of'],
    ];
    for (const [text, said] of refusals) {
      await dialog().getByLabel('Steps').fill(text);
      await dialog().getByRole('button', { name: 'Play these' }).click();
      await dialog().getByText(said).waitFor();
    }
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    assert.equal((await ask(page, 'GET', `/inboxes/${inbox.inboxId}/faults`)).steps.length, 2);
  });

  test('are edited, and begin anew', async () => {
    await section().getByRole('button', { name: 'Play faults' }).click();
    const delayed = '[{"stage": "rcpt", "reply": "450 4.2.1 Slower", "every": 2}]';
    await dialog().getByLabel('Steps').fill(delayed);
    await dialog().getByRole('button', { name: 'Play these' }).click();

    const text = 'At RCPT: 450 4.2.1 Slower – on purpose, each use that is a multiple of 2';
    await steps().getByText(text).waitFor();
    assert.equal(await steps().count(), 1);
    await steps().getByText('0 uses').waitFor();
  });

  test('end by a click, and mail is taken', async () => {
    await section().getByRole('button', { name: 'End faults' }).click();

    await section().getByText('Mail is taken as ever.').waitFor();
    await eventually(
      () => page.evaluate(() => document.activeElement?.id === 'faults'),
      'the focus is on the heading',
    );
    assert.equal(await section().getByRole('button', { name: 'End faults' }).count(), 0);
    // Of two mails in a row the second would be refused, were the step still in force.
    await eventually(
      async () => !(await refusal('Taken')) && !(await refusal('Taken too')),
      'mail is taken',
    );
    await mail('Taken too').first().waitFor();
  });
});

test('nothing was asked of anybody else', () => {
  assert.deepEqual(opened.outside.take(), []);
});

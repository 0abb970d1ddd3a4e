// Fixtures for Playwright Test: an inbox a test, and its mail in the report of a test that fails.
import { randomUUID } from 'node:crypto';

import { test as base, type TestInfo } from '@playwright/test';

import { Tempinbox, type Email, type EmailSummary, type Inbox } from './client.js';
import { NotFound, TempinboxError, WaitTimeout, quoted } from './errors.js';
import { attachMail, type OpenBrowser } from './evidence.js';
import type { components } from './openapi.js';
import { runTag } from './run.js';
import type { Settings } from './settings.js';
import type {
  CodeConditions,
  CountConditions,
  InboxReference,
  LinkConditions,
  WaitConditions,
} from './waiting.js';

export { expect } from '@playwright/test';

type NewInbox = components['schemas']['NewInbox'];

/** The options that `use` of a project, a file or a block may set. */
export interface TempinboxOptions {
  /** The fields every inbox is created with; its own tags are added to those of run and worker. */
  newInbox: NewInbox;
}

/** The fixtures of a test. */
export interface TempinboxFixtures extends TempinboxOptions {
  /** The client. A wait without timeoutSeconds ends before the test would time out. */
  tempinbox: Tempinbox;
  /** This test's inbox, made before the test: every mail in it came because of the test. */
  inbox: Inbox;
  /** Makes another one, which ends with the test, too. */
  makeInbox: (newInbox?: NewInbox) => Promise<Inbox>;
}

/** The fixtures that the tests of a worker share. */
export interface TempinboxWorkerFixtures {
  /** Otherwise from TEMPINBOX_BASE_URL and TEMPINBOX_API_KEY. */
  tempinboxSettings: Settings;
  /** The tags of run and worker; when the worker ends, so do inboxes that a test could not end. */
  tempinboxTags: string[];
}

// Before the workers are started, which inherit it.
runTag();

const MAX_WAIT_SECONDS = 60;
const FIXTURE_MILLISECONDS = 60_000; // its own: a test that timed out has none left
const REPORT_SECONDS = 2; // of a test's time, for what comes after a wait

export const test = base.extend<TempinboxFixtures, TempinboxWorkerFixtures>({
  newInbox: [{}, { option: true }],
  tempinboxSettings: [{}, { option: true, scope: 'worker' }],

  tempinboxTags: [
    async ({ tempinboxSettings }, use, { workerIndex }) => {
      // Not the index alone: another shard of the same run has a worker of this number as well.
      const tag = `worker-${workerIndex}-${randomUUID().slice(-12)}`;
      await use([runTag(), tag]);
      await new Tempinbox(tempinboxSettings).deleteInboxesByTag(tag);
    },
    { scope: 'worker' },
  ],

  tempinbox: async ({ tempinboxSettings }, use, testInfo) => {
    await use(new TestClient(tempinboxSettings, testInfo));
  },

  makeInbox: [
    async ({ tempinbox, tempinboxTags, newInbox, playwright, browserName }, use, testInfo) => {
      const made: Inbox[] = [];
      await use(async (own = {}) => {
        const inbox = await tempinbox.createInbox(withTags(newInbox, own, tempinboxTags, testInfo));
        made.push(inbox);
        return inbox;
      });
      if (testInfo.status !== testInfo.expectedStatus && made.length > 0) {
        const waits = tempinbox instanceof TestClient ? await tempinbox.nearMisses() : [];
        const open: OpenBrowser = () => playwright[browserName].launch();
        await attachMail(testInfo, tempinbox, made, waits, open);
      }
      for (const inbox of made)
        await tempinbox.deleteInbox(inbox).catch((error: unknown) => {
          if (!(error instanceof NotFound)) throw error; // the test ended it
        });
    },
    { timeout: FIXTURE_MILLISECONDS },
  ],

  inbox: async ({ makeInbox }, use) => {
    await use(await makeInbox());
  },
});

/** Remembers which waits came to nothing, for the report. */
class TestClient extends Tempinbox {
  readonly #testInfo: TestInfo;
  readonly #began = performance.now();
  readonly #timeouts: WaitTimeout[] = [];
  readonly #underWay = new Map<object, () => Promise<unknown>>();

  constructor(settings: Settings, testInfo: TestInfo) {
    super(settings);
    this.#testInfo = testInfo;
  }

  override async waitForEmail(
    inbox: InboxReference,
    conditions: WaitConditions = {},
  ): Promise<Email> {
    return await this.#watch(conditions, (known) => super.waitForEmail(inbox, known));
  }

  override async waitForEmails(
    inbox: InboxReference,
    conditions: CountConditions,
  ): Promise<EmailSummary[]> {
    return await this.#watch(conditions, (known) => super.waitForEmails(inbox, known));
  }

  override async waitForCode(
    inbox: InboxReference,
    conditions: CodeConditions = {},
  ): Promise<string> {
    return await this.#watch(conditions, (known) => super.waitForCode(inbox, known));
  }

  override async waitForLink(
    inbox: InboxReference,
    conditions: LinkConditions = {},
  ): Promise<string> {
    return await this.#watch(conditions, (known) => super.waitForLink(inbox, known));
  }

  /** Reports near misses of the waits that failed, or that the end of the test cut off. */
  async nearMisses(): Promise<string[]> {
    // A test that timed out in a wait has no error of ours: a short look says what the wait saw.
    for (const look of this.#underWay.values())
      await look().catch((error: unknown) => this.#note(error));
    return this.#timeouts.map((timeout) => timeout.message);
  }

  async #watch<Conditions extends Pick<WaitConditions, 'timeoutSeconds' | 'signal'>, Result>(
    conditions: Conditions,
    wait: (conditions: Conditions) => Promise<Result>,
  ): Promise<Result> {
    const call = {};
    this.#underWay.set(call, () => wait({ ...conditions, signal: undefined, timeoutSeconds: 1 }));
    try {
      return await wait({ timeoutSeconds: this.#secondsLeft(), ...conditions });
    } catch (error) {
      this.#note(error);
      throw error;
    } finally {
      this.#underWay.delete(call);
    }
  }

  #note(error: unknown): void {
    if (error instanceof WaitTimeout) this.#timeouts.push(error);
  }

  #secondsLeft(): number {
    const { timeout } = this.#testInfo; // 0: none
    const left = (timeout - (performance.now() - this.#began)) / 1000 - REPORT_SECONDS;
    return timeout === 0 ? MAX_WAIT_SECONDS : Math.min(MAX_WAIT_SECONDS, Math.max(1, left));
  }
}

function withTags(common: NewInbox, own: NewInbox, tags: string[], testInfo: TestInfo): NewInbox {
  const { title, titlePath, project } = testInfo;
  const all = [...new Set([...tags, ...(common.tags ?? []), ...(own.tags ?? [])])];
  if (all.length > 10)
    throw new TempinboxError(
      `newInbox.tags may have 8 tags beside those of run and worker, not ${all.length - 2}`,
    );
  return {
    name: plain(title, 100),
    ...common,
    ...own,
    tags: all,
    metadata: {
      test: plain(titlePath.slice(1).join(' > '), 500),
      ...(project.name ? { project: plain(project.name, 500) } : {}),
      ...common.metadata,
      ...own.metadata,
    },
  };
}

function plain(text: string, maxCharacters: number): string {
  return quoted(text, maxCharacters - 1).slice(1, -1) || 'test';
}

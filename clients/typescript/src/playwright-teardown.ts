// For `globalTeardown` of Playwright's configuration: ends what a worker that was killed left.
import type { FullConfig } from '@playwright/test';

import { Tempinbox } from './client.js';
import { runTag } from './run.js';
import type { Settings } from './settings.js';

/** Ends every inbox with this run's tag. */
export default async function endInboxes(config: FullConfig): Promise<void> {
  const use = config.projects[0]?.use as { tempinboxSettings?: Settings } | undefined;
  await new Tempinbox(use?.tempinboxSettings).deleteInboxesByTag(runTag());
}

// The page of an inbox, as somebody sees it who has just signed up.

import { openBrowser } from './browser.mjs';
import { Outside } from './outside.mjs';
import { makeInbox, signUp } from './person.mjs';
import { suite } from './suite.mjs';

/**
 * Opens the page of a new inbox in a browser of its own, with options of a browser's context.
 * `outside` has what was asked of others; `close` ends it all.
 */
export async function openInboxPage(options = {}) {
  const outside = await Outside.start();
  let browser;
  const close = async () => {
    await browser?.close();
    await outside.stop();
  };
  try {
    browser = await openBrowser(outside, [suite.origin]);
    const page = await (await browser.newContext(options)).newPage();
    page.setDefaultTimeout(15_000);
    await signUp(page);
    const inbox = await makeInbox(page);
    await page.goto(`${suite.dashboard}/inboxes/${inbox.inboxId}`);
    return { outside, browser, page, inbox, close };
  } catch (error) {
    await close();
    throw error;
  }
}

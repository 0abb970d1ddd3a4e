// Writes the mail part of a failed test's report: a summary, each message, and its picture.
import type { Browser, TestInfo } from '@playwright/test';

import type { Email, EmailSummary, Inbox, Tempinbox } from './client.js';
import { quoted } from './errors.js';

export type OpenBrowser = () => Promise<Browser>;

const MAX_EMAILS = 10;
const MAX_MESSAGE_BYTES = 5 << 20;
const MAX_PICTURE_HEIGHT = 4000;
const MAX_INLINE_PICTURES = 10;
const MAX_INLINE_BYTES = 1 << 20;
const PAGE = 'http://mail.invalid/';

/** Attaches the newest emails of the inboxes; what cannot be had is said in the summary. */
export async function attachMail(
  testInfo: TestInfo,
  tempinbox: Tempinbox,
  inboxes: readonly Inbox[],
  waits: readonly string[],
  open: OpenBrowser,
): Promise<void> {
  const lines = waits.flatMap((wait) => [wait, '']);
  const emails: EmailSummary[] = [];
  for (const inbox of inboxes) {
    lines.push(`${inbox.emailAddress}: ${tempinbox.dashboardLink(inbox)}`);
    await noting(lines, 'its list of emails', async () => {
      const found = await tempinbox
        .listInboxEmails(inbox, { include: ['codes'] })
        .toArray(MAX_EMAILS);
      if (found.length === 0) lines.push('  no email came');
      for (const email of found) lines.push(...summary(email));
      emails.push(...found);
    });
    await noting(lines, 'what was refused for it', async () => {
      for (const one of await tempinbox.listRejections(inbox))
        lines.push(`  refused: mail of ${quoted(one.mailFrom)} with ${quoted(one.reply)}`);
    });
  }
  const kept = [...emails.slice(0, MAX_EMAILS).entries()].map(
    ([index, email]) => [`mail-${index + 1}`, email] as const,
  );
  for (const [name, email] of kept)
    await noting(lines, `${name}.eml`, () => attachMessage(testInfo, tempinbox, email, name));
  await testInfo.attach('mail.txt', { body: lines.join('\n'), contentType: 'text/plain' });
  // Last, for a browser takes longest to start, and the time for all of this is bounded.
  const failures: string[] = [];
  const shown = new Pictures(open);
  for (const [name, email] of kept)
    await noting(failures, `${name}.png`, async () => {
      const html = await htmlOf(tempinbox, email.emailId);
      if (html === null) return;
      const body = await shown.of(html);
      await testInfo.attach(`${name}.png`, { body, contentType: 'image/png' });
    });
  await shown.close();
  if (failures.length > 0)
    await testInfo.attach('mail-pictures.txt', {
      body: failures.join('\n'),
      contentType: 'text/plain',
    });
}

/** A failure here must not stand in front of the test's own. */
async function noting(lines: string[], what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    lines.push(
      `  ${what} could not be had: ${error instanceof Error ? error.message : 'no reason'}`,
    );
  }
}

function summary(email: EmailSummary): string[] {
  const codes = (email.codes ?? []).map((code) => code.value).join(', ');
  return [
    `  ${email.sequence}: ${quoted(email.subject)} from ${quoted(email.from)} to ` +
      `${quoted(email.recipients.join(', '))} at ${email.receivedAt}`,
    ...(codes ? [`     codes: ${quoted(codes)}`] : []),
    `     ${quoted(email.preview, 200)}`,
  ];
}

async function attachMessage(
  testInfo: TestInfo,
  tempinbox: Tempinbox,
  email: EmailSummary,
  name: string,
): Promise<void> {
  if (email.sizeBytes > MAX_MESSAGE_BYTES)
    throw new Error(`it has ${email.sizeBytes} bytes, more than ${MAX_MESSAGE_BYTES}`);
  const body = Buffer.from(await tempinbox.getRawEmail(email.emailId));
  await testInfo.attach(`${name}.eml`, { body, contentType: 'message/rfc822' });
}

/** The HTML with its inline pictures in it; null where the mail has none. */
async function htmlOf(tempinbox: Tempinbox, emailId: string): Promise<string | null> {
  const email: Email = await tempinbox.getEmail(emailId);
  if (email.html === null) return null;
  const pictures = new Map<string, string>();
  const inline = email.attachments
    .filter((one) => one.contentId !== null && /^image\/[\w.+-]+$/.test(one.contentType))
    .filter(
      (one) => one.sizeBytes <= MAX_INLINE_BYTES && email.html?.includes(`cid:${one.contentId}`),
    )
    .slice(0, MAX_INLINE_PICTURES);
  for (const { attachmentId, contentId, contentType } of inline) {
    const { content } = await tempinbox.getAttachment(emailId, attachmentId);
    const data = Buffer.from(content).toString('base64');
    pictures.set(`cid:${contentId}`, `data:${contentType};base64,${data}`);
  }
  return email.html.replace(/cid:[^"'\s<>)]+/g, (link) => pictures.get(link) ?? link);
}

/** Shows HTML of strangers: no script runs, and nothing is requested. */
class Pictures {
  readonly #open: OpenBrowser;
  #browser: Browser | undefined;

  constructor(open: OpenBrowser) {
    this.#open = open;
  }

  async of(html: string): Promise<Buffer> {
    this.#browser ??= await this.#open();
    const context = await this.#browser.newContext({
      javaScriptEnabled: false,
      acceptDownloads: false,
      serviceWorkers: 'block',
      viewport: { width: 800, height: 600 },
    });
    try {
      const page = await context.newPage();
      let isShown = false;
      await context.route('**/*', async (route) => {
        if (isShown || route.request().url() !== PAGE) {
          await route.abort();
          return;
        }
        isShown = true;
        await route.fulfill({
          contentType: 'text/html; charset=utf-8',
          headers: {
            'content-security-policy':
              "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox",
          },
          body: html,
        });
      });
      await page.goto(PAGE, { timeout: 10_000 });
      const size = await page.locator('html').boundingBox({ timeout: 5_000 });
      const height = Math.ceil(Math.min(MAX_PICTURE_HEIGHT, Math.max(100, size?.height ?? 600)));
      await page.setViewportSize({ width: 800, height });
      return await page.screenshot({ timeout: 10_000 });
    } finally {
      await context.close();
    }
  }

  async close(): Promise<void> {
    await this.#browser?.close();
  }
}

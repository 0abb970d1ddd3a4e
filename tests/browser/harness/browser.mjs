// Debian's Chromium, with one origin it may reach; everything else goes to a proxy that records and refuses.

import { chromium } from 'playwright-core';

const ARGUMENTS = [
  '--no-sandbox', // as root, in containers
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-extensions',
  '--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication,CertificateTransparencyComponentUpdater',
];

/** A browser with an empty profile. `origins` are reached directly. */
export async function openBrowser(outside, origins) {
  return await chromium.launch({
    executablePath: process.env.TEMPINBOX_BROWSER ?? '/usr/bin/chromium',
    headless: true,
    // The later rule wins: loopback goes to the proxy as well, but for these origins.
    args: [
      ...ARGUMENTS,
      `--proxy-server=${outside.address}`,
      `--proxy-bypass-list=<-loopback>;${origins.map((origin) => new URL(origin).host).join(';')}`,
    ],
  });
}

/** Everything a page did that a test may want to forbid. */
export class Witness {
  requests = [];
  innerRequests = [];
  scripts = [];
  popups = [];
  navigations = [];
  refusals = [];
  #page;
  #listeners = [];
  #opened = (page) => this.popups.push(page);

  constructor(page) {
    this.#page = page;
    this.#on('request', (request) =>
      (request.frame() === page.mainFrame() ? this.requests : this.innerRequests).push(
        request.url(),
      ),
    );
    this.#on('dialog', (dialog) => {
      this.scripts.push(`dialog: ${dialog.message()}`);
      dialog.dismiss().catch(() => {});
    });
    this.#on('console', (message) => this.#onConsole(message.text()));
    this.#on('pageerror', (error) => this.scripts.push(`error: ${error}`));
    this.#on('framenavigated', (frame) => this.navigations.push(frame.url()));
    this.#on('download', (download) => this.navigations.push(`download: ${download.url()}`));
    page.context().on('page', this.#opened);
  }

  #on(name, listener) {
    this.#listeners.push([name, listener]);
    this.#page.on(name, listener);
  }

  #onConsole(text) {
    if (text.trim() === 'HOSTILE') this.scripts.push(`console: ${text}`);
    if (text.includes('Content Security Policy') || text.includes('sandboxed'))
      this.refusals.push(text);
  }

  /**
   * Lists in words the requests beyond `isExpected(url)`; an empty list is good. Frames may show
   * what needs no request, and nothing else.
   */
  found(isExpected) {
    const needsNone = (url) =>
      url === 'about:srcdoc' || url === 'about:blank' || url.startsWith('data:image/');
    const strange = (urls) => [
      ...new Set(urls.filter((url) => !needsNone(url) && !isExpected(url))),
    ];
    return [
      ...strange(this.requests).map((url) => `request ${url}`),
      ...[...new Set(this.innerRequests.filter((url) => !needsNone(url)))].map(
        (url) => `request of a frame ${url}`,
      ),
      ...strange(this.navigations).map((url) => `navigation to ${url}`),
      ...this.scripts.map((what) => `script ran: ${what}`),
      ...this.popups.filter((page) => page !== this.#page).map((page) => `popup ${page.url()}`),
    ];
  }

  stop() {
    for (const [name, listener] of this.#listeners) this.#page.off(name, listener);
    this.#page.context().off('page', this.#opened);
  }
}

/**
 * Lets everything that was under way arrive: what a document starts when it is shown comes before the answers to several round trips that begin after it.
 * `address` is something of the page's own origin that is cheap to ask.
 */
export async function settle(page, address, rounds = 3) {
  await page.evaluate(
    async ([url, count]) => {
      for (let round = 0; round < count; ++round) {
        await (await fetch(url, { cache: 'no-store' })).text();
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      }
    },
    [address, rounds],
  );
}

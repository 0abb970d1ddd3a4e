// A small origin of its own that serves the dashboard's mail-html module, built as the dashboard is, to pages that the tests write.

import { createServer } from 'node:http';
import { fileURLToPath, pathToFileURL } from 'node:url';

const DASHBOARD = fileURLToPath(new URL('../../../web/dashboard/', import.meta.url));

async function builtModule() {
  const { build } = await import(
    pathToFileURL(`${DASHBOARD}node_modules/vite/dist/node/index.js`).href
  );
  const result = await build({
    root: DASHBOARD,
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      lib: { entry: 'src/mail-html/safe-mail-document.ts', formats: ['es'], fileName: 'module' },
    },
  });
  return (Array.isArray(result) ? result[0] : result).output[0].code;
}

/** Serves `/module.js`, `/` (a page that has it as `window.mailHtml`) and what `pages` names; owned by the test file. */
export class ModulePage {
  pages = new Map();
  #server;

  /** `policy` is the Content-Security-Policy of `/`. */
  static async start(policy) {
    const code = await builtModule();
    const page = new ModulePage();
    page.#server = createServer((request, response) => {
      const found = page.#find(request.url, code, policy);
      response.writeHead(found ? 200 : 404, { 'Cache-Control': 'no-store', ...found?.headers });
      response.end(found?.body ?? '');
    });
    await new Promise((resolve) => page.#server.listen(0, '127.0.0.1', resolve));
    return page;
  }

  #find(url, code, policy) {
    if (url === '/module.js')
      return { headers: { 'Content-Type': 'text/javascript' }, body: `${code}` };
    if (url === '/entry.js')
      return {
        headers: { 'Content-Type': 'text/javascript' },
        body: "import * as all from '/module.js'; window.mailHtml = all;",
      };
    if (url === '/still-here') return { headers: { 'Content-Type': 'text/plain' }, body: 'yes' };
    const html = { 'Content-Type': 'text/html; charset=utf-8' };
    const body =
      '<!doctype html><title>Test</title><body><script type=module src=/entry.js></script>';
    if (url === '/') return { headers: { ...html, 'Content-Security-Policy': policy }, body };
    if (url === '/without-policy') return { headers: html, body };
    return this.pages.has(url) ? { headers: html, body: this.pages.get(url) } : null;
  }

  get origin() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  async stop() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

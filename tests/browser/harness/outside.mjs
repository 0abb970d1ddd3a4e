// The world outside the suite, as a browser sees it: a proxy that lets nothing through and records the requests.

import { createServer } from 'node:http';

// Hosts of Chromium's maker that it contacts now and then, whatever its settings; no mail of the
// tests names them.
const BROWSERS_OWN = /^(?:https?:\/\/)?[\w.-]+\.(?:googleapis|google|gvt1|gstatic)\.com[:/]/;

/** Records every request and every connection a browser tries; owned by the test file that started it. */
export class Outside {
  #server = createServer((request, response) => {
    this.#note(request);
    response
      .writeHead(404, { 'Content-Type': 'text/html' })
      .end('<!doctype html><title>Nothing here</title>');
  });
  requests = [];

  /** Listens on a free port of loopback. */
  static async start() {
    const outside = new Outside();
    outside.#server.on('connect', (request, socket) => {
      outside.#note(request);
      socket.on('error', () => {});
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    outside.#server.on('clientError', (_, socket) => socket.destroy());
    await new Promise((resolve) => outside.#server.listen(0, '127.0.0.1', resolve));
    return outside;
  }

  #note(request) {
    if (!BROWSERS_OWN.test(request.url)) this.requests.push(`${request.method} ${request.url}`);
  }

  get address() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** Returns the requests since the last call. */
  take() {
    return this.requests.splice(0);
  }

  async stop() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

// A webhook endpoint on loopback that keeps what it gets.

import { createServer } from 'node:http';

/** Answers 204 to everything; owned by the test file that started it. */
export class Receiver {
  requests = [];
  #server = createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      this.requests.push({
        headers: request.headers,
        body: JSON.parse(Buffer.concat(parts).toString('utf8')),
      });
      response.writeHead(204).end();
    });
  });

  static async start() {
    const receiver = new Receiver();
    await new Promise((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}/hook`;
  }

  async stop() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

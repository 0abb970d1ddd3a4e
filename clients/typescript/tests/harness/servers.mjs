// Servers that do what the real suite cannot do on demand: scripted answers, and cut connections.

import { createServer } from 'node:http';
import net from 'node:net';

async function listening(server) {
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${server.address().port}`;
}

/**
 * A server that answers each request by the next step of the script: a function (request, response),
 * 'cut' for a connection that is cut when the request is there, or what the answer is made of.
 * The last step stays.
 */
export async function scripted(t, script) {
  const requests = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const step = script[Math.min(requests.length, script.length - 1)];
      const { method, url, headers } = request;
      requests.push({
        method,
        url,
        headers,
        body: Buffer.concat(chunks).toString(),
        at: Date.now(),
      });
      if (step === 'cut') request.socket.resetAndDestroy();
      else if (typeof step === 'function') step(request, response);
      else answer(response, step);
    });
  });
  const baseUrl = await listening(server);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl, requests };
}

function answer(response, { status = 200, headers = {}, body = {} }) {
  const known =
    status < 400 || typeof body === 'string'
      ? body
      : { statusCode: status, error: 'Error', ...body };
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof known === 'string' ? known : JSON.stringify(known));
}

/** A forwarder to the suite: `cut()` ends all connections; `edit` sees each path, and may change it. */
export async function forwarder(t, target, edit = (path) => path) {
  const sockets = new Set();
  const { hostname, port } = new URL(target);
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(port), hostname);
    sockets.add(client);
    client.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      const line = /^[A-Z]+ (\S+) HTTP\/1\.1\r\n/.exec(text);
      upstream.write(
        line ? text.replace(line[1], edit(line[1])) : chunk,
        line ? 'latin1' : undefined,
      );
    });
    upstream.on('data', (chunk) => client.write(chunk));
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
    }
    client.on('close', () => sockets.delete(client));
  });
  const baseUrl = await listening(server);
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  t.after(() => {
    cut();
    server.close();
  });
  return { baseUrl, cut };
}

/** An address at which nothing listens. */
export async function vacantUrl() {
  const server = net.createServer();
  const url = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return url;
}

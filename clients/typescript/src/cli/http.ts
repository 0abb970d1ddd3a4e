// HTTP with certificates that the user chooses: Node's `fetch` can be given none. It starts faster,
// too.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';

import type { Fetch } from '../settings.js';
import { UNCONNECTED } from '../transport.js';

const CONNECT_MS = 10_000;

/** A `fetch` that trusts the certificates of the file; without one those that Node.js trusts. */
export function makeFetch(caFile: string | undefined): Fetch {
  const plain = new http.Agent({ keepAlive: true });
  let secure: https.Agent | undefined; // made, and its file read, when it is needed
  return async (url, { method, headers, body, signal }) => {
    const target = new URL(url);
    const isTls = target.protocol === 'https:';
    if (isTls)
      secure ??= new https.Agent({
        keepAlive: true,
        ...(caFile === undefined ? {} : { ca: readFileSync(caFile) }),
      });
    const options = { method, headers: withLength(headers, body), signal };
    const request = isTls
      ? https.request(target, { ...options, agent: secure })
      : http.request(target, { ...options, agent: plain });
    const response = await answerTo(request, body, isTls);
    return {
      status: response.statusCode ?? 0,
      headers: { get: (name) => headerOf(response, name) },
      body: response,
    };
  };
}

function withLength(
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
): Record<string, string> {
  if (body === undefined) return headers;
  return { ...headers, 'content-length': String(Buffer.byteLength(body)) };
}

function headerOf(response: http.IncomingMessage, name: string): string | null {
  const value = response.headers[name.toLowerCase()];
  return (Array.isArray(value) ? value.join(', ') : value) ?? null;
}

async function answerTo(
  request: http.ClientRequest,
  body: string | undefined,
  isTls: boolean,
): Promise<http.IncomingMessage> {
  return await new Promise((resolve, reject) => {
    const giveUp = () => {
      const error = new Error('the connection was not made in time');
      request.destroy(Object.assign(error, { code: UNCONNECTED }));
    };
    const timer = setTimeout(giveUp, CONNECT_MS);
    const stop = () => clearTimeout(timer);
    request.once('socket', (socket: Socket) => {
      if (request.reusedSocket) stop();
      else socket.once(isTls ? 'secureConnect' : 'connect', stop);
    });
    request.once('close', stop);
    request.once('error', reject);
    request.once('response', resolve);
    request.end(body);
  });
}

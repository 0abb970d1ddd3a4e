// A gateway below a path of a host that others share: nginx with TLS
// (deploy/nginx/base-path.conf) in front of a replica beside those of the suite.

import { spawn } from 'node:child_process';
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { eventually, program, ROOT } from './suite.mjs';

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Returns whether a server takes connections on this port of 127.0.0.1. */
function listens(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** Returns whether the HTTP server at the address answers this path with 200. */
async function answers(url) {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

function environmentOf(pid) {
  const pairs = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

/** Shows everything of the gateway below `path` of `origin`; owned by the test file that started it. */
export class SharedHost {
  #folder = mkdtempSync(join(tmpdir(), 'tempinbox-shared-host-'));
  #programs = [];

  static async start(path) {
    const host = new SharedHost();
    try {
      await host.#startGateway(path);
      await host.#startProxy(path);
    } catch (problem) {
      await host.stop();
      throw problem;
    }
    return host;
  }

  async #startGateway(path) {
    const pid = process.env.TEMPINBOX_GATEWAY_1_PID;
    const [listen, admin] = [await freePort(), await freePort()];
    this.gateway = `127.0.0.1:${listen}`;
    this.#run(readlinkSync(`/proc/${pid}/exe`), [], {
      ...environmentOf(pid),
      TEMPINBOX_LISTEN: this.gateway,
      TEMPINBOX_ADMIN_LISTEN: `127.0.0.1:${admin}`,
      TEMPINBOX_BASE_PATH: path,
      TEMPINBOX_TRUSTED_PROXIES: '127.0.0.0/8',
    });
    await eventually(() => answers(`http://127.0.0.1:${admin}/readyz`), 'the gateway is ready', 30);
  }

  async #startProxy(path) {
    const folder = this.#folder;
    const port = await freePort();
    this.origin = `https://127.0.0.1:${port}`;
    this.base = this.origin + path;
    const made = await program(
      'openssl',
      ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=shared.test'.split(
        ' ',
      ),
      ...['-keyout', `${folder}/key.pem`, '-out', `${folder}/certificate.pem`],
    );
    if (made.code !== 0) throw new Error('openssl made no certificate');
    let served = readFileSync(`${ROOT}deploy/nginx/base-path.conf`, 'utf8');
    for (const [shown, real] of [
      ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
      ['location /some/path/ {', `location ${path}/ {`],
      ['http://10.0.0.5:8080;', `http://${this.gateway};`],
    ]) {
      if (!served.includes(shown)) throw new Error(`base-path.conf lacks ${shown}`);
      served = served.replace(shown, () => real);
    }
    writeFileSync(`${folder}/server.conf`, served);
    copyFileSync(`${ROOT}tools/dev/nginx.conf`, `${folder}/nginx.conf`);
    const given = ['-p', folder, '-c', 'nginx.conf', '-e', 'error.log', '-g', 'daemon off;'];
    this.#run('nginx', given);
    await eventually(() => listens(port), 'nginx listens');
  }

  #run(command, given, env = process.env) {
    const started = spawn(command, given, { env, stdio: 'ignore' });
    started.on('error', () => {});
    this.#programs.push(started);
  }

  async stop() {
    for (const it of this.#programs.reverse()) {
      if (it.exitCode !== null || it.pid === undefined) continue;
      const ended = new Promise((resolve) => it.once('exit', resolve));
      it.kill('SIGTERM');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

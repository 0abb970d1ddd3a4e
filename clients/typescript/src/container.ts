// The whole service in one container, started by the tests that use it. Needs testcontainers.
import { AbstractStartedContainer, GenericContainer, Wait } from 'testcontainers';
import type { StartedTestContainer } from 'testcontainers';

import { Tempinbox } from './client.js';
import { version } from './contract.js';
import { TempinboxError } from './errors.js';
import type { Settings } from './settings.js';

const DEFAULT_IMAGE = `localhost/tempinbox/all-in-one:${version}`;
const API_PORT = 8080;
const SMTP_PORT = 2525;
const SUBMISSION_PORT = 1025;
const KEY_FILE = '/var/lib/tempinbox/api-key';
const MAX_START_MILLISECONDS = 120_000;

/**
 * A container with the service, its database and its broker, for tests alone. Docker chooses its
 * name and its ports, so any number of them run side by side. The image is that of
 * `./dev image all-in-one` unless it is given here or in TEMPINBOX_IMAGE.
 */
export class TempinboxContainer extends GenericContainer {
  constructor(image = process.env['TEMPINBOX_IMAGE'] || DEFAULT_IMAGE) {
    super(image);
    this.withExposedPorts(API_PORT, SMTP_PORT, SUBMISSION_PORT)
      .withWaitStrategy(Wait.forLogMessage(/"service":"all-in-one","msg":"ready"/))
      .withStartupTimeout(MAX_START_MILLISECONDS);
  }

  /** Starts it; throws where it ends before it is ready, or is not ready in time. */
  override async start(): Promise<StartedTempinboxContainer> {
    const started = await super.start();
    const { output, exitCode } = await started.exec(['cat', KEY_FILE]);
    if (exitCode === 0) return new StartedTempinboxContainer(started, output.trim());
    await started.stop();
    throw new TempinboxError(`the container has no ${KEY_FILE}: is it the image all-in-one?`);
  }
}

/** A container whose service is ready. */
export class StartedTempinboxContainer extends AbstractStartedContainer {
  constructor(
    started: StartedTestContainer,
    /** A key of the account that the container has, on the plan premium. */
    readonly apiKey: string,
  ) {
    super(started);
  }

  /** The API's address, as it is reached from here. */
  get baseUrl(): string {
    return `http://${this.getHost()}:${this.getMappedPort(API_PORT)}`;
  }

  /** What takes mail without TLS, as it is reached from here. */
  get smtp(): { readonly host: string; readonly port: number } {
    return { host: this.getHost(), port: this.getMappedPort(SMTP_PORT) };
  }

  /**
   * What takes mail to anybody with the user and password of a capture, without TLS, as it is
   * reached from here. `capture.host` and its ports are the container's own.
   */
  get submission(): { readonly host: string; readonly port: number } {
    return { host: this.getHost(), port: this.getMappedPort(SUBMISSION_PORT) };
  }

  /** Makes a client of the service, with settings beside its address and key. */
  client(settings: Omit<Settings, 'baseUrl' | 'apiKey'> = {}): Tempinbox {
    return new Tempinbox({ ...settings, baseUrl: this.baseUrl, apiKey: this.apiKey });
  }
}

// What container.ts takes of testcontainers, so that the package is built without it and the two
// hundred packages that it brings. Users compile with its own types, as tests/containers does.
declare module 'testcontainers' {
  export interface StartedTestContainer {
    stop(): Promise<unknown>;
    exec(command: string[]): Promise<{ output: string; exitCode: number }>;
  }

  export class GenericContainer {
    constructor(image: string);
    start(): Promise<StartedTestContainer>;
    withExposedPorts(...ports: number[]): this;
    withWaitStrategy(strategy: WaitStrategy): this;
    withStartupTimeout(milliseconds: number): this;
  }

  export class AbstractStartedContainer implements StartedTestContainer {
    constructor(started: StartedTestContainer);
    stop(): Promise<unknown>;
    exec(command: string[]): Promise<{ output: string; exitCode: number }>;
    getHost(): string;
    getMappedPort(port: number): number;
  }

  export interface WaitStrategy {
    readonly waitUntilReady: unknown;
  }

  export const Wait: { forLogMessage(message: RegExp): WaitStrategy };
}

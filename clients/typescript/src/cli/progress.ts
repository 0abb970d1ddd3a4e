// How long a wait has taken, on a terminal only.
import { canRewriteLines, type Platform } from './platform.js';

// ECMA-48: to the line's start, and erase to its end.
const CLEAR_LINE = '\r\u001b[K';

/** Shows the label and the seconds until it is ended. */
export class Progress {
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(platform: Platform, label: string, timeoutSeconds?: number) {
    if (!canRewriteLines(platform, process.stderr.isTTY)) return;
    const began = performance.now();
    const end = timeoutSeconds === undefined ? '' : ` of ${timeoutSeconds} s`;
    const show = () => {
      const seconds = Math.floor((performance.now() - began) / 1000);
      process.stderr.write(`${CLEAR_LINE}${label} ${seconds} s${end}`);
    };
    show();
    this.#timer = setInterval(show, 1000);
  }

  /** Clears the line for another one; the next second shows it again. */
  hide(): void {
    if (this.#timer) process.stderr.write(CLEAR_LINE);
  }

  end(): void {
    this.hide();
    clearInterval(this.#timer);
  }
}

/** Shows the progress while the work goes on. */
export async function withProgress<Result>(
  progress: Progress,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } finally {
    progress.end();
  }
}

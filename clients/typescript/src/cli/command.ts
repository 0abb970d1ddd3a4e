// Commands as data: help, parser and completion are made of them.
import { parseDuration, toText } from './duration.js';
import { badUsage, type ExitCode } from './failure.js';
import { countCharacters, quote } from './printable.js';
import type { Session } from './session.js';

/** An option of a command or of all. */
export interface Option {
  readonly name: string; // without the dashes
  readonly value?: string; // as in help: N; a flag has none
  readonly meaning: string;
  readonly isRepeated?: boolean;
  readonly choices?: readonly string[]; // the only values, where there are any
  readonly isFile?: boolean; // completed as file names
  readonly isRequired?: boolean;
}

/** The words of a command that are no options. */
export interface Positional {
  readonly name: string; // as in help: INBOX
  readonly meaning: string;
  readonly min: number;
  readonly max: number;
  readonly choices?: readonly string[];
}

/** What a command prints at its end, in either form. */
export interface CommandOutput {
  readonly text?: string | Uint8Array;
  readonly json?: unknown;
  readonly code?: ExitCode;
  readonly complaint?: string; // to standard error
}

export interface Command {
  readonly name: string;
  readonly purpose: string;
  readonly takes?: Positional;
  readonly options: readonly Option[];
  readonly run: (session: Session, given: Arguments) => Promise<CommandOutput>;
}

/** For positions in an inbox: `after` of a wait. */
export const MAX_SEQUENCE = Number.MAX_SAFE_INTEGER;
export const INBOX_MEANING = 'An inbox: its id or its address';

/**
 * What the command line gave. What reads a value throws a CommandFailure that names the option,
 * what was given and what is allowed.
 */
export class Arguments {
  readonly words: string[] = [];
  readonly options = new Map<string, string[]>();

  has(name: string): boolean {
    return this.options.has(name);
  }

  value(name: string): string | undefined {
    return this.options.get(name)?.[0];
  }

  values(name: string): readonly string[] {
    return this.options.get(name) ?? [];
  }

  /** A text of so many characters, which are code points. */
  text(name: string, min: number, max: number): string | undefined {
    const given = this.value(name);
    if (given === undefined) return undefined;
    const characters = countCharacters(given);
    if (characters < min || characters > max)
      throw refusal(name, `${min} to ${max} characters long`, given);
    return given;
  }

  integer(name: string, min: number, max: number): number | undefined {
    const given = this.value(name);
    if (given === undefined) return undefined;
    const number = /^-?\d{1,16}$/.test(given) ? Number(given) : NaN;
    if (!Number.isSafeInteger(number) || number < min || number > max)
      throw refusal(name, `an integer from ${min} to ${max}`, given);
    return number;
  }

  /** Seconds. */
  duration(name: string, min: number, max: number): number | undefined {
    const given = this.value(name);
    if (given === undefined) return undefined;
    const seconds = parseDuration(given);
    if (seconds === undefined || seconds < min || seconds > max)
      throw refusal(
        name,
        `a time from ${toText(min)} to ${toText(max)} such as 90s, 15m, 2h or 7d`,
        given,
      );
    return seconds;
  }
}

function refusal(name: string, allowed: string, given: string) {
  return badUsage(`--${name} must be ${allowed}, not ${quote(given)}`);
}

/** The options of every command. */
export const commonOptions: readonly Option[] = [
  {
    name: 'base-url',
    value: 'URL',
    meaning: 'The service, such as https://mail.example.com; or TEMPINBOX_BASE_URL',
  },
  {
    name: 'key-file',
    value: 'FILE',
    meaning: 'Holds the API key, for nobody but you (0600); or TEMPINBOX_API_KEY',
    isFile: true,
  },
  {
    name: 'ca-file',
    value: 'FILE',
    meaning: "Certificates to trust (PEM) in place of the system's",
    isFile: true,
  },
  { name: 'json', meaning: 'Prints JSON, as the API has it' },
];

/** The longest single request; less where a proxy ends long ones. */
export const holdOption: Option = {
  name: 'hold',
  value: 'SECONDS',
  meaning: 'The longest single request, 1 to 60 (default 55): less where a proxy ends long ones',
};

/** Refuses a position that is neither a sequence nor `latest`. */
export function checkAfter(given: Arguments): void {
  if (given.value('after') !== 'latest') given.integer('after', 0, MAX_SEQUENCE);
}

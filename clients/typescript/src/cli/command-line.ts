// The command line: parsed, and explained by its help.
import { Arguments, commonOptions, type Command, type Option } from './command.js';
import { quote } from './printable.js';

export interface ParsedLine {
  command: Command | undefined;
  readonly given: Arguments;
  wantsHelp: boolean;
  wantsVersion: boolean;
  readonly problems: string[];
}

const FOOTER = '`tempinbox --help` lists settings and exit codes.';
const HELP: Option = { name: 'help', meaning: 'Prints this, and exits' };
const VERSION: Option = { name: 'version', meaning: 'Prints the version, and exits' };
const COLUMN = 28; // where the meanings begin

const SETTINGS_HELP = `Settings
  TEMPINBOX_BASE_URL  the service, such as https://mail.example.com; or --base-url URL
  TEMPINBOX_API_KEY   the API key; or --key-file FILE, which only its owner may read (0600).
                      Without either: the file KEY_FILE
  --ca-file FILE      certificates to trust (PEM) in place of the system's
  --json              prints JSON, as the API has it; every command takes it

Exit codes
  0  done
  1  not in time: no email matched (with --none: one came); of listen: events are gone
  2  the command line, a setting or a value is wrong
  3  the API key or the plan is refused
  4  no such inbox or email
  5  a limit: requests of the day or the second, inboxes or logins of the plan
  6  the service cannot be reached, or failed
  7  this machine failed, or the target of listen
  8  conflict: the address is taken
`;

/** Parses the words behind the program's name; what is wrong with them is named. */
export function parse(words: readonly string[], commands: readonly Command[]): ParsedLine {
  const line: ParsedLine = {
    command: undefined,
    given: new Arguments(),
    wantsHelp: false,
    wantsVersion: false,
    problems: [],
  };
  const asksForHelp = words[0] === 'help';
  takeWords(line, asksForHelp ? words.slice(1) : words, commands);
  line.wantsHelp ||= asksForHelp || words.length === 0;
  if (line.wantsHelp || line.wantsVersion) return line;
  checkOptions(line);
  if (line.command === undefined) {
    line.problems.push(`the commands are ${commands.map(({ name }) => name).join(', ')}`);
    return line;
  }
  if (line.problems.length === 0) checkWords(line, line.command);
  for (const { name, meaning, isRequired } of line.command.options)
    if (isRequired && !line.given.has(name) && line.problems.length === 0)
      line.problems.push(`--${name} is missing: ${meaning}`);
  return line;
}

function takeWords(line: ParsedLine, words: readonly string[], commands: readonly Command[]): void {
  let areOptionsOver = false;
  for (let at = 0; at < words.length; ++at) {
    const word = words[at] ?? '';
    if (!areOptionsOver && word === '--') {
      areOptionsOver = true;
    } else if (!areOptionsOver && word.startsWith('-') && word.length > 1) {
      const next = words[at + 1];
      const taken = takeOption(line, word, next);
      if (taken === 0 || line.wantsHelp || line.wantsVersion) return;
      at += taken - 1;
    } else if (line.command === undefined) {
      line.command = commands.find(({ name }) => name === word);
      if (line.command === undefined) {
        line.problems.push(`there is no command ${quote(word)}`);
        return;
      }
    } else {
      line.given.words.push(word);
    }
  }
}

/** How many words the option took; 0 where it is wrong, and what follows cannot be told. */
function takeOption(line: ParsedLine, word: string, next: string | undefined): number {
  const equals = word.indexOf('=');
  const spelled = equals < 0 ? word : word.slice(0, equals);
  const known = knownOption(line, spelled);
  if (known === undefined) {
    line.problems.push(`there is no option ${quote(spelled)}`);
    return 0;
  }
  const isFlag = known.value === undefined;
  if (isFlag && equals >= 0) {
    line.problems.push(`${spelled} takes no value`);
    return 0;
  }
  if (known === HELP) line.wantsHelp = true;
  if (known === VERSION) line.wantsVersion = true;
  const hasNext = next !== undefined && knownOption(line, next) === undefined;
  if (!isFlag && equals < 0 && !hasNext) {
    line.problems.push(`${spelled} needs a value`);
    return 0;
  }
  let value = '';
  if (!isFlag) value = equals < 0 ? (next ?? '') : word.slice(equals + 1);
  line.given.options.set(known.name, [...line.given.values(known.name), value]);
  return isFlag || equals >= 0 ? 1 : 2;
}

function knownOption({ command }: ParsedLine, spelled: string): Option | undefined {
  if (spelled === '-h') return HELP;
  if (!spelled.startsWith('--')) return undefined;
  const known = command ? [...command.options, ...commonOptions] : [...commonOptions, VERSION];
  return [...known, HELP].find(({ name }) => `--${name}` === spelled);
}

function checkOptions({ command, given, problems }: ParsedLine): void {
  for (const known of [...commonOptions, ...(command?.options ?? [])]) {
    const values = given.values(known.name);
    for (const value of values) checkChoice(problems, `--${known.name}`, value, known.choices);
    if (known.value !== undefined && !known.isRepeated && values.length > 1)
      problems.push(`--${known.name} is given twice`);
  }
}

function checkWords({ given: { words }, problems }: ParsedLine, { takes }: Command): void {
  if (takes && words.length < takes.min)
    problems.push(`${takes.name} is missing: ${takes.meaning}`);
  for (const word of words.splice(takes?.max ?? 0))
    problems.push(`unexpected argument ${quote(word)}`);
  if (takes) for (const word of words) checkChoice(problems, takes.name, word, takes.choices);
}

function checkChoice(
  problems: string[],
  what: string,
  given: string,
  choices: readonly string[] | undefined,
): void {
  if (choices !== undefined && !choices.includes(given))
    problems.push(`${what} must be one of ${choices.join(', ')}, not ${quote(given)}`);
}

/** The help of one command. */
export function helpOf({ name, purpose, takes, options }: Command): string {
  const lines = [purpose];
  const dots = takes && takes.max > 1 ? '...' : '';
  const word = takes && (takes.min > 0 ? takes.name + dots : `[${takes.name}]${dots}`);
  lines.push(`Usage: tempinbox ${name} [OPTIONS]${word === undefined ? '' : ` ${word}`}`, '');
  if (takes) lines.push('Positionals:', explained(`${takes.name}${dots}`, takes.meaning), '');
  lines.push('Options:', explained('-h,--help', HELP.meaning));
  for (const option of [...options, ...commonOptions])
    lines.push(explained(spelling(option), option.meaning));
  return `${lines.join('\n')}\n\n${FOOTER}\n`;
}

function spelling({ name, value, isRepeated, isRequired }: Option): string {
  if (value === undefined) return `--${name}`;
  return `--${name} ${value}${isRepeated ? '...' : ''}${isRequired ? ' REQUIRED' : ''}`;
}

function explained(name: string, meaning: string): string {
  return `  ${name.padEnd(COLUMN - 2)}${name.length > COLUMN - 3 ? '  ' : ''}${meaning}`;
}

/** The help of the program. */
export function overview(commands: readonly Command[], keyFile: string | undefined): string {
  const list = commands.map(({ name, purpose }) => `  ${name.padEnd(12)}${purpose}\n`).join('');
  return (
    'Inboxes for tests, demos and sign-ups, from the command line.\n\n' +
    `Usage: tempinbox COMMAND [OPTIONS]\n\nCommands (each has --help)\n${list}\n` +
    SETTINGS_HELP.replace('KEY_FILE', () => keyFile ?? '(none: there is no home folder)')
  );
}

// One run of `tempinbox`, from its words to its exit code.
import { version } from '../contract.js';
import { captureCommand } from './capture-commands.js';
import type { Arguments, Command, CommandOutput } from './command.js';
import { helpOf, overview, parse } from './command-line.js';
import { completionCommand } from './completion.js';
import { codeCommand, linkCommand, readCommand, waitCommand } from './email-commands.js';
import { exitCodes, explain, type ExitCode } from './failure.js';
import { createCommand, listCommand, openCommand, removeCommand } from './inbox-commands.js';
import { listenCommand } from './listen.js';
import { currentPlatform, keyFile } from './platform.js';
import { Session } from './session.js';

const usersCommands: readonly Command[] = [
  createCommand,
  listCommand,
  removeCommand,
  openCommand,
  captureCommand,
  waitCommand,
  codeCommand,
  linkCommand,
  readCommand,
  listenCommand,
];

export const commands: readonly Command[] = [...usersCommands, completionCommand(usersCommands)];

/** Runs the words behind the program's name; the exit code is the result. */
export async function run(words: readonly string[]): Promise<ExitCode> {
  // Errors of writing are those of the write; without this they would end the process.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  const { command, given, wantsHelp, wantsVersion, problems } = parse(words, commands);
  if (wantsVersion) return await print(`tempinbox ${version}\n`);
  if (wantsHelp && problems.length === 0)
    return await print(command ? helpOf(command) : overview(commands, keyFile(currentPlatform())));
  if (problems.length > 0 || command === undefined) {
    for (const problem of problems) complain(problem);
    process.stderr.write(`See tempinbox ${command ? `${command.name} ` : ''}--help\n`);
    return exitCodes.badUsage;
  }
  return await execute(command, given);
}

async function execute(command: Command, given: Arguments): Promise<ExitCode> {
  const session = new Session(given, currentPlatform());
  let output: CommandOutput;
  try {
    output = await command.run(session, given);
  } catch (error) {
    const { message, code } = explain(error, session.origin);
    complain(message);
    return code;
  }
  const json = output.json === undefined ? '' : `${JSON.stringify(output.json)}\n`;
  const printed = await print(session.isJson ? json : (output.text ?? ''));
  if (printed !== exitCodes.done) return printed;
  if (output.complaint !== undefined) complain(output.complaint);
  return output.code ?? exitCodes.done;
}

async function print(content: string | Uint8Array): Promise<ExitCode> {
  if (content.length === 0) return exitCodes.done;
  const isWritten = await new Promise<boolean>((resolve) => {
    process.stdout.write(content, (error) => resolve(error == null));
  });
  if (isWritten) return exitCodes.done;
  complain('standard output cannot be written');
  return exitCodes.localFailure;
}

function complain(message: string): void {
  process.stderr.write(`tempinbox: ${message}\n`);
}

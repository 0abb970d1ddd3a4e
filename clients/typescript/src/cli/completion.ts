// Completion scripts of shells, made of the commands.
import {
  commonOptions,
  type Arguments,
  type Command,
  type CommandOutput,
  type Option,
} from './command.js';
import type { Session } from './session.js';

const SHELLS = ['bash', 'zsh', 'fish'];
const HELP: Option = { name: 'help', meaning: 'Prints this' };

/** The command that prints the completion of these commands and of itself. */
export function completionCommand(others: readonly Command[]): Command {
  const command: Command = {
    name: 'completion',
    purpose: 'Prints the completion of a shell',
    takes: { name: 'SHELL', meaning: 'bash, zsh or fish', min: 1, max: 1, choices: SHELLS },
    options: [],
    run: (_: Session, { words: [shell = ''] }: Arguments): Promise<CommandOutput> => {
      const script = completionScript(shell, [...others, command]);
      return Promise.resolve({ text: script, json: { shell, script } });
    },
  };
  return command;
}

export function completionScript(shell: string, commands: readonly Command[]): string {
  if (shell === 'bash') return bashScript(commands);
  return shell === 'zsh' ? zshScript(commands) : fishScript(commands);
}

function optionsOf({ options }: Command): readonly Option[] {
  return [...options, ...commonOptions, HELP];
}

/**
 * Inside single quotes of any of the shells; meanings have none of these letters but for an
 * apostrophe.
 */
function insideQuotes(text: string, special: RegExp): string {
  return text.replaceAll("'", '’').replace(special, '\\$&');
}

function bashScript(commands: readonly Command[]): string {
  const valueCase = ({ name, choices = [], isFile }: Option) => {
    const offer = isFile ? 'compgen -f -- "$word"' : `compgen -W '${choices.join(' ')}' -- "$word"`;
    return `            --${name}) mapfile -t COMPREPLY < <(${offer}); return ;;\n`;
  };
  const values = commands.map((command) => {
    const cases = optionsOf(command).filter(({ value }) => value !== undefined);
    return `        ${command.name}) case $before in\n${cases.map(valueCase).join('')}            esac ;;\n`;
  });
  const words = commands.map((command) => {
    const names = optionsOf(command).map(({ name }) => `--${name}`);
    const choices = command.takes?.choices ?? [];
    return `        ${command.name}) options='${names.join(' ')}'; words='${choices.join(' ')}' ;;\n`;
  });
  const names = commands.map(({ name }) => name).join(' ');
  return `# bash completion of tempinbox
_tempinbox() {
    local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command= options= words= i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case \${COMP_WORDS[i]} in
        --base-url|--key-file|--ca-file) ((i++)) ;;
        -*) ;;
        *) command=\${COMP_WORDS[i]}; break ;;
        esac
    done
    if [[ -z $command ]]; then
        mapfile -t COMPREPLY < <(compgen -W '${names} --help --version' -- "$word")
        return
    fi
    case $command in
${values.join('')}    esac
    case $command in
${words.join('')}    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    fi
}
complete -F _tempinbox tempinbox
`;
}

function zshOption({ name, value, meaning, choices, isFile, isRepeated }: Option): string {
  const explained = `--${name}[${insideQuotes(meaning, /[[\]:\\]/g)}]`;
  let values = '';
  if (isFile) values = '_files';
  else if (choices) values = `(${choices.join(' ')})`;
  return `'${isRepeated ? '*' : ''}${explained}${value === undefined ? '' : `:${value}:${values}`}'`;
}

function zshScript(commands: readonly Command[]): string {
  const names = commands.map(
    ({ name, purpose }) => `        '${insideQuotes(`${name}:${purpose}`, /(?!)/g)}'\n`,
  );
  const cases = commands.map((command) => {
    const specs = optionsOf(command).map(zshOption);
    const { takes } = command;
    if (takes) {
      const choices = takes.choices ? `(${takes.choices.join(' ')})` : '';
      specs.push(`'*:${takes.name}:${choices}'`);
    }
    const lines = specs.map((spec) => ` \\\n                ${spec}`).join('');
    return `        ${command.name})\n            _arguments -s${lines}\n            ;;\n`;
  });
  return `#compdef tempinbox
# zsh completion of tempinbox
_tempinbox() {
    local curcontext=$curcontext state line
    local -a commands
    commands=(
${names.join('')}    )
    _arguments -C '--help[Prints this]' '--version[Prints the version]' '1:command:->command' '*::argument:->argument'
    case $state in
    command) _describe -t commands command commands ;;
    argument)
        case $words[1] in
${cases.join('')}        esac ;;
    esac
}
if [[ $funcstack[1] == _tempinbox ]]; then
    _tempinbox "$@"
else
    compdef _tempinbox tempinbox
fi
`;
}

function fishScript(commands: readonly Command[]): string {
  const meaningOf = (text: string) => `'${insideQuotes(text, /\\/g)}'`;
  const lines = ['# fish completion of tempinbox', 'complete -c tempinbox -f'];
  for (const { name, purpose } of commands)
    lines.push(
      `complete -c tempinbox -n __fish_use_subcommand -a ${name} -d ${meaningOf(purpose)}`,
    );
  for (const command of commands) {
    const begin = `complete -c tempinbox -n '__fish_seen_subcommand_from ${command.name}'`;
    for (const { name, value, meaning, choices, isFile } of optionsOf(command)) {
      const argument = isFile ? ' -rF' : ' -x';
      const offered = choices ? ` -a '${choices.join(' ')}'` : '';
      lines.push(
        `${begin} -l ${name}${value === undefined ? '' : argument}${offered} -d ${meaningOf(meaning)}`,
      );
    }
    if (command.takes?.choices) lines.push(`${begin} -a '${command.takes.choices.join(' ')}'`);
  }
  return `${lines.join('\n')}\n`;
}

// What differs between Linux, macOS and Windows: folders, who may read a file, processes, browsers,
// consoles.
// Every function says it for the system it is given, so that each can be tested on any.
import path from 'node:path';

export type Variables = (name: string) => string | undefined;

/** A system: `process.platform` and the environment, of which empty variables count as absent. */
export interface Platform {
  readonly name: NodeJS.Platform;
  readonly variables: Variables;
}

/** The platform that this process runs on. */
export function currentPlatform(): Platform {
  return { name: process.platform, variables: (name) => process.env[name] || undefined };
}

function pathsOf({ name }: Platform): path.PlatformPath {
  return name === 'win32' ? path.win32 : path.posix;
}

function userFolder(
  platform: Platform,
  variable: string,
  homeVariable: string,
  belowHome: readonly string[],
): string | undefined {
  const paths = pathsOf(platform);
  const folder = platform.variables(variable);
  // XDG Base Directory Specification: a path that is not absolute is ignored.
  if (folder !== undefined && paths.isAbsolute(folder)) return paths.join(folder, 'tempinbox');
  const home = platform.variables(homeVariable);
  if (home === undefined || !paths.isAbsolute(home)) return undefined;
  return paths.join(home, ...belowHome, 'tempinbox');
}

/**
 * Settings of the user: `$XDG_CONFIG_HOME/tempinbox` or `~/.config/tempinbox`; on Windows
 * `%APPDATA%\tempinbox`. Absent without a home.
 */
export function configFolder(platform: Platform): string | undefined {
  return platform.name === 'win32'
    ? userFolder(platform, 'APPDATA', 'USERPROFILE', ['AppData', 'Roaming'])
    : userFolder(platform, 'XDG_CONFIG_HOME', 'HOME', ['.config']);
}

/** State of programs: `$XDG_STATE_HOME`, `~/.local/state`; on Windows `%LOCALAPPDATA%`. */
export function stateFolder(platform: Platform): string | undefined {
  return platform.name === 'win32'
    ? userFolder(platform, 'LOCALAPPDATA', 'USERPROFILE', ['AppData', 'Local'])
    : userFolder(platform, 'XDG_STATE_HOME', 'HOME', ['.local', 'state']);
}

/** The file of the API key where no option names another. */
export function keyFile(platform: Platform): string | undefined {
  const folder = configFolder(platform);
  return folder === undefined ? undefined : pathsOf(platform).join(folder, 'key');
}

/** The file in which `listen` keeps the position of that name. */
export function positionFile(platform: Platform, name: string): string | undefined {
  const folder = stateFolder(platform);
  return folder === undefined ? undefined : pathsOf(platform).join(folder, 'listen', name);
}

/**
 * Whether others than its owner can read a file with this mode. Windows has lists of who may do
 * what in place of modes; those of a user's folder name nobody else.
 */
export function canOthersRead(platform: Platform, mode: number): boolean {
  return platform.name !== 'win32' && (mode & 0o077) !== 0;
}

/** What to type so that nobody but its owner reads the file. */
export function protectionAdvice(platform: Platform, file: string): string {
  return platform.name === 'win32'
    ? `icacls "${file}" /inheritance:r /grant:r "%USERNAME%:R"`
    : `chmod 600 ${shellQuote(file)}`;
}

/** In single quotes, as a shell takes it. */
function shellQuote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * A process's number and when it began, by the files of Linux that `readText` reads. macOS and
 * Windows have no such files: there it is the number alone, which a later process may have.
 */
export function describeProcess(
  { name }: Platform,
  pid: number,
  readText: (file: string) => string | undefined,
): string {
  if (name === 'darwin' || name === 'win32') return `${pid}  \n`;
  const boot = readText('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  const stat = readText(`/proc/${pid}/stat`) ?? '';
  // proc(5): what is behind the name in parentheses begins with field 3, the state, of which Z is a
  // process that has ended; the start is field 22.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return `${pid} ${boot} ${fields[0] === 'Z' ? 'ended' : (fields[19] ?? '')}\n`;
}

/** Where distributions keep the certificates that the system trusts. */
export function systemCertificateFiles(platform: Platform): readonly string[] {
  const chosen = platform.variables('SSL_CERT_FILE');
  if (chosen !== undefined) return [chosen];
  if (platform.name === 'win32') return []; // kept by the system; Node.js has a list of its own
  return [
    '/etc/ssl/certs/ca-certificates.crt', // Debian, Ubuntu, Arch
    '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem', // Fedora, RHEL
    '/etc/ssl/ca-bundle.pem', // openSUSE
    '/etc/ssl/cert.pem', // Alpine, macOS
  ];
}

/**
 * The programs that may open an address in the browser, with their arguments. None is a shell, so
 * that nothing in the address is a command.
 */
export function browserCommands(
  platform: Platform,
  url: string,
): readonly (readonly [string, readonly string[]])[] {
  if (platform.name === 'win32') return [['rundll32.exe', ['url.dll,FileProtocolHandler', url]]];
  if (platform.name === 'darwin') return [['open', [url]]];
  return [
    ['xdg-open', [url]],
    ['open', [url]],
  ];
}

/** Whether a line of this terminal can be written over. Windows' consoles name no kind. */
export function canRewriteLines(platform: Platform, isTerminal: boolean): boolean {
  const kind = platform.variables('TERM');
  if (!isTerminal || kind === 'dumb') return false;
  return kind !== undefined || platform.name === 'win32';
}

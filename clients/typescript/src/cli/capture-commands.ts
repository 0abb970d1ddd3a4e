// Logins of inboxes, as the lines of an environment that applications read.
import {
  INBOX_MEANING,
  type Arguments,
  type Command,
  type CommandOutput,
  type Option,
} from './command.js';
import { badUsage, CommandFailure, exitCodes } from './failure.js';
import { fieldsOf, itemsOf, textOf } from './fields.js';
import { printableLine } from './printable.js';
import type { Session } from './session.js';

const MAX_GRACE_SECONDS = 86_400;
// Needs no quotes in a shell, an `.env` or a compose file.
const PLAIN = /^[\w.:/@-]+$/;

/** How TLS begins at a port: by STARTTLS, with the first byte, or never; most libraries use the
 * first by themselves. */
const protections = ['starttls', 'tls', 'clear'] as const;
type Protection = (typeof protections)[number];

/** A login with its password, and the port to send to. */
interface Login {
  readonly host: string;
  readonly port: number;
  readonly protection: Protection;
  readonly user: string;
  readonly password: string;
  readonly url: string;
}

type Variables = readonly (readonly [name: string, value: string])[];

const schemeOf = (protection: Protection) => (protection === 'tls' ? 'smtps' : 'smtp');

/** The variable that says how TLS begins; none where it never does. */
function variableFor(
  protection: Protection,
  names: Record<'starttls' | 'tls', string>,
  value: string,
): Variables {
  return protection === 'clear' ? [] : [[names[protection], value]];
}

/** The variables of each `--env`; those of the frameworks are their own. */
const environments: Readonly<Record<string, (login: Login) => Variables>> = {
  smtp: ({ host, port, user, password, url }) => [
    ['SMTP_HOST', host],
    ['SMTP_PORT', `${port}`],
    ['SMTP_USER', user],
    ['SMTP_PASSWORD', password],
    ['SMTP_URL', url],
  ],
  laravel: ({ host, port, protection, user, password }) => [
    ['MAIL_MAILER', 'smtp'],
    ['MAIL_SCHEME', schemeOf(protection)],
    ['MAIL_HOST', host],
    ['MAIL_PORT', `${port}`],
    ['MAIL_USERNAME', user],
    ['MAIL_PASSWORD', password],
  ],
  symfony: ({ host, port, protection, user, password }) => [
    ['MAILER_DSN', `${schemeOf(protection)}://${user}:${password}@${host}:${port}`],
  ],
  django: ({ host, port, protection, user, password }) => [
    ['EMAIL_HOST', host],
    ['EMAIL_PORT', `${port}`],
    ['EMAIL_HOST_USER', user],
    ['EMAIL_HOST_PASSWORD', password],
    ...variableFor(protection, { starttls: 'EMAIL_USE_TLS', tls: 'EMAIL_USE_SSL' }, 'True'),
  ],
  spring: ({ host, port, protection, user, password }) => [
    ['SPRING_MAIL_HOST', host],
    ['SPRING_MAIL_PORT', `${port}`],
    ['SPRING_MAIL_USERNAME', user],
    ['SPRING_MAIL_PASSWORD', password],
    ['SPRING_MAIL_PROPERTIES_MAIL_SMTP_AUTH', 'true'],
    ...variableFor(
      protection,
      {
        starttls: 'SPRING_MAIL_PROPERTIES_MAIL_SMTP_STARTTLS_REQUIRED',
        tls: 'SPRING_MAIL_PROPERTIES_MAIL_SMTP_SSL_ENABLE',
      },
      'true',
    ),
  ],
};

/** Whose variables a login is printed as. */
export const environmentOption: Option = {
  name: 'env',
  value: 'NAMES',
  meaning: `Variables of: ${Object.keys(environments).join(', ')} (default smtp)`,
  choices: Object.keys(environments),
};

function unusable(why: string): CommandFailure {
  return new CommandFailure(exitCodes.unreachable, `the service's login cannot be used: ${why}`);
}

function readLogin(capture: unknown): Login {
  const ports = fieldsOf(capture)['ports'];
  const protection = protections.find((it) => itemsOf(ports, it).length > 0);
  const port = protection && itemsOf(ports, protection)[0];
  if (!protection || !Number.isSafeInteger(port)) throw unusable('it names no port');
  const texts = ['host', 'user', 'password', 'url'].map((name) => {
    const text = textOf(capture, name);
    if (!PLAIN.test(text)) throw unusable(`its ${name} is missing, or is none to paste`);
    return text;
  });
  const [host = '', user = '', password = '', url = ''] = texts;
  return { host, port: port as number, protection, user, password, url };
}

/** The lines of a new login, to paste into a shell or an `.env`; a comment says whose it is. */
export function loginText(capture: unknown, inbox: string, given: Arguments): string {
  const toVariables = environments[given.value('env') ?? 'smtp'];
  const variables = toVariables?.(readLogin(capture)) ?? [];
  const lines = variables.map(([name, value]) => `${name}=${value}\n`);
  return `# ${printableLine(inbox)}; the password is shown this once\n${lines.join('')}`;
}

/** The lines of an inbox that was made with a login. */
export function newInboxText(inbox: unknown, given: Arguments): string {
  const [id, address, end] = ['inboxId', 'emailAddress', 'expiresAt'].map((name) =>
    textOf(inbox, name),
  );
  const whose = `Inbox ${id}, ${address}, until ${end}`;
  return loginText(fieldsOf(inbox)['capture'], whose, given);
}

async function capture(session: Session, given: Arguments): Promise<CommandOutput> {
  const { client } = session;
  const [word] = given.words;
  const graceSeconds = given.duration('grace', 0, MAX_GRACE_SECONDS);
  if (given.has('rotate') && given.has('end')) throw badUsage('give --rotate or --end, not both');
  if (graceSeconds !== undefined && !given.has('rotate')) throw badUsage('--grace is for --rotate');
  if (given.has('end') && given.has('env'))
    throw badUsage('--env is for a login that is made or rotated, not for --end');

  if (word === undefined) {
    if (given.has('rotate') || given.has('end')) throw badUsage('INBOX is missing: whose login');
    const inbox = await client.createInbox({ capture: true });
    return { text: newInboxText(inbox, given), json: inbox };
  }
  const inboxId = await session.findInbox(word);
  if (given.has('end')) {
    const json = await client.endCapture(inboxId);
    return { text: `ended the login of inbox ${inboxId}\n`, json };
  }
  const login = given.has('rotate')
    ? await client.rotateCapture(inboxId, graceSeconds === undefined ? {} : { graceSeconds })
    : await client.createCapture(inboxId);
  return { text: loginText(login, `Inbox ${inboxId}`, given), json: login };
}

export const captureCommand: Command = {
  name: 'capture',
  purpose: 'Gives an inbox an SMTP user and password, changes or ends them',
  takes: { name: 'INBOX', meaning: `${INBOX_MEANING} (default: a new one)`, min: 0, max: 1 },
  options: [
    environmentOption,
    { name: 'rotate', meaning: 'A new password for the login that the inbox has' },
    {
      name: 'grace',
      value: 'TIME',
      meaning: 'How long the password before stays good, up to 1d (default: not at all)',
    },
    { name: 'end', meaning: 'Ends the login; the inbox and its mail stay' },
  ],
  run: capture,
};

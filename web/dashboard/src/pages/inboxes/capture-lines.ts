// What a framework's configuration needs to send with a login.
import type { Capture } from '../../api';

// Stands in for a password, which is shown once.
export const HIDDEN_PASSWORD = '<password>';

// How TLS begins at a port: by STARTTLS, with the first byte, or never.
type Protection = keyof Capture['ports'];

export interface Login {
  host: string;
  port: number;
  protection: Protection;
  user: string;
  password: string;
}

export interface Framework {
  name: string;
  file: string; // where the lines go
  lines: (login: Login) => string;
}

// Most programs use STARTTLS.
const PREFERRED: readonly Protection[] = ['starttls', 'tls', 'clear'];

// The login as most programs use it; null while the service takes no such mail.
export function loginOf({ host, ports, user, password }: Capture): Login | null {
  const protection = PREFERRED.find((it) => ports[it].length > 0);
  const port = protection && ports[protection][0];
  if (host === null || protection === undefined || port === undefined) return null;
  return { host, port, protection, user, password: password ?? HIDDEN_PASSWORD };
}

const schemeOf = (protection: Protection) => (protection === 'tls' ? 'smtps' : 'smtp');

// The line by which a framework is told how TLS begins, behind the others; none where it never does.
function lineFor(
  protection: Protection,
  lines: Record<'starttls' | 'tls', string>,
  separator = '',
): string {
  return protection === 'clear' ? '' : `${separator}\n${lines[protection]}`;
}

const POSTFIX_TLS = `# secure verifies the certificate; encrypt gives the password to whoever answers
smtp_tls_security_level = secure
smtp_tls_CAfile = /etc/ssl/certs/ca-certificates.crt`;

function netLines({ host, port, protection, user, password }: Login): string {
  // System.Net.Mail has no TLS from the first byte.
  return protection === 'tls'
    ? `// MailKit
await client.ConnectAsync("${host}", ${port}, SecureSocketOptions.SslOnConnect);
await client.AuthenticateAsync("${user}", "${password}");`
    : `var client = new SmtpClient("${host}", ${port})
{${protection === 'starttls' ? '\n    EnableSsl = true, // STARTTLS' : ''}
    Credentials = new NetworkCredential("${user}", "${password}"),
};`;
}

export const FRAMEWORKS: readonly Framework[] = [
  {
    name: 'Laravel',
    file: '.env',
    lines: ({ host, port, protection, user, password }) => `MAIL_MAILER=smtp
MAIL_SCHEME=${schemeOf(protection)}
MAIL_HOST=${host}
MAIL_PORT=${port}
MAIL_USERNAME=${user}
MAIL_PASSWORD=${password}`,
  },
  {
    name: 'Symfony',
    file: '.env',
    lines: ({ host, port, protection, user, password }) =>
      `MAILER_DSN=${schemeOf(protection)}://${user}:${password}@${host}:${port}`,
  },
  {
    name: 'Django',
    file: 'settings.py',
    lines: ({ host, port, protection, user, password }) => `EMAIL_HOST = "${host}"
EMAIL_PORT = ${port}
EMAIL_HOST_USER = "${user}"
EMAIL_HOST_PASSWORD = "${password}"${lineFor(protection, {
      starttls: 'EMAIL_USE_TLS = True',
      tls: 'EMAIL_USE_SSL = True',
    })}`,
  },
  {
    name: 'Rails',
    file: 'config/environments/staging.rb',
    lines: ({
      host,
      port,
      protection,
      user,
      password,
    }) => `config.action_mailer.delivery_method = :smtp
config.action_mailer.smtp_settings = {
  address: "${host}",
  port: ${port},
  user_name: "${user}",
  password: "${password}",
  authentication: :plain${lineFor(
    protection,
    {
      starttls: '  enable_starttls: true',
      tls: '  tls: true',
    },
    ',',
  )}
}`,
  },
  {
    name: 'Spring',
    file: 'application.properties',
    lines: ({ host, port, protection, user, password }) => `spring.mail.host=${host}
spring.mail.port=${port}
spring.mail.username=${user}
spring.mail.password=${password}
spring.mail.properties.mail.smtp.auth=true${lineFor(protection, {
      starttls: 'spring.mail.properties.mail.smtp.starttls.required=true',
      tls: 'spring.mail.properties.mail.smtp.ssl.enable=true',
    })}`,
  },
  {
    name: 'Nodemailer',
    file: 'JavaScript',
    lines: ({
      host,
      port,
      protection,
      user,
      password,
    }) => `const transport = nodemailer.createTransport({
  host: "${host}",
  port: ${port},
  secure: ${protection === 'tls'},
  auth: { user: "${user}", pass: "${password}" },
});`,
  },
  { name: '.NET', file: 'C#', lines: netLines },
  {
    name: 'Postfix',
    file: '/etc/postfix/main.cf, with the package libsasl2-modules',
    lines: ({ host, port, protection, user, password }) => `relayhost = [${host}]:${port}
smtp_sasl_auth_enable = yes
smtp_sasl_password_maps = static:${user}:${password}
smtp_sasl_security_options = noanonymous${lineFor(protection, {
      starttls: POSTFIX_TLS,
      tls: `${POSTFIX_TLS}\nsmtp_tls_wrappermode = yes`,
    })}`,
  },
];

// "587, 2525 with STARTTLS; 465 with TLS"
export function portsText({ starttls, tls, clear }: Capture['ports']): string {
  return [
    starttls.length > 0 && `${starttls.join(', ')} with STARTTLS`,
    tls.length > 0 && `${tls.join(', ')} with TLS`,
    clear.length > 0 && `${clear.join(', ')} without TLS`,
  ]
    .filter(Boolean)
    .join('; ');
}

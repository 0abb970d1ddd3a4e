// What a framework's configuration needs to send with a login.
import type { Capture } from '../../api';

// Stands in for a password, which is shown once.
export const HIDDEN_PASSWORD = '<password>';

export interface Login {
  host: string;
  port: number;
  isTls: boolean; // from the first byte; otherwise by STARTTLS
  user: string;
  password: string;
}

export interface Framework {
  name: string;
  file: string; // where the lines go
  lines: (login: Login) => string;
}

// The login as most programs use it, over STARTTLS where the service has it; null while the service
// takes no such mail.
export function loginOf({ host, ports, user, password }: Capture): Login | null {
  const [starttls] = ports.starttls;
  const port = starttls ?? ports.tls[0];
  if (host === null || port === undefined) return null;
  return {
    host,
    port,
    isTls: starttls === undefined,
    user,
    password: password ?? HIDDEN_PASSWORD,
  };
}

function netLines({ host, port, isTls, user, password }: Login): string {
  // System.Net.Mail has no TLS from the first byte.
  return isTls
    ? `// MailKit
await client.ConnectAsync("${host}", ${port}, SecureSocketOptions.SslOnConnect);
await client.AuthenticateAsync("${user}", "${password}");`
    : `var client = new SmtpClient("${host}", ${port})
{
    EnableSsl = true, // STARTTLS
    Credentials = new NetworkCredential("${user}", "${password}"),
};`;
}

export const FRAMEWORKS: readonly Framework[] = [
  {
    name: 'Laravel',
    file: '.env',
    lines: ({ host, port, isTls, user, password }) => `MAIL_MAILER=smtp
MAIL_SCHEME=${isTls ? 'smtps' : 'smtp'}
MAIL_HOST=${host}
MAIL_PORT=${port}
MAIL_USERNAME=${user}
MAIL_PASSWORD=${password}`,
  },
  {
    name: 'Symfony',
    file: '.env',
    lines: ({ host, port, isTls, user, password }) =>
      `MAILER_DSN=${isTls ? 'smtps' : 'smtp'}://${user}:${password}@${host}:${port}`,
  },
  {
    name: 'Django',
    file: 'settings.py',
    lines: ({ host, port, isTls, user, password }) => `EMAIL_HOST = "${host}"
EMAIL_PORT = ${port}
EMAIL_HOST_USER = "${user}"
EMAIL_HOST_PASSWORD = "${password}"
${isTls ? 'EMAIL_USE_SSL' : 'EMAIL_USE_TLS'} = True`,
  },
  {
    name: 'Rails',
    file: 'config/environments/staging.rb',
    lines: ({ host, port, isTls, user, password }) => `config.action_mailer.delivery_method = :smtp
config.action_mailer.smtp_settings = {
  address: "${host}",
  port: ${port},
  user_name: "${user}",
  password: "${password}",
  authentication: :plain,
  ${isTls ? 'tls' : 'enable_starttls'}: true
}`,
  },
  {
    name: 'Spring',
    file: 'application.properties',
    lines: ({ host, port, isTls, user, password }) => `spring.mail.host=${host}
spring.mail.port=${port}
spring.mail.username=${user}
spring.mail.password=${password}
spring.mail.properties.mail.smtp.auth=true
spring.mail.properties.mail.smtp.${isTls ? 'ssl.enable' : 'starttls.required'}=true`,
  },
  {
    name: 'Nodemailer',
    file: 'JavaScript',
    lines: ({
      host,
      port,
      isTls,
      user,
      password,
    }) => `const transport = nodemailer.createTransport({
  host: "${host}",
  port: ${port},
  secure: ${isTls},
  auth: { user: "${user}", pass: "${password}" },
});`,
  },
  { name: '.NET', file: 'C#', lines: netLines },
  {
    name: 'Postfix',
    file: '/etc/postfix/main.cf, with the package libsasl2-modules',
    lines: ({ host, port, isTls, user, password }) => `relayhost = [${host}]:${port}
smtp_sasl_auth_enable = yes
smtp_sasl_password_maps = static:${user}:${password}
smtp_sasl_security_options = noanonymous
# secure verifies the certificate; encrypt gives the password to whoever answers
smtp_tls_security_level = secure
smtp_tls_CAfile = /etc/ssl/certs/ca-certificates.crt${isTls ? '\nsmtp_tls_wrappermode = yes' : ''}`,
  },
];

// "587, 2525 with STARTTLS; 465 with TLS"
export function portsText({ starttls, tls }: Capture['ports']): string {
  return [
    starttls.length > 0 && `${starttls.join(', ')} with STARTTLS`,
    tls.length > 0 && `${tls.join(', ')} with TLS`,
  ]
    .filter(Boolean)
    .join('; ');
}

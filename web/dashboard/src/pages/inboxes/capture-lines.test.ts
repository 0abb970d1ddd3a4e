import { describe, expect, it } from 'vitest';
import type { Capture } from '../../api';
import { FRAMEWORKS, HIDDEN_PASSWORD, loginOf, portsText, type Login } from './capture-lines';

const capture: Capture = {
  host: 'smtp.example.com',
  ports: { starttls: [587, 2525], tls: [465], clear: [] },
  user: 'cap_k3v9x2m4t7q1',
  createdAt: '2026-11-21T10:00:00.000Z',
  lastUsedAt: null,
  previousValidUntil: null,
};
const login: Login = {
  host: 'smtp.example.com',
  port: 587,
  protection: 'starttls',
  user: 'cap_k3v9x2m4t7q1',
  password: 'tic_secret',
};
const overTls: Login = { ...login, port: 465, protection: 'tls' };
const inTheClear: Login = { ...login, port: 1025, protection: 'clear' };

function lines(name: string, given: Login): string {
  return FRAMEWORKS.find((it) => it.name === name)?.lines(given) ?? '';
}

describe('a login', () => {
  it('has the first port with STARTTLS', () => {
    expect(loginOf({ ...capture, password: 'tic_secret' })).toEqual(login);
  });

  it('has one with TLS where there is no other', () => {
    const ports = { starttls: [], tls: [465], clear: [1025] };
    expect(loginOf({ ...capture, ports, password: 'tic_secret' })).toEqual(overTls);
  });

  it('has one in the clear where there is nothing else', () => {
    const ports = { starttls: [], tls: [], clear: [1025] };
    expect(loginOf({ ...capture, ports, password: 'tic_secret' })).toEqual(inTheClear);
  });

  it('has no password once that was shown', () => {
    expect(loginOf(capture)?.password).toBe(HIDDEN_PASSWORD);
  });

  it('is none while the service takes no such mail', () => {
    expect(loginOf({ ...capture, host: null })).toBeNull();
    expect(loginOf({ ...capture, ports: { starttls: [], tls: [], clear: [] } })).toBeNull();
  });
});

describe('the lines of a framework', () => {
  it.each(FRAMEWORKS.map((it) => it.name))('%s: have host, port, user and password', (name) => {
    for (const given of [login, overTls, inTheClear])
      for (const value of [given.host, `${given.port}`, given.user, given.password])
        expect(lines(name, given)).toContain(value);
  });

  it.each([
    ['Laravel', 'MAIL_SCHEME=smtp\n', 'MAIL_SCHEME=smtps\n'],
    ['Symfony', 'MAILER_DSN=smtp://', 'MAILER_DSN=smtps://'],
    ['Django', 'EMAIL_USE_TLS = True', 'EMAIL_USE_SSL = True'],
    ['Rails', 'enable_starttls: true', '  tls: true'],
    ['Spring', 'smtp.starttls.required=true', 'smtp.ssl.enable=true'],
    ['Nodemailer', 'secure: false', 'secure: true'],
    ['.NET', 'EnableSsl = true', 'SecureSocketOptions.SslOnConnect'],
    ['Postfix', 'smtp_tls_security_level = secure', 'smtp_tls_wrappermode = yes'],
  ])('%s: say how TLS begins', (name, byStarttls, fromTheFirstByte) => {
    expect(lines(name, login)).toContain(byStarttls);
    expect(lines(name, overTls)).toContain(fromTheFirstByte);
    expect(lines(name, login)).not.toContain(fromTheFirstByte);
    expect(lines(name, inTheClear)).not.toContain(fromTheFirstByte);
  });

  it.each(FRAMEWORKS.map((it) => it.name))('%s: ask for no TLS where there is none', (name) => {
    expect(lines(name, inTheClear)).not.toMatch(/smtps|use_tls|use_ssl|starttls|ssl|smtp_tls/i);
  });
});

describe('ports', () => {
  it('are said with how TLS begins', () => {
    expect(portsText(capture.ports)).toBe('587, 2525 with STARTTLS; 465 with TLS');
    expect(portsText({ starttls: [], tls: [465], clear: [] })).toBe('465 with TLS');
    expect(portsText({ starttls: [], tls: [], clear: [1025] })).toBe('1025 without TLS');
  });
});

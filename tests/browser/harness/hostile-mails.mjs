// The mails of hostile-mails/, and their HTML for tests that need no suite.

import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../hostile-mails/', import.meta.url);

/** Name and bytes of each. */
export function hostileMails() {
  const names = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.eml'))
    .sort();
  return names.map((file) => ({
    name: file.replace(/\.eml$/, ''),
    bytes: readFileSync(new URL(file, FOLDER)),
  }));
}

/** The first text/html part, decoded roughly as the suite does it; "" where there is none. */
export function htmlOf(bytes) {
  const text = bytes.toString('latin1');
  const boundary = /boundary="([^"]+)"/.exec(text)?.[1];
  const parts = boundary ? text.split(`--${boundary}`) : [text];
  for (const part of parts) {
    const end = part.search(/\r?\n\r?\n/);
    const head = part.slice(0, end);
    if (!/^content-type: text\/html/im.test(head)) continue;
    return decoded(Buffer.from(part.slice(end), 'latin1'), /charset=([\w-]+)/i.exec(head)?.[1]);
  }
  return '';
}

function decoded(bytes, charset) {
  try {
    return new TextDecoder(charset ?? 'utf-8').decode(bytes);
  } catch {
    return bytes.toString('utf8');
  }
}

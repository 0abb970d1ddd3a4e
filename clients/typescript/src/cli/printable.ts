// What a terminal is given: text of strangers without what could command it, tables, quotes.

// C0 and C1 controls but for line ends and tabs; and what turns the direction of writing (Unicode
// Bidirectional Algorithm, section 2: embeddings, overrides and isolates).
const COMMANDS = /(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;
const MAX_QUOTED = 60;

/** Text of several lines that cannot move the cursor or retype a line. */
export function printable(text: string): string {
  return text.replace(COMMANDS, '');
}

/** The same in one line. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, ' ');
}

/** In double quotes, in one line, cut to 60 characters. */
export function quote(text: string): string {
  const shown = Array.from(text.slice(0, MAX_QUOTED * 4).replace(/\p{Cc}/gu, ' '));
  const isCut = shown.length > MAX_QUOTED || text.length > MAX_QUOTED * 4;
  return `"${shown.slice(0, MAX_QUOTED).join('')}${isCut ? '…' : ''}"`;
}

/** The number of characters, which are code points. */
export function countCharacters(text: string): number {
  return Array.from(text).length;
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - countCharacters(text)));
}

/** Names and values, a line each. */
export function toFields(fields: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...fields.map(([name]) => name.length)) + 3;
  return fields.map(([name, value]) => `${pad(`${name}:`, width)}${value}\n`).join('');
}

/** Columns as wide as their widest text. */
export function toTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows];
  const widths = headings.map((_, column) =>
    lines.reduce((max, row) => Math.max(max, countCharacters(row[column] ?? '')), 0),
  );
  const last = headings.length - 1;
  return lines
    .map((row) =>
      row.map((text, column) => (column < last ? pad(text, (widths[column] ?? 0) + 2) : text)),
    )
    .map((row) => `${row.join('')}\n`)
    .join('');
}

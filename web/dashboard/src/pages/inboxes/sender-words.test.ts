import { describe, expect, it } from 'vitest';
import type { SenderAttempt, SenderMarks, SentMessage } from '../../api';
import {
  attemptText,
  connectionText,
  delayText,
  markRows,
  messagesText,
  messageText,
  notAppliedText,
  refusedText,
  stateOf,
} from './sender-words';

const LATER = '451 4.7.1 Later';

const attempt: SenderAttempt = {
  number: 1,
  at: '2026-11-21T10:00:00.000Z',
  stage: 'rcpt',
  reply: LATER,
  step: 0,
  refused: [{ recipient: 'ann@x.example', reply: LATER, step: 0 }],
  remoteAddress: '192.0.2.7',
  tls: 'TLSv1.3',
  pipelined: true,
  chunked: false,
};

const message: SentMessage = {
  messageId: '<1@app.example>',
  mailFrom: 'app@app.example',
  recipients: ['ann@x.example', 'bob@x.example'],
  recipientCount: 2,
  attempts: [attempt],
  delaysSeconds: [],
  state: 'open',
  emailIds: [],
  ambiguous: false,
};

const notSeen: SenderMarks['tls'] = {
  value: 'not_seen',
  attempts: [],
  section: 'RFC 5321 4.2.1',
  note: null,
};
const nothing: SenderMarks = {
  retriesAfter4xx: notSeen,
  backsOff: notSeen,
  stopsAfter5xx: notSeen,
  keepsOtherRecipients: notSeen,
  sameMessageId: notSeen,
  duplicates: { ...notSeen, count: 0 },
  tls: notSeen,
  pipelining: notSeen,
  quit: notSeen,
  size: notSeen,
};

describe('marks', () => {
  const row = (marks: Partial<SenderMarks>, name: string) =>
    markRows({ ...nothing, ...marks }).find((it) => it.name === name);

  it('are ten, and plain while nothing was seen', () => {
    const rows = markRows(nothing);
    expect(rows.length).toBe(10);
    expect(new Set(rows.map((it) => `${it.said} ${it.tone}`))).toEqual(new Set(['not seen plain']));
  });

  it('name the section and the attempts that show them', () => {
    const mark: SenderMarks['tls'] = {
      ...notSeen,
      value: 'yes',
      attempts: [1, 2],
      section: 'RFC 5321 4.5.4.1',
    };
    expect(row({ retriesAfter4xx: mark }, 'Tries again after a 4xx')).toEqual({
      name: 'Tries again after a 4xx',
      said: 'yes',
      tone: 'good',
      detail: 'RFC 5321 4.5.4.1 · attempts 1, 2',
      note: null,
    });
    const many = { ...mark, attempts: [1, 2, 3, 4, 5, 6, 7] };
    expect(row({ quit: many }, 'Ends with QUIT')?.detail).toMatch(
      /attempts 1, 2, 3, 4, 5 and 2 more$/,
    );
  });

  it('are good or bad where an RFC asks for one of both', () => {
    const no: SenderMarks['tls'] = { ...notSeen, value: 'no' };
    expect(row({ stopsAfter5xx: no }, 'Gives up after a 5xx')?.tone).toBe('danger');
    expect(row({ tls: no }, 'Uses TLS')?.tone).toBe('plain');
    expect(row({ duplicates: { ...no, count: 0 } }, 'Leaves duplicates')?.tone).toBe('good');
    expect(
      row({ duplicates: { ...no, value: 'yes', count: 2 } }, 'Leaves duplicates'),
    ).toMatchObject({
      said: 'yes, 2 too many',
      tone: 'danger',
    });
  });
});

describe('a message', () => {
  it('names its sender and its recipients', () => {
    expect(messageText(message)).toBe('from app@app.example to ann@x.example, bob@x.example');
    expect(messageText({ ...message, mailFrom: '', recipientCount: 5 })).toBe(
      'from (empty sender) to ann@x.example, bob@x.example and 3 more',
    );
    expect(messageText({ ...message, recipients: [], recipientCount: 0 })).toMatch('to nobody yet');
  });

  it('has a state, and is counted with its attempts', () => {
    expect(stateOf(message)).toEqual(['open', 'plain']);
    expect(stateOf({ ...message, state: 'refused' })).toEqual(['refused', 'danger']);
    expect(messagesText([message, { ...message, attempts: [attempt, attempt] }])).toBe(
      '2 messages in 3 attempts',
    );
  });
});

describe('an attempt', () => {
  it('says how far it came, and what was on purpose', () => {
    expect(attemptText(attempt)).toBe(`At RCPT: ${LATER}, on purpose`);
    expect(attemptText({ ...attempt, stage: 'end', reply: null, step: null })).toBe(
      'At the end of the message: closed without a reply',
    );
  });

  it('names recipients that were refused where that did not end it', () => {
    expect(refusedText(attempt)).toEqual([]);
    expect(refusedText({ ...attempt, stage: 'end' })).toEqual([
      `ann@x.example: ${LATER}, on purpose`,
    ]);
  });

  it('says how it came', () => {
    expect(connectionText(attempt)).toBe('TLSv1.3, pipelined, from 192.0.2.7');
    expect(connectionText({ ...attempt, tls: null, pipelined: false, chunked: true })).toBe(
      'without TLS, in chunks, from 192.0.2.7',
    );
  });

  it.each([
    [0.28, '0.3 s later'],
    [300.508, '5 min later'],
    [4_000, '1 h 6 min later'],
  ])('comes %d seconds behind the one before', (seconds, words) => {
    expect(delayText(seconds)).toBe(words);
  });
});

it('a fault that was not played says why', () => {
  const at = attempt.at;
  expect(notAppliedText({ at, attempt: 3, stage: 'end', reason: 'sharedTransaction' })).toBe(
    'At the end of the message, attempt 3: ' +
      'the message was for other inboxes, too, which had it not due',
  );
});

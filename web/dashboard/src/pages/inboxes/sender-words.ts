import type { FaultNotApplied, SenderAttempt, SenderMarks, SentMessage } from '../../api';
import { count, span } from '../../time';
import { STAGES } from './fault-steps';

export type Tone = 'good' | 'danger' | 'plain';

export interface MarkRow {
  name: string;
  said: string;
  tone: Tone;
  detail: string; // the section of the RFC, and where it was seen
  note: string | null;
}

// The name of each mark, and which of its values is as it must be; null: either is.
const MARKS: Record<keyof SenderMarks, [name: string, right: 'yes' | 'no' | null]> = {
  retriesAfter4xx: ['Tries again after a 4xx', 'yes'],
  backsOff: ['Waits before it tries again', 'yes'],
  stopsAfter5xx: ['Gives up after a 5xx', 'yes'],
  keepsOtherRecipients: ['Goes on with the other recipients', 'yes'],
  sameMessageId: ['Keeps the Message-ID', 'yes'],
  duplicates: ['Leaves duplicates', 'no'],
  tls: ['Uses TLS', null],
  pipelining: ['Uses pipelining', null],
  quit: ['Ends with QUIT', null],
  size: ['Says the size at MAIL', null],
};

const VALUES = { yes: 'yes', no: 'no', not_seen: 'not seen' };

const MAX_NUMBERS = 5;

// "attempts 1, 2, 3, 4, 5 and 7 more"
function attemptsText(numbers: readonly number[]): string {
  const shown = numbers.slice(0, MAX_NUMBERS).join(', ');
  const left = numbers.length - MAX_NUMBERS;
  const more = left > 0 ? ` and ${left} more` : '';
  return `${numbers.length === 1 ? 'attempt' : 'attempts'} ${shown}${more}`;
}

// A page that was opened before a release may be told of a mark it does not know: it is left out.
export function markRows(marks: SenderMarks): MarkRow[] {
  return (Object.keys(MARKS) as (keyof SenderMarks)[]).map((key) => {
    const [name, right] = MARKS[key];
    const mark = marks[key];
    const isSeen = mark.value !== 'not_seen';
    const beyond = 'count' in mark && mark.count > 0 ? `, ${mark.count} too many` : '';
    return {
      name,
      said: VALUES[mark.value] + beyond,
      tone: !isSeen || right === null ? 'plain' : mark.value === right ? 'good' : 'danger',
      detail: [mark.section, mark.attempts.length > 0 && attemptsText(mark.attempts)]
        .filter(Boolean)
        .join(' · '),
      note: mark.note,
    };
  });
}

// "from app@app.example to ann@x.example, bob@x.example and 3 more"
export function messageText({ mailFrom, recipients, recipientCount }: SentMessage): string {
  const left = recipientCount - recipients.length;
  const more = left > 0 ? ` and ${left} more` : '';
  return `from ${mailFrom || '(empty sender)'} to ${recipients.join(', ') || 'nobody yet'}${more}`;
}

const STATES: Record<SentMessage['state'], [said: string, tone: Tone]> = {
  accepted: ['accepted', 'good'],
  refused: ['refused', 'danger'],
  open: ['open', 'plain'],
};

export function stateOf({ state }: SentMessage): [said: string, tone: Tone] {
  return STATES[state];
}

const onPurpose = (step: number | null) => (step === null ? '' : ', on purpose');
const replyText = (reply: string | null) => reply ?? 'closed without a reply';

// "At RCPT: 451 4.7.1 Try again later, on purpose"
export function attemptText({ stage, reply, step }: SenderAttempt): string {
  return `${STAGES[stage]}: ${replyText(reply)}${onPurpose(step)}`;
}

// Recipients that were refused, where that did not end the attempt: it is said by `attemptText`.
export function refusedText({ stage, refused }: SenderAttempt): string[] {
  if (stage === 'rcpt' && refused.length === 1) return [];
  return refused.map(
    ({ recipient, reply, step }) => `${recipient}: ${replyText(reply)}${onPurpose(step)}`,
  );
}

// "TLSv1.3, pipelined, from 192.0.2.7"
export function connectionText({ tls, pipelined, chunked, remoteAddress }: SenderAttempt): string {
  const parts = [tls ?? 'without TLS', pipelined && 'pipelined', chunked && 'in chunks'];
  return `${parts.filter(Boolean).join(', ')}, from ${remoteAddress}`;
}

// "0.3 s later"; below ten seconds to the tenth.
export function delayText(seconds: number): string {
  return `${seconds < 10 ? `${Math.round(seconds * 10) / 10} s` : span(seconds)} later`;
}

// A page that was opened before a release may be told of a reason it does not know.
const REASONS: Record<string, string> = {
  sharedTransaction: 'the message was for other inboxes, too, which had it not due',
  noAnswer: 'it could not be counted in time',
  tooManyDelays: 'as many replies as may wait did so already, or the message had waited for 60 s',
  tooManyRecipients: 'it counts as many recipients as it can',
} satisfies Record<FaultNotApplied['reason'], string>;

export function notAppliedText({ attempt, stage, reason }: FaultNotApplied): string {
  return `${STAGES[stage]}, attempt ${attempt}: ${REASONS[reason] ?? 'for another reason'}`;
}

export function messagesText(messages: readonly SentMessage[]): string {
  const attempts = messages.reduce((sum, it) => sum + it.attempts.length, 0);
  return `${count(messages.length, 'message')} in ${count(attempts, 'attempt')}`;
}

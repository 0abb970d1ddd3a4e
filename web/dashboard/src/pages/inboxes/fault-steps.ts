import type { FaultStep, NewFaultStep } from '../../api';
import { InvalidInput } from '../../problem';
import { count } from '../../time';

// What senders are often tried with, by the name of the story.
export const STORIES: readonly { name: string; steps: readonly NewFaultStep[] }[] = [
  {
    name: 'Two attempts are deferred, the third arrives',
    steps: [{ stage: 'rcpt', reply: '451 4.7.1 Try again later', times: 2 }],
  },
  {
    name: 'Deferred twice, then refused for good',
    steps: [
      { stage: 'rcpt', reply: '451 4.7.1 Try again later', times: 2 },
      { stage: 'rcpt', reply: '550 5.7.1 Not here' },
    ],
  },
  {
    name: 'Greylisting',
    steps: [{ stage: 'rcpt', reply: '451 4.7.1 Greylisted', times: 1, per: 'recipient' }],
  },
  {
    name: 'Stored, but the sender does not hear of it',
    steps: [{ stage: 'end', cut: 'stored', times: 1 }],
  },
  { name: 'The connection breaks', steps: [{ stage: 'end', cut: 'unstored', times: 1 }] },
  { name: 'A slow server', steps: [{ stage: 'end', delaySeconds: 60 }] },
];

export const STAGES: Record<FaultStep['stage'], string> = {
  auth: 'At the login',
  mail: 'At MAIL',
  rcpt: 'At RCPT',
  data: 'At DATA',
  end: 'At the end of the message',
};

function what(step: FaultStep): string {
  if (step.cut === 'stored') return 'it is stored, and the connection is closed without a reply';
  if (step.cut === 'unstored') return 'the connection is closed without a reply';
  return step.reply === null ? 'the ordinary reply' : step.reply;
}

function when(step: FaultStep): string {
  if (step.times !== null) return `the first ${count(step.times, 'time')}`;
  if (step.forSeconds !== null) return `for ${step.forSeconds} s from the first use on`;
  if (step.abovePerMinute !== null) return `past ${step.abovePerMinute} a minute`;
  if (step.every !== null) return `each use that is a multiple of ${step.every}`;
  return 'always';
}

// One step in a sentence. A 535 on purpose must not pass for a wrong password.
export function describeStep(step: FaultStep): string {
  const delay = step.delaySeconds > 0 ? ` after ${step.delaySeconds} s` : '';
  const whom = step.to === null ? '' : ` for recipients with “${step.to}”`;
  const each = step.per === null ? '' : ', each recipient by itself';
  return `${STAGES[step.stage]}${delay}${whom}: ${what(step)} – on purpose, ${when(step)}${each}`;
}

// The steps as they are edited. Throws InvalidInput.
export function parseSteps(text: string): NewFaultStep[] {
  let steps: unknown;
  try {
    steps = JSON.parse(text);
  } catch {
    throw new InvalidInput('The steps are not JSON.');
  }
  if (!Array.isArray(steps)) throw new InvalidInput('The steps must be a list: [ … ].');
  return steps as NewFaultStep[];
}

import { describe, expect, it } from 'vitest';
import type { FaultStep } from '../../api';
import { describeStep, parseSteps, STORIES } from './fault-steps';

const always: FaultStep = {
  stage: 'rcpt',
  reply: '451 4.7.1 Later',
  delaySeconds: 0,
  cut: null,
  times: null,
  forSeconds: null,
  abovePerMinute: null,
  every: null,
  to: null,
  per: null,
  used: 0,
};

describe('a step in words', () => {
  it.each<[Partial<FaultStep>, string]>([
    [{}, 'At RCPT: 451 4.7.1 Later – on purpose, always'],
    [{ times: 2 }, 'At RCPT: 451 4.7.1 Later – on purpose, the first 2 times'],
    [
      { times: 1, per: 'recipient', to: 'bob@' },
      'At RCPT for recipients with “bob@”: 451 4.7.1 Later – on purpose, the first 1 time, each ' +
        'recipient by itself',
    ],
    [
      { stage: 'auth', reply: '535 5.7.8 No', forSeconds: 60 },
      'At the login: 535 5.7.8 No – on purpose, for 60 s from the first use on',
    ],
    [
      { stage: 'end', reply: null, cut: 'stored', every: 3 },
      'At the end of the message: it is stored, and the connection is closed without a reply – ' +
        'on purpose, each use that is a multiple of 3',
    ],
    [
      { stage: 'data', reply: null, delaySeconds: 5, abovePerMinute: 30 },
      'At DATA after 5 s: the ordinary reply – on purpose, past 30 a minute',
    ],
  ])('%j', (differing, words) => {
    expect(describeStep({ ...always, ...differing })).toBe(words);
  });
});

describe('steps as they are edited', () => {
  it('are those of each story', () => {
    for (const { steps } of STORIES) expect(parseSteps(JSON.stringify(steps))).toEqual(steps);
  });

  it('are a list', () => {
    expect(() => parseSteps('{')).toThrow('not JSON');
    expect(() => parseSteps('{}')).toThrow('must be a list');
  });
});

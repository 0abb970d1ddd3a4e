import { describe as group, expect, it } from 'vitest';
import { ApiError } from './api';
import { describe, InvalidInput } from './problem';

group('a failure in words', () => {
  it("holds the server's sentence and the request's id", () => {
    const shown = describe(new ApiError(404, 'Inbox 0193 does not exist', 'not_found', 'req-1'));
    expect(shown).toEqual({
      title: 'That does not exist any more',
      detail: 'Inbox 0193 does not exist.',
      requestId: 'req-1',
    });
  });

  it('says when to try again', () => {
    expect(describe(new ApiError(429, 'Too many failures', null, null, 420)).detail).toBe(
      'Too many failures. Please try again in 7 minutes.',
    );
    expect(describe(new ApiError(503, '', null, null, 1)).detail).toBe(
      'Please try again in 1 second.',
    );
    expect(describe(new ApiError(429, '')).detail).toBe('Please try again in a moment.');
  });

  it('tells a server that does not answer from one that fails', () => {
    expect(describe(new ApiError(0, '')).title).toBe('The service cannot be reached');
    expect(describe(new ApiError(502, '')).title).toBe('Something went wrong on our side');
  });

  it('holds what the page itself refuses', () => {
    expect(describe(new InvalidInput('The steps are not JSON.'))).toEqual({
      title: 'That was not accepted',
      detail: 'The steps are not JSON.',
      requestId: null,
    });
  });

  it('has words for what nobody expected', () => {
    expect(describe(new TypeError('x is undefined')).title).toBe(
      'Something went wrong on this page',
    );
  });
});

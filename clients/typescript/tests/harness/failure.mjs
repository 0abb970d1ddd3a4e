import assert from 'node:assert/strict';

/** What a call that must fail throws. */
export async function failure(call) {
  try {
    await call;
  } catch (error) {
    return error;
  }
  return assert.fail('the call succeeded');
}

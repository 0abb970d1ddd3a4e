import assert from 'node:assert/strict';

/** Returns the error of a call that must fail. */
export async function failure(call) {
  try {
    await call;
  } catch (error) {
    return error;
  }
  return assert.fail('the call succeeded');
}

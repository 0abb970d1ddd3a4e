// Written by tools/generate/error_reasons.py; do not edit.

/** The reasons of errors, by what `ApiError.code` has for each. */
export const errorCodes = {
  /** 400: A field or parameter is wrong; the message begins with its name. Mend the field; the message says what is allowed. */
  invalidField: 'invalid_field',
  /** 400: The body is no JSON object. Send a JSON object; the message names line and column. */
  invalidJson: 'invalid_json',
  /** 400: The cursor is not of this list with these filters and this order. Read the list from its first page, without a cursor, or, of events, begin with `latest`. */
  invalidCursor: 'invalid_cursor',
  /** 400: The request itself is malformed: its target, or a header. Mend what the message names; this is often the HTTP client's fault. */
  invalidRequest: 'invalid_request',
  /** 401: The request has no API key. Send the key in X-API-Key or as Authorization: Bearer. */
  keyMissing: 'key_missing',
  /** 401: The API key is malformed, unknown, revoked or expired. Make a key in the dashboard under Settings, API Keys. */
  keyInvalid: 'key_invalid',
  /** 401: The request has two API keys. Send one key in one header. */
  keyConflict: 'key_conflict',
  /** 401: The API key is in the URL, which logs store. Send it in a header, and revoke the one that was in the URL. */
  keyInUrl: 'key_in_url',
  /** 403: The plan does not include this, or no further catch-all. Choose a plan that does. */
  planRequired: 'plan_required',
  /** 403: The plan has no room for this key: older keys come first. Use an older key, revoke one, or choose a larger plan. */
  keyInactive: 'key_inactive',
  /** 403: The API key lacks the scope that the message names. Use a key with this scope. */
  scopeRequired: 'scope_required',
  /** 403: All live inboxes of the plan are used. End an inbox with DELETE, or let one expire. */
  inboxLimit: 'inbox_limit',
  /** 403: All webhooks of the plan are used, or it has no place for this one. Delete a webhook, or choose a larger plan. */
  webhookLimit: 'webhook_limit',
  /** 403: The plan has no room for another inbox with a login. End a login with DELETE, or choose a larger plan. */
  captureLimit: 'capture_limit',
  /** 403: The account was deleted. Use another account. */
  accountDeleted: 'account_deleted',
  /** 403: The request is not allowed. Read the message. */
  forbidden: 'forbidden',
  /** 404: The object does not exist for this key, or does not any more. Check the id, and the account and tag of the key. */
  notFound: 'not_found',
  /** 404: The inbox has ended, and its mail is gone. Make a new inbox; this one stays readable by its id for 30 days. */
  inboxEnded: 'inbox_ended',
  /** 404: There is no such path. Check the base address and the path. */
  unknownPath: 'unknown_path',
  /** 405: The path does not have this method. Use one that Allow names. */
  methodNotAllowed: 'method_not_allowed',
  /** 406: Accept allows none of the forms there are. Allow one that the message names. */
  notAcceptable: 'not_acceptable',
  /** 408: The request did not arrive in time. Send it again. */
  requestTimeout: 'request_timeout',
  /** 409: The address is taken, reserved, or ended less than 30 days ago. Choose another local part, or leave it out for a random one. */
  addressTaken: 'address_taken',
  /** 409: The inbox has a login. Rotate its password for a new one. */
  captureExists: 'capture_exists',
  /** 409: A request with this Idempotency-Key is under way. Send it again after Retry-After. */
  idempotencyInProgress: 'idempotency_in_progress',
  /** 409: Routing rules name the webhook. Delete the rules that the message names first. */
  webhookInUse: 'webhook_in_use',
  /** 409: The webhook is switched off. PATCH it with isEnabled true first. */
  webhookDisabled: 'webhook_disabled',
  /** 409: The delivery is being sent, or is due. Read the delivery by its id again in a moment. */
  deliveryInProgress: 'delivery_in_progress',
  /** 409: As many replays as there can be are under way. Wait for one to end. */
  replayInProgress: 'replay_in_progress',
  /** 409: The webhook signs with as many secrets as it can have. Rotate at the time that the message names. */
  secretLimit: 'secret_limit',
  /** 409: The request does not fit the object's state. Read the object again. */
  conflict: 'conflict',
  /** 410: Events behind the cursor are gone: older than 72 hours, or not recorded. Go on after X-Resume-After; X-Missed-Events says how many are missing. */
  cursorExpired: 'cursor_expired',
  /** 410: The events were put back to an earlier moment than the cursor's. Go on after X-Resume-After, and drop what you have by its eventId. */
  cursorReset: 'cursor_reset',
  /** 413: The body is too large. Send at most 64 KiB. */
  tooLarge: 'too_large',
  /** 415: The body's Content-Type or Content-Encoding is not taken. Send application/json, not compressed. */
  unsupportedType: 'unsupported_type',
  /** 422: The Idempotency-Key was used for another body. Choose a new key for a new request. */
  idempotencyReused: 'idempotency_reused',
  /** 429: The plan's requests of the UTC day are used up. Wait until X-RateLimit-Reset, or choose a larger plan. */
  dailyLimit: 'daily_limit',
  /** 429: The key sent more requests in a second than the plan allows, each inbox of a batch counted as one; this one did not count against the day. Send it again after Retry-After. */
  burst: 'burst',
  /** 429: Too many requests without a valid key came from this address. Wait for Retry-After, with a valid key. */
  authenticationLimit: 'authentication_limit',
  /** 429: Too many requests of the account wait for mail or events. Wait for fewer inboxes at a time; try again after Retry-After. */
  waitLimit: 'wait_limit',
  /** 429: Too many tests, retries or replays of webhooks were asked for. Try again after Retry-After. */
  manualLimit: 'manual_limit',
  /** 429: The account has used all Idempotency-Keys of 24 hours. Send the request without the key, or after Retry-After. */
  idempotencyLimit: 'idempotency_limit',
  /** 429: Too many requests of this kind. Try again after Retry-After. */
  rateLimited: 'rate_limited',
  /** 431: The head of the request is larger than 16 KiB. Send shorter headers. */
  headTooLarge: 'head_too_large',
  /** 500: The service failed. Try again; name X-Request-Id to the operator. */
  internal: 'internal',
  /** 501: The Transfer-Encoding is not known here. Send Content-Length or chunked. */
  notImplemented: 'not_implemented',
  /** 503: A part of the service cannot be reached. Try again after Retry-After; repeat a POST with its Idempotency-Key. */
  unavailable: 'unavailable',
  /** 503: Too much of this kind is under way. Try again after Retry-After. */
  busy: 'busy',
  /** 503: Other searches of text or headers are under way. Try again after Retry-After; read the pages of an account one by one. */
  searchBusy: 'search_busy',
  /** 505: The request is of another version than HTTP 1.1 or 1.0. Use HTTP/1.1. */
  versionNotSupported: 'version_not_supported',
} as const;

/** A reason that this release knows; a service may have newer ones. */
export type ErrorCode = (typeof errorCodes)[keyof typeof errorCodes];

// Judges one webhook as a receiver with npm's Standard Webhooks library does: {secret, body, headers, later} on stdin, why it is refused on stdout.
const { Webhook } = require('standardwebhooks');

const given = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const now = Date.now() + 1000 * given.later;
Date.now = () => now;
const SystemDate = Date;
globalThis.Date = class extends SystemDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [now] : parts));
  }
};

try {
  new Webhook(given.secret).verify(Buffer.from(given.body, 'base64'), given.headers);
} catch (refused) {
  process.stdout.write(refused.message || String(refused));
}

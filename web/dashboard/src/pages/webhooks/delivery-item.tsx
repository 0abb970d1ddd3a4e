import type { Attempt, Delivery } from '../../api';
import { useNow } from '../../clock';
import { ago, count, moment, span } from '../../time';
import { Button } from '../../ui/button';

const BADGES = { succeeded: 'badge good', failed: 'badge danger', pending: 'badge warn' } as const;
const WORDS = { succeeded: 'succeeded', failed: 'failed', pending: 'pending' } as const;

function AttemptItem({ attempt, number }: { attempt: Attempt; number: number }) {
  const isGood =
    attempt.statusCode !== null && attempt.statusCode >= 200 && attempt.statusCode < 300;
  return (
    <li class="attempt">
      <p class="row">
        <span class={isGood ? 'badge good' : 'badge danger'}>
          {attempt.statusCode ?? 'no answer'}
        </span>
        <span>{moment(attempt.at)}</span>
        <span class="muted">{attempt.durationMs.toLocaleString('en-US')} ms</span>
      </p>
      {attempt.error && <p class="small breaks">{attempt.error}</p>}
      {attempt.responseBody && (
        <pre
          class="source wrapped"
          tabIndex={0}
          role="region"
          aria-label={`What the receiver answered at attempt ${number}`}
        >
          {attempt.responseBody}
        </pre>
      )}
    </li>
  );
}

// One delivery with its attempts.
export function DeliveryItem({
  delivery,
  isOpen = false,
  ruleNames,
  onRetry,
}: {
  delivery: Delivery;
  isOpen?: boolean;
  ruleNames?: ReadonlyMap<string, string>;
  onRetry?: () => void;
}) {
  const now = useNow();
  const wait = delivery.nextAttemptAt ? (Date.parse(delivery.nextAttemptAt) - now) / 1000 : null;
  return (
    <li class="delivery">
      <details open={isOpen}>
        <summary>
          <span class={BADGES[delivery.status]}>{WORDS[delivery.status]}</span>
          <code class="delivery-event">{delivery.event}</code>
          <span class="muted small delivery-when" title={moment(delivery.createdAt)}>
            {ago(delivery.createdAt, now)} · {count(delivery.attempts.length, 'attempt')}
            {wait !== null &&
              delivery.status === 'pending' &&
              ` · next ${wait <= 0 ? 'now' : `in ${span(wait)}`}`}
          </span>
        </summary>
        <div class="delivery-body">
          <dl class="facts">
            <div>
              <dt>Event id</dt>
              <dd class="mono breaks">{delivery.eventId}</dd>
            </div>
            {delivery.ruleIds.length > 0 && (
              <div>
                <dt>Routed by</dt>
                <dd>{delivery.ruleIds.map((it) => ruleNames?.get(it) ?? it).join(', ')}</dd>
              </div>
            )}
          </dl>
          {delivery.attempts.length === 0 ? (
            <p class="muted">
              {delivery.status === 'failed'
                ? 'Nothing was sent: the webhook was off, or the plan had no place for it. ' +
                  'Send it again once it is on.'
                : 'Nothing was sent yet.'}
            </p>
          ) : (
            <ol class="attempts" aria-label="Attempts">
              {delivery.attempts.map((it, index) => (
                <AttemptItem key={index} attempt={it} number={index + 1} />
              ))}
            </ol>
          )}
          {onRetry && (
            <div>
              <Button size="small" icon="refresh" onClick={onRetry}>
                Send again now
              </Button>
            </div>
          )}
        </div>
      </details>
    </li>
  );
}

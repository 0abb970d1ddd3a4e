import { api, type Email, type TimelineStep } from '../../api';
import { useNow } from '../../clock';
import { useResource } from '../../resource';
import { moment, span } from '../../time';
import { Button } from '../../ui/button';
import { ErrorNotice, Loading, Notice } from '../../ui/notice';
import { stepDetail, stepTitle, webhookNames, whyNoWebhook } from './timeline-words';

type Step<Name extends TimelineStep['step']> = Extract<TimelineStep, { step: Name }>;

const BADGES = { succeeded: 'badge good', failed: 'badge danger', pending: 'badge warn' } as const;

function NextAttempt({ at }: { at: string | null }) {
  const now = useNow();
  if (at === null) return null;
  const wait = (Date.parse(at) - now) / 1000;
  return (
    <p class="muted small">
      Next attempt {wait <= 0 ? 'now' : `in ${span(wait)}`}, {moment(at)}
    </p>
  );
}

function RulesStep({ step }: { step: Step<'rules'> }) {
  return (
    <ul class="stack tight">
      {step.rules.map((it) => (
        <li key={it.ruleId} class="row">
          <span class={it.isMatch ? 'badge good' : 'badge'}>
            {it.isMatch ? 'matched' : 'did not match'}
          </span>
          <span class="breaks">{it.name ?? 'A rule that was deleted since'}</span>
        </li>
      ))}
    </ul>
  );
}

function DeliveryMade({ step }: { step: Step<'delivery'> }) {
  return (
    <>
      <p class="row">
        <span class={BADGES[step.status]}>{step.status}</span>
        <span class="breaks">{step.url ?? 'a deleted webhook'}</span>
      </p>
      {step.reason && <p class="small breaks">{step.reason}</p>}
      <NextAttempt at={step.nextAttemptAt} />
    </>
  );
}

function AttemptMade({ step, webhook }: { step: Step<'attempt'>; webhook: string | undefined }) {
  return (
    <>
      <p class="row">
        <span class={BADGES[step.outcome]}>{step.statusCode ?? 'no answer'}</span>
        <span class="breaks">{webhook}</span>
        <span class="muted">{step.durationMs.toLocaleString('en-US')} ms</span>
      </p>
      {step.error && <p class="small breaks">{step.error}</p>}
      <NextAttempt at={step.nextAttemptAt} />
    </>
  );
}

function StepItem({ step, names }: { step: TimelineStep; names: ReadonlyMap<string, string> }) {
  const detail = stepDetail(step);
  return (
    <li class="attempt">
      <p class="row">
        <strong>{stepTitle(step)}</strong>
        {step.at !== null && (
          <time class="muted small" dateTime={step.at} title={step.at}>
            {moment(step.at)}
          </time>
        )}
      </p>
      {detail && (
        <p class="small breaks">
          <bdi>{detail}</bdi>
        </p>
      )}
      {step.step === 'rules' && <RulesStep step={step} />}
      {step.step === 'delivery' && <DeliveryMade step={step} />}
      {step.step === 'attempt' && <AttemptMade step={step} webhook={names.get(step.webhookId)} />}
      {step.note && <p class="muted small">{step.note}.</p>}
    </li>
  );
}

// Shows the history of the mail, from the connection to the last attempt at a webhook.
export function MailTimeline({ email }: { email: Email }) {
  const found = useResource(`timeline ${email.emailId}`, (signal) =>
    api.timeline(email.emailId, signal),
  );
  const timeline = found.value;
  if (!timeline)
    return found.error ? (
      <ErrorNotice error={found.error} onRetry={found.reload} />
    ) : (
      <Loading what="what happened" />
    );
  const names = webhookNames(timeline);
  const why = whyNoWebhook(timeline);
  return (
    <div class="stack">
      {timeline.missing.length > 0 && (
        <Notice kind="warn">
          <p>Rules and webhooks do not answer right now: what they did is missing here.</p>
        </Notice>
      )}
      <ol class="attempts" aria-label="What happened">
        {timeline.steps.map((step, index) => (
          <StepItem key={index} step={step} names={names} />
        ))}
      </ol>
      {why && <p class="muted">{why}</p>}
      {timeline.isTruncated && (
        <p class="muted small">There is more; the log of each webhook has all of it.</p>
      )}
      <ErrorNotice error={found.error} />
      <div>
        <Button size="small" icon="refresh" isBusy={found.isLoading} onClick={found.reload}>
          Refresh
        </Button>
      </div>
    </div>
  );
}

import type { Rejection } from '../../api';
import { useNow } from '../../clock';
import type { Resource } from '../../resource';
import { ago, count, moment } from '../../time';
import { Button } from '../../ui/button';
import { ErrorNotice } from '../../ui/notice';

const REASONS: Record<Rejection['reason'], string> = {
  too_large: 'too large',
  inbox_full: 'inbox full',
  over_rate: 'too much at once',
  inbox_ended: 'after its end',
  bad_login: 'wrong password',
  fault: 'on purpose',
};

// Who sent what was refused. A wrong password comes before a sender is named.
function senderOf({ reason, mailFrom }: Rejection): string {
  if (reason === 'bad_login') return '(at the login)';
  return mailFrom || '(empty sender)';
}

function RejectionRow({ rejection }: { rejection: Rejection }) {
  const now = useNow();
  const { attemptCount, firstAt, lastAt } = rejection;
  return (
    <li class="row-item">
      <div class="row-main">
        <p class="row-title breaks">
          <bdi>{senderOf(rejection)}</bdi>
        </p>
        <p class="row-note breaks">
          <code>{rejection.reply}</code>
        </p>
        <p class="row-note">
          <span title={moment(lastAt)}>{ago(lastAt, now)}</span>
          {attemptCount > 1 && (
            <>
              {' · '}
              <span title={`The first ${moment(firstAt)}`}>{count(attemptCount, 'attempt')}</span>
            </>
          )}
        </p>
      </div>
      <span class="badge warn">{REASONS[rejection.reason]}</span>
    </li>
  );
}

// Lists why mail did not arrive: the refusals of the mail server in the last day.
export function Rejections({ found }: { found: Resource<{ rejections: Rejection[] }> }) {
  const rejections = found.value?.rejections ?? [];
  return (
    <section class="panel rejections" aria-labelledby="not-accepted">
      <div class="panel-head">
        <h2 id="not-accepted">Not accepted</h2>
        <Button size="small" icon="refresh" isBusy={found.isLoading} onClick={found.reload}>
          Look again
        </Button>
      </div>
      <ErrorNotice error={found.error} onRetry={found.reload} />
      {found.value && rejections.length === 0 && (
        <p class="panel-empty">No mail to this inbox was refused in the last 24 hours.</p>
      )}
      {rejections.length > 0 && (
        <ul class="rows">
          {rejections.map((it) => (
            <RejectionRow key={`${it.reason} ${it.mailFrom}`} rejection={it} />
          ))}
        </ul>
      )}
    </section>
  );
}

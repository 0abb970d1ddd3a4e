import { useState } from 'preact/hooks';
import { api, type EmailSummary, type Inbox } from '../../api';
import { useNow } from '../../clock';
import { useLiveUpdates } from '../../live';
import { hasFeature } from '../../plans';
import { useResource } from '../../resource';
import { paths } from '../../routes';
import { useSession } from '../../session';
import { count, left } from '../../time';
import { Button } from '../../ui/button';
import { CopyButton } from '../../ui/copy';
import { Empty, ErrorNotice, Loading } from '../../ui/notice';
import { PageHead } from '../../ui/page';
import { CreateInbox } from '../inboxes/create-inbox';
import { MailRow } from '../mail/mail-row';
import { UsageChart } from './chart';
import { Stat } from './stats';

const SHOWN = 5;

function LiveInboxes({ inboxes }: { inboxes: Inbox[] }) {
  const now = useNow();
  return (
    <section class="panel" aria-labelledby="live-title">
      <div class="panel-head">
        <h2 id="live-title">Live inboxes</h2>
        <a href={paths.inboxes}>All inboxes</a>
      </div>
      <ul class="rows">
        {inboxes.map((it) => (
          <li key={it.inboxId} class="row-item">
            <div class="row-main">
              <a class="cut mono row-title" href={paths.inbox(it.inboxId)}>
                {it.emailAddress}
              </a>
              <p class="row-note">
                {count(it.emailCount, 'mail')} · {left(it.expiresAt, now)}
              </p>
            </div>
            <CopyButton text={it.emailAddress} what={`address ${it.emailAddress}`} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function LatestMail({ emails }: { emails: EmailSummary[] }) {
  return (
    <section class="panel" aria-labelledby="latest-title">
      <div class="panel-head">
        <h2 id="latest-title">Latest mail</h2>
        <a href={paths.mail}>All mail</a>
      </div>
      {emails.length === 0 ? (
        <p class="panel-empty">
          Nothing yet. Send a mail to one of your inboxes: it appears here by itself.
        </p>
      ) : (
        <ul class="mails">
          {emails.map((it) => (
            <MailRow key={it.emailId} email={it} />
          ))}
        </ul>
      )}
    </section>
  );
}

export function Overview() {
  const session = useSession();
  const [isCreating, setCreating] = useState(false);
  const account = useResource('account', (signal) => api.account(signal));
  const usage = useResource('usage', (signal) => api.usage(signal));
  const inboxes = useResource('live', (signal) => api.inboxes({ limit: SHOWN }, signal));
  const emails = useResource('latest', (signal) => api.allEmails({ limit: SHOWN }, signal));
  useLiveUpdates(() => [account, usage, inboxes, emails].forEach((it) => it.reload()));

  const today = usage.value?.days.find((it) => it.day === new Date().toISOString().slice(0, 10));
  const hasApi = hasFeature(session.limits, 'api');
  const error = account.error ?? usage.error ?? inboxes.error ?? emails.error;

  return (
    <>
      <PageHead
        title="Overview"
        lead="What arrived, what is live, and how much of your plan today has used."
      >
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          New inbox
        </Button>
      </PageHead>
      <div class="stack loose">
        <ErrorNotice
          error={error}
          onRetry={() => [account, usage, inboxes, emails].forEach((it) => it.reload())}
        />
        {account.value && (
          <dl class="stats">
            <Stat
              icon="inbox"
              label="Live inboxes"
              value={account.value.usage.liveInboxes}
              limit={session.limits.liveInboxes}
              note="receiving now"
            />
            <Stat
              icon="send"
              label="Mails today"
              value={today?.emails ?? 0}
              note="received since 00:00 UTC"
            />
            {hasApi ? (
              <Stat
                icon="key"
                label="Requests today"
                value={account.value.usage.requestsToday}
                limit={session.limits.requestsPerDay}
                note="to the API; begins anew at 00:00 UTC"
              />
            ) : (
              <Stat
                icon="lock"
                label="API requests"
                value={0}
                note={<a href={paths.keys}>Which plans have the API</a>}
              />
            )}
            {hasFeature(session.limits, 'webhooks') ? (
              <Stat
                icon="webhook"
                label="Deliveries today"
                value={today?.deliveries ?? 0}
                note="to your webhooks"
              />
            ) : (
              <Stat
                icon="lock"
                label="Deliveries"
                value={0}
                note={<a href={paths.webhooks}>Which plans have webhooks</a>}
              />
            )}
          </dl>
        )}
        {inboxes.value?.inboxes.length === 0 ? (
          <Empty
            icon="inbox"
            title="No live inbox yet"
            action={
              <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
                Create an inbox
              </Button>
            }
          >
            Create one, give its address to whoever is to write to it, and watch the mail come in.
          </Empty>
        ) : inboxes.value && emails.value ? (
          <div class="halves">
            <LiveInboxes inboxes={inboxes.value.inboxes} />
            <LatestMail emails={emails.value.emails} />
          </div>
        ) : (
          !error && <Loading what="your inboxes" />
        )}
        {usage.value && (
          <UsageChart usage={usage.value.days} first={hasApi ? 'requests' : 'emails'} />
        )}
      </div>
      {isCreating && <CreateInbox onClose={() => setCreating(false)} />}
    </>
  );
}

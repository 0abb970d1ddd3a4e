import { useState } from 'preact/hooks';
import { api, type Delivery, type EventKind, type Webhook } from '../../api';
import { hasFeature, isPastPlan } from '../../plans';
import { useAction, useResource } from '../../resource';
import { paths } from '../../routes';
import { useSession } from '../../session';
import { count } from '../../time';
import { Button } from '../../ui/button';
import { FeatureNotice, PastPlan } from '../../ui/feature';
import { Switch } from '../../ui/field';
import { Empty, ErrorNotice, Loading, Notice } from '../../ui/notice';
import { PageHead } from '../../ui/page';
import { PlansWith } from '../plans-with';
import {
  DeleteWebhook,
  EditWebhook,
  EVENT_KINDS,
  RotateSecret,
  TestResult,
  WebhookSecret,
} from './webhook-dialogs';
import { WebhookTabs } from './webhook-tabs';

type OpenDialog =
  | { what: 'create' }
  | { what: 'edit' | 'rotate' | 'delete'; webhook: Webhook }
  | { what: 'secret'; secret: string; until?: string }
  | { what: 'tested'; delivery: Delivery }
  | null;

interface Card {
  webhook: Webhook;
  isPast: boolean;
  onOpenDialog: (dialog: OpenDialog) => void;
}

function CardTitle({ webhook, isPast }: { webhook: Webhook; isPast: boolean }) {
  return (
    <h2 class="mono breaks card-title">
      <a href={paths.webhook(webhook.webhookId)}>{webhook.url}</a> {isPast && <PastPlan />}
    </h2>
  );
}

function DeleteButton({ webhook, onOpenDialog }: Omit<Card, 'isPast'>) {
  return (
    <Button
      size="small"
      kind="danger"
      label={`Delete ${webhook.url}`}
      onClick={() => onOpenDialog({ what: 'delete', webhook })}
    >
      Delete
    </Button>
  );
}

function WebhookCard({
  webhook,
  isPast,
  onOpenDialog,
  onChanged,
}: Card & { onChanged: () => void }) {
  const testing = useAction();
  const switching = useAction();
  const [tested, setTested] = useState<EventKind>(webhook.events[0] ?? 'email.received');
  const url = webhook.url;
  return (
    <li class="panel card">
      <div class="card-head">
        <CardTitle webhook={webhook} isPast={isPast} />
        <Switch
          label={`Deliver to ${url}`}
          checked={webhook.isEnabled}
          isBusy={switching.isBusy}
          onChange={(isEnabled) =>
            void switching.run(async () => {
              await api.changeWebhook(webhook.webhookId, { isEnabled });
              onChanged();
            })
          }
        />
      </div>
      {webhook.description && <p class="breaks">{webhook.description}</p>}
      {webhook.disabledReason && <Notice kind="warn">Off: {webhook.disabledReason}</Notice>}
      <p class="row">
        {webhook.events.map((it) => (
          <span key={it} class="badge mono">
            {it}
          </span>
        ))}
      </p>
      <ErrorNotice error={testing.error ?? switching.error} />
      <div class="row card-actions">
        <select
          class="input"
          aria-label={`Event to test ${url} with`}
          value={tested}
          onChange={(event) => setTested(event.currentTarget.value as EventKind)}
        >
          {EVENT_KINDS.map((it) => (
            <option key={it} value={it}>
              {it}
            </option>
          ))}
        </select>
        <Button
          size="small"
          icon="send"
          isBusy={testing.isBusy}
          label={`Test now: ${url}`}
          onClick={() =>
            void testing.run(async () =>
              onOpenDialog({
                what: 'tested',
                delivery: await api.testWebhook(webhook.webhookId, tested),
              }),
            )
          }
        >
          Test now
        </Button>
        <a
          class="button small"
          href={paths.webhook(webhook.webhookId)}
          aria-label={`Delivery log of ${url}`}
        >
          Delivery log
        </a>
        <Button
          size="small"
          label={`Rotate secret of ${url}`}
          onClick={() => onOpenDialog({ what: 'rotate', webhook })}
        >
          Rotate secret
        </Button>
        <Button
          size="small"
          label={`Edit ${url}`}
          onClick={() => onOpenDialog({ what: 'edit', webhook })}
        >
          Edit
        </Button>
        <DeleteButton webhook={webhook} onOpenDialog={onOpenDialog} />
      </div>
    </li>
  );
}

// A webhook on a plan that has none.
function OutlivedCard({ webhook, isPast, onOpenDialog }: Card) {
  return (
    <li class="panel card">
      <div class="card-head">
        <CardTitle webhook={webhook} isPast={isPast} />
        <DeleteButton webhook={webhook} onOpenDialog={onOpenDialog} />
      </div>
      {webhook.description && <p class="breaks">{webhook.description}</p>}
    </li>
  );
}

function WebhooksOffer() {
  return (
    <FeatureNotice
      icon="webhook"
      title="Your servers hear of mail at once"
      plans={<PlansWith feature="webhooks" />}
    >
      <p>
        A webhook is a URL of yours that we call, signed, whenever a mail arrives or an inbox is
        created or ends. Failed calls are tried again for days, and a log shows each attempt.
      </p>
    </FeatureNotice>
  );
}

// Webhooks outlive their plan: past its number nothing goes to them, and they can still be deleted.
export function WebhooksPage() {
  const { limits } = useSession();
  const isOffered = hasFeature(limits, 'webhooks');
  const webhooks = useResource('webhooks', (signal) => api.webhooks(signal));
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const close = () => setDialog(null);
  const list = webhooks.value?.webhooks;
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setDialog({ what: 'create' })}>
      New webhook
    </Button>
  );
  return (
    <>
      <WebhookTabs />
      {isOffered ? (
        <PageHead
          title="Webhooks"
          lead={
            'Your servers hear of mail and inboxes the moment something happens. ' +
            `Your plan allows ${count(limits.webhooks, 'webhook')}.`
          }
        >
          {create}
        </PageHead>
      ) : (
        <PageHead title="Webhooks" />
      )}
      <div class="stack">
        {!isOffered && <WebhooksOffer />}
        <ErrorNotice error={webhooks.error} onRetry={webhooks.reload} />
        {isOffered && !list && webhooks.isLoading && <Loading what="your webhooks" />}
        {list && list.length > 0 && (
          <ul class="stack">
            {list.map((it, index) => {
              const card = {
                webhook: it,
                isPast: isPastPlan(index, list.length, limits.webhooks),
                onOpenDialog: setDialog,
              };
              return isOffered ? (
                <WebhookCard key={it.webhookId} {...card} onChanged={webhooks.reload} />
              ) : (
                <OutlivedCard key={it.webhookId} {...card} />
              );
            })}
          </ul>
        )}
        {isOffered && list?.length === 0 && (
          <Empty icon="webhook" title="No webhook yet" action={create}>
            Create one with the URL of a server of yours. We sign what we send, try again when it
            fails, and keep a log of every attempt.
          </Empty>
        )}
      </div>
      {dialog?.what === 'create' && (
        <EditWebhook
          onClose={close}
          onDone={webhooks.reload}
          onMade={(made) => setDialog({ what: 'secret', secret: made.secret })}
        />
      )}
      {dialog?.what === 'edit' && (
        <EditWebhook webhook={dialog.webhook} onClose={close} onDone={webhooks.reload} />
      )}
      {dialog?.what === 'rotate' && (
        <RotateSecret
          webhook={dialog.webhook}
          onClose={close}
          onRotated={(secret, until) => setDialog({ what: 'secret', secret, until })}
        />
      )}
      {dialog?.what === 'delete' && (
        <DeleteWebhook webhook={dialog.webhook} onClose={close} onDone={webhooks.reload} />
      )}
      {dialog?.what === 'secret' && (
        <WebhookSecret secret={dialog.secret} previousUntil={dialog.until} onClose={close} />
      )}
      {dialog?.what === 'tested' && <TestResult delivery={dialog.delivery} onClose={close} />}
    </>
  );
}

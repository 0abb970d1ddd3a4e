import { useState } from 'preact/hooks';
import { api, type DeliveryStatus } from '../../api';
import { hasFeature } from '../../plans';
import { useAction, useListing, useResource } from '../../resource';
import { paths } from '../../routes';
import { useSession } from '../../session';
import { useAnnounce } from '../../ui/announce';
import { Button } from '../../ui/button';
import { Icon } from '../../ui/icon';
import { Empty, ErrorNotice, Loading, Notice } from '../../ui/notice';
import { useTitle } from '../../ui/page';
import { DeliveryItem } from './delivery-item';
import { Replay } from './webhook-dialogs';

const FILTERS: { status: DeliveryStatus | ''; text: string }[] = [
  { status: '', text: 'All' },
  { status: 'pending', text: 'Pending' },
  { status: 'succeeded', text: 'Succeeded' },
  { status: 'failed', text: 'Failed' },
];

// Lists the deliveries of one webhook with its answers, and sends them again.
export function WebhookLog({ params: { webhookId } }: { params: { webhookId: string } }) {
  const { limits } = useSession();
  const mayRoute = hasFeature(limits, 'rules');
  const announce = useAnnounce();
  const [status, setStatus] = useState<DeliveryStatus | ''>('');
  const [isReplaying, setReplaying] = useState(false);
  const retrying = useAction();
  const webhook = useResource(
    webhookId,
    async (signal) =>
      (await api.webhooks(signal)).webhooks.find((it) => it.webhookId === webhookId) ?? null,
  );
  const names = useResource(
    `names ${mayRoute}`,
    async (signal) =>
      new Map(mayRoute ? (await api.rules(signal)).rules.map((it) => [it.id, it.name]) : []),
  );
  const deliveries = useListing(`${webhookId} ${status}`, async (cursor, signal) => {
    const found = await api.deliveries(
      webhookId,
      { limit: 25, cursor, ...(status && { status }) },
      signal,
    );
    return { items: found.deliveries, nextCursor: found.nextCursor };
  });
  useTitle('Delivery log');
  const list = deliveries.value;

  async function retry(deliveryId: string) {
    await api.retry(webhookId, deliveryId);
    announce('It is sent again');
    deliveries.reload();
  }

  return (
    <>
      <p class="crumb">
        <a href={paths.webhooks}>
          <Icon name="back" />
          Webhooks
        </a>
      </p>
      <header class="page-head">
        <div>
          <h1 tabIndex={-1}>Delivery log</h1>
          {webhook.value && <p class="lead mono breaks">{webhook.value.url}</p>}
        </div>
        <div class="page-actions">
          <Button
            icon="refresh"
            isBusy={deliveries.isLoading && !!list}
            onClick={deliveries.reload}
          >
            Refresh
          </Button>
          <Button onClick={() => setReplaying(true)}>Replay …</Button>
        </div>
      </header>
      <div class="stack">
        {webhook.value?.disabledReason && (
          <Notice kind="warn">This webhook is off: {webhook.value.disabledReason}</Notice>
        )}
        <div class="segments" role="group" aria-label="Which deliveries">
          {FILTERS.map((it) => (
            <button
              key={it.status}
              type="button"
              aria-pressed={it.status === status}
              onClick={() => setStatus(it.status)}
            >
              {it.text}
            </button>
          ))}
        </div>
        <ErrorNotice error={retrying.error} />
        <ErrorNotice error={deliveries.error} onRetry={deliveries.reload} />
        {!list && deliveries.isLoading && <Loading what="the log" />}
        {list && list.items.length > 0 && (
          <ul class="panel rows">
            {list.items.map((it) => (
              <DeliveryItem
                key={it.deliveryId}
                delivery={it}
                ruleNames={names.value}
                onRetry={() => void retrying.run(() => retry(it.deliveryId))}
              />
            ))}
          </ul>
        )}
        {list && list.items.length === 0 && (
          <Empty icon="send" title={status ? `No ${status} delivery` : 'Nothing was sent yet'}>
            {status
              ? 'Look at all of them instead.'
              : 'The next event goes here. Try “Test now” on the webhooks page.'}
          </Empty>
        )}
        {list?.nextCursor && (
          <p class="more">
            <Button isBusy={deliveries.isLoading} onClick={deliveries.more}>
              Show older
            </Button>
          </p>
        )}
      </div>
      {isReplaying && webhook.value && (
        <Replay
          webhook={webhook.value}
          onClose={() => setReplaying(false)}
          onDone={deliveries.reload}
        />
      )}
    </>
  );
}

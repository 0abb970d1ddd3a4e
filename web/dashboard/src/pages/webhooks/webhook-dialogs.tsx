import { useState } from 'preact/hooks';
import {
  api,
  type CreatedWebhook,
  type Delivery,
  type EventKind,
  type NewReplay,
  type Webhook,
} from '../../api';
import { count, localInput, moment } from '../../time';
import { useAnnounce } from '../../ui/announce';
import { Button } from '../../ui/button';
import { OneTimeSecret } from '../../ui/copy';
import { Dialog, FormDialog } from '../../ui/dialog';
import { CheckField, SelectField, TextField } from '../../ui/field';
import { Notice } from '../../ui/notice';
import { DeliveryItem } from './delivery-item';

const EVENT_HINTS: Record<EventKind, string> = {
  'email.received': 'a mail arrived in one of your inboxes',
  'inbox.created': 'an inbox was created',
  'inbox.expired': 'an inbox ended or was deleted',
};
export const EVENT_KINDS = Object.keys(EVENT_HINTS) as EventKind[];

interface Done {
  onClose: () => void;
  onDone: () => void;
}

// A new webhook, or a change of one that is there.
export function EditWebhook({
  webhook,
  onClose,
  onDone,
  onMade,
}: Done & { webhook?: Webhook; onMade?: (made: CreatedWebhook) => void }) {
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [description, setDescription] = useState(webhook?.description ?? '');
  const [events, setEvents] = useState<EventKind[]>(webhook?.events ?? [...EVENT_KINDS]);

  async function save() {
    const fields = { url: url.trim(), description: description.trim(), events };
    if (webhook) await api.changeWebhook(webhook.webhookId, fields);
    else onMade?.(await api.createWebhook(fields));
    if (webhook) onClose();
    onDone();
  }

  return (
    <FormDialog
      title={webhook ? 'Edit webhook' : 'New webhook'}
      submit={webhook ? 'Save' : 'Create webhook'}
      onClose={onClose}
      onSubmit={save}
    >
      <TextField
        label="URL"
        type="url"
        required
        isMono
        value={url}
        onInput={setUrl}
        placeholder="https://example.com/hooks/mail"
        hint="We send each event there as a signed POST."
      />
      <TextField label="Description" isOptional value={description} onInput={setDescription} />
      <fieldset class="stack tight">
        <legend class="legend">Events</legend>
        {EVENT_KINDS.map((kind) => (
          <CheckField
            key={kind}
            label={<code>{kind}</code>}
            hint={EVENT_HINTS[kind]}
            checked={events.includes(kind)}
            onChange={(isOn) =>
              setEvents(EVENT_KINDS.filter((it) => (it === kind ? isOn : events.includes(it))))
            }
          />
        ))}
      </fieldset>
    </FormDialog>
  );
}

export function WebhookSecret({
  secret,
  previousUntil,
  onClose,
}: {
  secret: string;
  previousUntil?: string;
  onClose: () => void;
}) {
  return (
    <Dialog title="Signing secret" onClose={onClose}>
      <div class="dialog-body">
        <Notice kind="warn">
          Copy it now: it is shown this once. Your receiver needs it to check that what it gets
          comes from us.
        </Notice>
        <OneTimeSecret value={secret} what="secret" />
        {previousUntil && (
          <p>
            The old secret stays good until {moment(previousUntil)}; until then each delivery is
            signed with both.
          </p>
        )}
        <p class="muted small">
          Signatures follow Standard Webhooks: headers webhook-id, webhook-timestamp and
          webhook-signature.
        </p>
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>I have copied it</Button>
      </div>
    </Dialog>
  );
}

export function RotateSecret({
  webhook,
  onClose,
  onRotated,
}: {
  webhook: Webhook;
  onClose: () => void;
  onRotated: (secret: string, until: string) => void;
}) {
  return (
    <FormDialog
      title="Make a new secret?"
      submit="Make a new secret"
      onClose={onClose}
      onSubmit={async () => {
        const rotated = await api.rotateSecret(webhook.webhookId);
        onRotated(rotated.secret, rotated.previousSecretExpiresAt);
      }}
    >
      <p>
        Both the old and the new secret sign every delivery for 24 hours, so that you can change
        your receiver without losing any.
      </p>
    </FormDialog>
  );
}

export function DeleteWebhook({ webhook, onClose, onDone }: Done & { webhook: Webhook }) {
  const announce = useAnnounce();
  return (
    <FormDialog
      title="Delete this webhook?"
      submit="Delete webhook"
      kind="danger"
      onClose={onClose}
      onSubmit={async () => {
        await api.deleteWebhook(webhook.webhookId);
        announce('The webhook is deleted');
        onClose();
        onDone();
      }}
    >
      <p class="breaks">
        Nothing more is sent to <code>{webhook.url}</code>, and its log is gone. A webhook that
        routing rules name cannot be deleted before them.
      </p>
    </FormDialog>
  );
}

export function TestResult({ delivery, onClose }: { delivery: Delivery; onClose: () => void }) {
  return (
    <Dialog title="Test event sent" onClose={onClose}>
      <div class="dialog-body">
        <ul class="rows framed">
          <DeliveryItem delivery={delivery} isOpen />
        </ul>
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

const HOUR_MS = 3_600_000;

// Sends once more what was sent since a time.
export function Replay({ webhook, onClose, onDone }: Done & { webhook: Webhook }) {
  const announce = useAnnounce();
  const [since, setSince] = useState(() => localInput(Date.now() - 24 * HOUR_MS));
  const [status, setStatus] = useState<NonNullable<NewReplay['status']>>('failed');
  return (
    <FormDialog
      title="Replay deliveries"
      submit="Replay"
      onClose={onClose}
      onSubmit={async () => {
        const { replayedCount } = await api.replay(webhook.webhookId, {
          since: new Date(since).toISOString(),
          status,
        });
        announce(`${count(replayedCount, 'delivery', 'deliveries')} sent again`);
        onClose();
        onDone();
      }}
    >
      <p>
        Each is sent again with the same webhook-id, so that your receiver can tell what it has
        already.
      </p>
      <TextField
        label="Since"
        type="datetime-local"
        required
        value={since}
        onInput={setSince}
        hint="In your own time zone."
      />
      <SelectField
        label="Which"
        value={status}
        options={[
          { value: 'failed', text: 'Failed ones' },
          { value: 'succeeded', text: 'Succeeded ones' },
        ]}
        onChange={setStatus}
      />
    </FormDialog>
  );
}

import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { api, type CreatedKey, type Key } from '../../api';
import { BASE_PATH } from '../../base-path';
import { useNow } from '../../clock';
import { hasFeature } from '../../plans';
import { useResource } from '../../resource';
import { useSession } from '../../session';
import { ago, count, left, moment } from '../../time';
import { useAnnounce } from '../../ui/announce';
import { Button } from '../../ui/button';
import { OneTimeSecret } from '../../ui/copy';
import { Dialog, FormDialog } from '../../ui/dialog';
import { FeatureNotice, PastPlan } from '../../ui/feature';
import { Empty, ErrorNotice, Loading, Notice } from '../../ui/notice';
import { PageHead } from '../../ui/page';
import { PlansWith } from '../plans-with';
import { CreateKey } from './create-key';

type OpenDialog =
  { what: 'create' } | { what: 'made'; key: CreatedKey } | { what: 'revoke'; key: Key } | null;

function KeyMade({ made, onClose }: { made: CreatedKey; onClose: () => void }) {
  return (
    <Dialog title="Your new key" onClose={onClose}>
      <div class="dialog-body">
        <Notice kind="warn">
          Copy it now and keep it safe. It is shown this once: we store only what is needed to
          recognize it.
        </Notice>
        <OneTimeSecret value={made.key} what="key" />
        <p class="muted small">Send it with every request, in the header X-API-Key:</p>
        <pre class="source wrapped">{`curl -H "X-API-Key: $KEY" ${location.origin}${BASE_PATH}/v1/inboxes`}</pre>
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>I have copied it</Button>
      </div>
    </Dialog>
  );
}

function RevokeKey({
  revoked,
  onClose,
  onDone,
}: {
  revoked: Key;
  onClose: () => void;
  onDone: () => void;
}) {
  const announce = useAnnounce();
  return (
    <FormDialog
      title="Revoke this key?"
      submit="Revoke key"
      kind="danger"
      onClose={onClose}
      onSubmit={async () => {
        await api.revokeKey(revoked.keyId);
        announce(`Revoked ${revoked.label}`);
        onClose();
        onDone();
      }}
    >
      <p class="breaks">
        Whatever uses <strong>{revoked.label}</strong> (<code>{revoked.prefix}…</code>) is refused
        within a second. This cannot be undone.
      </p>
    </FormDialog>
  );
}

// After a restore of the database, until the operator activates the key.
function Suspended() {
  return <span class="badge warn">suspended by the operator</span>;
}

// Returns why a key does not work now.
function WhyRefused({ known }: { known: Key }) {
  if (known.isExpired) return <span class="badge warn">expired</span>;
  if (known.isSuspended) return <Suspended />;
  return known.isActive ? null : <PastPlan />;
}

// Lists the rights of a restricted key.
function Restrictions({ known, now }: { known: Key; now: number }) {
  const parts = [
    known.scopes && <code key="scopes">{known.scopes.join(', ')}</code>,
    known.tag !== null && (
      <span key="tag">
        only inboxes tagged <code>{known.tag}</code>
      </span>
    ),
    known.expiresAt && (
      <span key="expiry" title={moment(known.expiresAt)}>
        {known.isExpired ? 'expired' : `expires, ${left(known.expiresAt, now)}`}
      </span>
    ),
  ].filter(Boolean);
  if (parts.length === 0) return null;
  return (
    <p class="row-note breaks">
      {parts.map((part, at) => (
        <Fragment key={at}>
          {at > 0 && ' · '}
          {part}
        </Fragment>
      ))}
    </p>
  );
}

function KeyRow({ known, onRevoke }: { known: Key; onRevoke: () => void }) {
  const now = useNow();
  return (
    <li class="row-item">
      <div class="row-main">
        <p class="row-title breaks">
          {known.label} <WhyRefused known={known} />
        </p>
        <p class="row-note">
          <code>{known.prefix}…</code> · created{' '}
          <span title={moment(known.createdAt)}>{ago(known.createdAt, now)}</span> ·{' '}
          {known.lastUsedAt ? (
            <>
              last used <span title={moment(known.lastUsedAt)}>{ago(known.lastUsedAt, now)}</span>
            </>
          ) : (
            'never used'
          )}
        </p>
        <Restrictions known={known} now={now} />
      </div>
      <Button size="small" kind="danger" label={`Revoke ${known.label}`} onClick={onRevoke}>
        Revoke
      </Button>
    </li>
  );
}

function KeysOffer() {
  return (
    <FeatureNotice
      icon="key"
      title="Inboxes from your programs"
      plans={<PlansWith feature="api" />}
    >
      <p>
        With an API key a test or a script creates inboxes, waits for mail and reads the codes in
        it, without anybody looking. Everything on this page works for you without a key.
      </p>
    </FeatureNotice>
  );
}

// Keys outlive their plan: they open nothing then, and can still be revoked.
export function KeysPage() {
  const { limits } = useSession();
  const isOffered = hasFeature(limits, 'api');
  const keys = useResource('keys', (signal) => api.keys(signal));
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const close = () => setDialog(null);
  const list = keys.value?.keys;
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setDialog({ what: 'create' })}>
      New key
    </Button>
  );
  return (
    <>
      {isOffered ? (
        <PageHead
          title="API Keys"
          lead={
            'A key opens the API for your programs. ' +
            `Your plan allows ${count(limits.apiKeys, 'key')}; each can be revoked by itself.`
          }
        >
          {create}
        </PageHead>
      ) : (
        <PageHead title="API Keys" />
      )}
      <div class="stack">
        {!isOffered && <KeysOffer />}
        <ErrorNotice error={keys.error} onRetry={keys.reload} />
        {isOffered && !list && keys.isLoading && <Loading what="your keys" />}
        {list && list.length > 0 && (
          <ul class="panel rows">
            {list.map((it) => (
              <KeyRow
                key={it.keyId}
                known={it}
                onRevoke={() => setDialog({ what: 'revoke', key: it })}
              />
            ))}
          </ul>
        )}
        {isOffered && list?.length === 0 && (
          <Empty icon="key" title="No key yet" action={create}>
            Create one to make inboxes and read mail from your programs.{' '}
            <a href={`${BASE_PATH}/docs`}>The API is described here.</a>
          </Empty>
        )}
      </div>
      {dialog?.what === 'create' && (
        <CreateKey
          onClose={close}
          onMade={(key) => {
            setDialog({ what: 'made', key });
            keys.reload();
          }}
        />
      )}
      {dialog?.what === 'made' && <KeyMade made={dialog.key} onClose={close} />}
      {dialog?.what === 'revoke' && (
        <RevokeKey revoked={dialog.key} onClose={close} onDone={keys.reload} />
      )}
    </>
  );
}

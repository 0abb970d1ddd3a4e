import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { api, type Capture, type Inbox, type Rejection } from '../../api';
import { useNow } from '../../clock';
import { hasFeature } from '../../plans';
import { useAction } from '../../resource';
import { paths } from '../../routes';
import { useSession } from '../../session';
import { ago, count, moment } from '../../time';
import { useAnnounce } from '../../ui/announce';
import { Button } from '../../ui/button';
import { CopyButton, OneTimeSecret } from '../../ui/copy';
import { Dialog, FormDialog } from '../../ui/dialog';
import { SelectField } from '../../ui/field';
import { ErrorNotice, Notice } from '../../ui/notice';
import { PlansWith } from '../plans-with';
import { FRAMEWORKS, loginOf, portsText, type Login } from './capture-lines';

type OpenDialog = { what: 'shown'; capture: Capture } | { what: 'rotate' } | { what: 'end' } | null;

// The lines for one framework, chosen from all.
function Lines({ login }: { login: Login }) {
  const [name, setName] = useState(FRAMEWORKS[0]?.name ?? '');
  const framework = FRAMEWORKS.find((it) => it.name === name);
  if (!framework) return null;
  const text = framework.lines(login);
  return (
    <div class="stack tight">
      <SelectField
        label="Lines for"
        value={name}
        options={FRAMEWORKS.map((it) => ({ value: it.name, text: it.name }))}
        onChange={setName}
      />
      <p class="muted small">{framework.file}</p>
      <pre class="source wrapped">{text}</pre>
      <div>
        <CopyButton key={name} text={text} what={`lines for ${name}`} isLabeled />
      </div>
    </div>
  );
}

// The login with its password, which no later page shows.
export function LoginMade({ capture, onClose }: { capture: Capture; onClose: () => void }) {
  const login = loginOf(capture);
  return (
    <Dialog title="The login of this inbox" onClose={onClose} isWide>
      <div class="dialog-body">
        <Notice kind="warn">
          Copy the password now and keep it safe. It is shown this once: we store only what is
          needed to recognize it.
        </Notice>
        <OneTimeSecret value={capture.password ?? ''} what="password" />
        {capture.url && <OneTimeSecret value={capture.url} what="URL" />}
        {login && <Lines login={login} />}
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>I have copied it</Button>
      </div>
    </Dialog>
  );
}

const GRACES = [
  { value: '0', text: 'ends at once' },
  { value: '3600', text: 'stays good for 1 hour' },
  { value: '86400', text: 'stays good for 1 day' },
];

function RotateLogin({
  inbox,
  onClose,
  onRotated,
}: {
  inbox: Inbox;
  onClose: () => void;
  onRotated: (capture: Capture) => void;
}) {
  const [grace, setGrace] = useState('0');
  return (
    <FormDialog
      title="Make a new password?"
      submit="Make a new password"
      onClose={onClose}
      onSubmit={async () =>
        onRotated(await api.rotateCapture(inbox.inboxId, { graceSeconds: Number(grace) }))
      }
    >
      <SelectField
        label="The password before"
        value={grace}
        options={GRACES}
        onChange={setGrace}
        hint="So that your applications can be given the new one meanwhile."
      />
    </FormDialog>
  );
}

function EndLogin({
  inbox,
  onClose,
  onDone,
}: {
  inbox: Inbox;
  onClose: () => void;
  onDone: () => void;
}) {
  const announce = useAnnounce();
  return (
    <FormDialog
      title="End this login?"
      submit="End login"
      kind="danger"
      onClose={onClose}
      onSubmit={async () => {
        await api.endCapture(inbox.inboxId);
        announce('The login has ended');
        onClose();
        onDone();
      }}
    >
      <p>
        Applications that use it are refused within a second. The inbox and its mail stay. This
        cannot be undone.
      </p>
    </FormDialog>
  );
}

function CopiedFact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="row-head">
        <span class="mono breaks">{value}</span>
        <CopyButton text={value} what={name.toLowerCase()} />
      </dd>
    </div>
  );
}

function LoginFacts({
  capture,
  rejections,
}: {
  capture: Capture;
  rejections: readonly Rejection[];
}) {
  const now = useNow();
  const login = loginOf(capture);
  const until = capture.previousValidUntil;
  const wrongPasswords = rejections
    .filter((it) => it.reason === 'bad_login')
    .reduce((sum, it) => sum + it.attemptCount, 0);
  return (
    <>
      {login === null && (
        <Notice kind="warn">The service takes no mail by logins at present.</Notice>
      )}
      <dl class="facts">
        {capture.host !== null && <CopiedFact name="Host" value={capture.host} />}
        {login && (
          <div>
            <dt>Ports</dt>
            <dd>{portsText(capture.ports)}</dd>
          </div>
        )}
        <CopiedFact name="User" value={capture.user} />
        <div>
          <dt>Password</dt>
          <dd>was shown when it was made; a new one replaces it</dd>
        </div>
        {until !== null && Date.parse(until) > now && (
          <div>
            <dt>Password before</dt>
            <dd>good until {moment(until)}</dd>
          </div>
        )}
        <div>
          <dt>Last used</dt>
          <dd title={moment(capture.lastUsedAt)}>
            {capture.lastUsedAt === null ? 'never' : ago(capture.lastUsedAt, now)}
          </dd>
        </div>
        {wrongPasswords > 0 && (
          <div>
            <dt>Wrong password</dt>
            <dd>{count(wrongPasswords, 'attempt')} in the last 24 hours</dd>
          </div>
        )}
      </dl>
      {login && <Lines login={login} />}
    </>
  );
}

function NoLogin({ inbox, onMade }: { inbox: Inbox; onMade: (capture: Capture) => void }) {
  const { limits } = useSession();
  const making = useAction();
  return (
    <>
      <p>
        With an SMTP user and password your application sends to anybody, and all of it lands in
        this inbox and goes nowhere else.
      </p>
      <ErrorNotice error={making.error} />
      {hasFeature(limits, 'captures') ? (
        <div>
          <Button
            icon="key"
            isBusy={making.isBusy}
            onClick={() =>
              void making.run(async () => onMade(await api.createCapture(inbox.inboxId)))
            }
          >
            Make a login
          </Button>
        </div>
      ) : (
        <p>
          Comes with{' '}
          <strong>
            <PlansWith feature="captures" />
          </strong>
          . <a href={paths.account}>Your plan and its limits</a>
        </p>
      )}
    </>
  );
}

// The login of an inbox: what an application is configured with.
export function SendHere({
  inbox,
  rejections,
  onChanged,
}: {
  inbox: Inbox;
  rejections: readonly Rejection[];
  onChanged: () => void;
}) {
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const { capture } = inbox;
  const heading = useRef<HTMLHeadingElement>(null);
  const hasChanged = useRef(false);
  const close = () => setDialog(null);
  useLayoutEffect(() => {
    // The button that had the focus went with the login that it made or ended.
    if (!hasChanged.current || dialog || document.activeElement !== document.body) return;
    hasChanged.current = false;
    heading.current?.focus({ preventScroll: true });
  });

  function changed() {
    hasChanged.current = true;
    onChanged();
  }
  function show(made: Capture) {
    setDialog({ what: 'shown', capture: made });
    changed();
  }
  return (
    <section class="panel send-here" aria-labelledby="send-here">
      <div class="panel-head">
        <h2 id="send-here" tabIndex={-1} ref={heading}>
          Send here
        </h2>
        {capture && (
          <div class="row">
            <Button size="small" icon="refresh" onClick={() => setDialog({ what: 'rotate' })}>
              New password
            </Button>
            <Button size="small" kind="danger" onClick={() => setDialog({ what: 'end' })}>
              End login
            </Button>
          </div>
        )}
      </div>
      <div class="send-here-body">
        {capture ? (
          <LoginFacts capture={capture} rejections={rejections} />
        ) : (
          <NoLogin inbox={inbox} onMade={show} />
        )}
      </div>
      {dialog?.what === 'shown' && <LoginMade capture={dialog.capture} onClose={close} />}
      {dialog?.what === 'rotate' && <RotateLogin inbox={inbox} onClose={close} onRotated={show} />}
      {dialog?.what === 'end' && <EndLogin inbox={inbox} onClose={close} onDone={changed} />}
    </section>
  );
}

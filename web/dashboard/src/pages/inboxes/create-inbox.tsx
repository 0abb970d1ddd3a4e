import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, type Inbox } from '../../api';
import { hasFeature } from '../../plans';
import { useResource } from '../../resource';
import { paths } from '../../routes';
import { useSession } from '../../session';
import { life, lives } from '../../time';
import { useAnnounce } from '../../ui/announce';
import { Button, IconButton } from '../../ui/button';
import { FormDialog } from '../../ui/dialog';
import { CheckField, Field, SelectField, TextField } from '../../ui/field';
import { domainFor, inboxRequest, optionsOf, type Typed } from './inbox-request';
import { LifeField } from './life-field';
import { LoginMade } from './send-here';

const DAY = 86_400;
const MAX_PAIRS = 20;
const ALL_OF_IT = 'all';
const AGES = [
  { value: ALL_OF_IT, text: 'as long as the inbox lives' },
  ...[3_600, DAY, 7 * DAY].map((it) => ({ value: String(it), text: life(it) })),
];
const WHEN_FULL = [
  { value: 'refuse', text: 'new mail is refused' },
  { value: 'dropOldest', text: 'the oldest mail is dropped before' },
] as const;

function Metadata({
  pairs,
  onChange,
}: {
  pairs: Typed['metadata'];
  onChange: (pairs: Typed['metadata']) => void;
}) {
  const change = (at: number, what: Partial<Typed['metadata'][number]>) =>
    onChange(pairs.map((pair, index) => (index === at ? { ...pair, ...what } : pair)));
  return (
    <fieldset class="stack tight">
      <legend class="legend">
        Metadata <span class="optional">optional, comes back with the inbox</span>
      </legend>
      {pairs.map((pair, index) => (
        <div class="pair" key={index}>
          <input
            class="input"
            aria-label={`Name of pair ${index + 1}`}
            placeholder="name"
            value={pair.name}
            onInput={(event) => change(index, { name: event.currentTarget.value })}
          />
          <input
            class="input"
            aria-label={`Value of pair ${index + 1}`}
            placeholder="value"
            value={pair.value}
            onInput={(event) => change(index, { value: event.currentTarget.value })}
          />
          <IconButton
            icon="close"
            label={`Remove pair ${index + 1}`}
            onClick={() => onChange(pairs.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      {pairs.length < MAX_PAIRS && (
        <div>
          <Button
            size="small"
            icon="plus"
            onClick={() => onChange([...pairs, { name: '', value: '' }])}
          >
            Add a pair
          </Button>
        </div>
      )}
    </fieldset>
  );
}

// How the inbox keeps mail, and itself.
function Keeping({ typed, onChange }: { typed: Typed; onChange: (what: Partial<Typed>) => void }) {
  const { limits } = useSession();
  const { renewOnUse, retention } = optionsOf(typed);
  const changeRetention = (what: Typed['retention']) =>
    onChange({ retention: { ...typed.retention, ...what } });
  return (
    <>
      {hasFeature(limits, 'api') && (
        <CheckField
          label="Lives on while it is used"
          hint={
            typed.capture
              ? 'Each use of its login counts its life from then on.'
              : 'Each look at it counts its life from then on; mail that comes does not.'
          }
          checked={renewOnUse}
          onChange={(it) => onChange({ renewOnUse: it })}
        />
      )}
      <SelectField
        label="Keeps each mail for"
        value={retention.maxAgeSeconds === null ? ALL_OF_IT : String(retention.maxAgeSeconds)}
        options={AGES}
        onChange={(age) =>
          changeRetention({ maxAgeSeconds: age === ALL_OF_IT ? null : Number(age) })
        }
      />
      <SelectField
        label="When it is full"
        value={retention.whenFull}
        options={WHEN_FULL}
        onChange={(whenFull) => changeRetention({ whenFull })}
      />
    </>
  );
}

// Everything an inbox can be made with; all of it has a default, so that one click does.
export function CreateInbox({ onClose }: { onClose: () => void }) {
  const { limits } = useSession();
  const { route } = useLocation();
  const announce = useAnnounce();
  const domains = useResource('domains', (signal) => api.domains(signal));
  const choices = lives(limits.maxTtlSeconds);
  const [typed, setTyped] = useState<Typed>({
    localPart: '',
    domain: '',
    capture: false,
    ttlSeconds: choices.includes(DAY) ? DAY : limits.maxTtlSeconds,
    renewOnUse: null,
    retention: {},
    name: '',
    tags: '',
    metadata: [],
  });
  const [created, setCreated] = useState<Inbox | null>(null); // with a login to be shown
  const change = (what: Partial<Typed>) => setTyped((was) => ({ ...was, ...what }));
  const known = domains.value?.domains ?? [];
  const domain = typed.domain || known.find((it) => it.isDefault)?.domain || known[0]?.domain || '';
  const mayCatchAll = limits.catchAlls > 0 && known.some((it) => it.takesSubdomains);

  function show(inbox: Inbox) {
    onClose();
    route(paths.inbox(inbox.inboxId));
  }
  async function create() {
    const inbox = await api.createInbox(
      inboxRequest({ ...typed, domain: domainFor(typed.localPart, domain, known) }),
    );
    announce(`Created ${inbox.emailAddress}`);
    if (inbox.capture) setCreated(inbox);
    else show(inbox);
  }

  if (created?.capture)
    return <LoginMade capture={created.capture} onClose={() => show(created)} />;

  return (
    <FormDialog title="New inbox" submit="Create inbox" onClose={onClose} onSubmit={create}>
      <Field
        label="Address"
        isOptional
        hint={
          mayCatchAll
            ? 'Leave it empty for a random address nobody can guess; * takes all mail of a subdomain.'
            : 'Leave it empty for a random address nobody can guess.'
        }
      >
        {(control) => (
          <div class="address-input">
            <input
              {...control}
              class="input mono"
              placeholder="random"
              autoComplete="off"
              autoCapitalize="none"
              spellcheck={false}
              value={typed.localPart}
              onInput={(event) => change({ localPart: event.currentTarget.value })}
            />
            <span class="at" aria-hidden="true">
              @
            </span>
            <select
              class="input mono"
              aria-label="Domain"
              value={domain}
              onChange={(event) => change({ domain: event.currentTarget.value })}
            >
              {known.map((it) => (
                <option key={it.domain}>{it.domain}</option>
              ))}
            </select>
          </div>
        )}
      </Field>
      {hasFeature(limits, 'captures') && (
        <CheckField
          label="With a login"
          hint="An application that sends with it reaches this inbox alone, whomever it writes to."
          checked={typed.capture}
          onChange={(capture) => change({ capture })}
        />
      )}
      <LifeField
        label="Lives for"
        hint="You can extend or end it at any time."
        maxSeconds={limits.maxTtlSeconds}
        seconds={typed.ttlSeconds}
        onChange={(ttlSeconds) => change({ ttlSeconds })}
      />
      <Keeping typed={typed} onChange={change} />
      <TextField
        label="Name"
        isOptional
        maxLength={100}
        value={typed.name}
        onInput={(name) => change({ name })}
        placeholder="Checkout tests"
      />
      <TextField
        label="Tags"
        isOptional
        value={typed.tags}
        onInput={(tags) => change({ tags })}
        hint="Up to 10, with commas between them."
        placeholder="ci, staging"
      />
      <Metadata pairs={typed.metadata} onChange={(metadata) => change({ metadata })} />
    </FormDialog>
  );
}

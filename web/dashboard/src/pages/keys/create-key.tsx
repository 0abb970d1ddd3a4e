import { useState } from 'preact/hooks';
import { api, type CreatedKey } from '../../api';
import { localInput } from '../../time';
import { FormDialog } from '../../ui/dialog';
import { CheckField, SelectField, TextField } from '../../ui/field';
import { SCOPES, SCOPE_HINTS, canHave, keyRequest, type Typed } from './key-request';

function Scopes({
  typed,
  onChange,
}: {
  typed: Typed;
  onChange: (scopes: Typed['scopes']) => void;
}) {
  return (
    <fieldset class="stack tight">
      <legend class="legend">What it may do</legend>
      {SCOPES.filter((it) => canHave(it, typed.tag)).map((scope) => (
        <CheckField
          key={scope}
          label={<code>{scope}</code>}
          hint={SCOPE_HINTS[scope]}
          checked={typed.scopes.includes(scope)}
          onChange={(isOn) =>
            onChange(SCOPES.filter((it) => (it === scope ? isOn : typed.scopes.includes(it))))
          }
        />
      ))}
    </fieldset>
  );
}

// A key and what it may do; what a key may do cannot be changed later.
export function CreateKey({
  onClose,
  onMade,
}: {
  onClose: () => void;
  onMade: (key: CreatedKey) => void;
}) {
  const [typed, setTyped] = useState<Typed>({
    label: '',
    isLimited: false,
    scopes: ['inboxes:read', 'inboxes:write', 'emails:read'],
    tag: '',
    expiresAt: '',
  });
  const change = (what: Partial<Typed>) => setTyped((was) => ({ ...was, ...what }));
  return (
    <FormDialog
      title="New API key"
      submit="Create key"
      onClose={onClose}
      onSubmit={async () => onMade(await api.createKey(keyRequest(typed)))}
    >
      <TextField
        label="Label"
        required
        maxLength={100}
        value={typed.label}
        onInput={(label) => change({ label })}
        placeholder="CI of the shop"
        hint="For you, to tell your keys apart."
      />
      <SelectField
        label="Scopes"
        value={typed.isLimited ? 'chosen' : 'everything'}
        options={[
          { value: 'everything', text: 'It may do everything' },
          { value: 'chosen', text: 'Only what I choose' },
        ]}
        onChange={(what) => change({ isLimited: what === 'chosen' })}
        hint="Give CI jobs and agents no more than they need."
      />
      {typed.isLimited && <Scopes typed={typed} onChange={(scopes) => change({ scopes })} />}
      <TextField
        label="Tag"
        isOptional
        maxLength={50}
        value={typed.tag}
        onInput={(tag) => change({ tag })}
        placeholder="ci"
        hint="The key sees and makes inboxes with this tag alone, and no webhooks."
      />
      <TextField
        label="Expires"
        isOptional
        type="datetime-local"
        value={typed.expiresAt}
        onInput={(expiresAt) => change({ expiresAt })}
        placeholder={localInput(Date.now())}
        hint="From then on the key is refused. Empty: when you revoke it."
      />
    </FormDialog>
  );
}

import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  isOptional?: boolean;
  children: (control: { id: string; 'aria-describedby': string | undefined }) => ComponentChildren;
}

// A control with its label and hint tied to it for screen readers.
export function Field({ label, hint, isOptional, children }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>
        {label} {isOptional && <span class="optional">optional</span>}
      </label>
      {children({ id, 'aria-describedby': hint ? hintId : undefined })}
      {hint && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface TextFieldProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
  hint?: ComponentChildren;
  isOptional?: boolean;
  type?: 'text' | 'email' | 'password' | 'url' | 'number' | 'datetime-local';
  required?: boolean;
  minLength?: number;
  maxLength?: number;
  min?: number;
  max?: number;
  placeholder?: string;
  autoComplete?: string;
  pattern?: string;
  isMono?: boolean;
}

export function TextField({
  label,
  value,
  onInput,
  hint,
  isOptional,
  type = 'text',
  isMono,
  autoComplete = 'off',
  ...rest
}: TextFieldProps) {
  return (
    <Field label={label} hint={hint} isOptional={isOptional}>
      {(control) => (
        <input
          {...control}
          {...rest}
          class={isMono ? 'input mono' : 'input'}
          {...({ type } as { type: 'text' })}
          value={value}
          autoComplete={autoComplete}
          autoCapitalize="none"
          spellcheck={false}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export function SelectField<V extends string>({
  label,
  value,
  options,
  onChange,
  hint,
}: {
  label: string;
  value: V;
  options: readonly { value: V; text: string }[];
  onChange: (value: V) => void;
  hint?: ComponentChildren;
}) {
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <select
          {...control}
          class="input"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value as V)}
        >
          {options.map((it) => (
            <option key={it.value} value={it.value}>
              {it.text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckField({
  label,
  hint,
  checked,
  onChange,
}: {
  label: ComponentChildren;
  hint?: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}) {
  const id = useId();
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

// On or off at once, without saving.
export function Switch({
  label,
  checked,
  isBusy,
  onChange,
}: {
  label: string;
  checked: boolean;
  isBusy?: boolean;
  onChange: (on: boolean) => void;
}) {
  return (
    <button
      type="button"
      role="switch"
      class="switch"
      aria-checked={checked}
      aria-label={label}
      aria-busy={isBusy}
      onClick={() => isBusy || onChange(!checked)}
    >
      <span class="switch-track" aria-hidden="true" />
      <span class="switch-text" aria-hidden="true">
        {checked ? 'On' : 'Off'}
      </span>
    </button>
  );
}

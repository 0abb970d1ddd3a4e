import { useState } from 'preact/hooks';
import { life, lives } from '../../time';
import { SelectField, TextField } from '../../ui/field';

const MIN_SECONDS = 60;
const OTHER = 'other';

// The lifetime of an inbox: one of the usual spans, or any number of minutes up to the plan's
// maximum.
export function LifeField({
  label,
  hint,
  maxSeconds,
  seconds,
  onChange,
}: {
  label: string;
  hint: string;
  maxSeconds: number;
  seconds: number;
  onChange: (seconds: number) => void;
}) {
  const [minutes, setMinutes] = useState<string | null>(null);
  const choices = lives(maxSeconds);
  return (
    <>
      <SelectField
        label={label}
        value={minutes === null ? String(seconds) : OTHER}
        options={[
          ...choices.map((it) => ({ value: String(it), text: life(it) })),
          { value: OTHER, text: 'Another time …' },
        ]}
        onChange={(chosen) => {
          setMinutes(chosen === OTHER ? String(Math.round(seconds / MIN_SECONDS)) : null);
          if (chosen !== OTHER) onChange(Number(chosen));
        }}
        hint={hint}
      />
      {minutes !== null && (
        <TextField
          label="Minutes"
          type="number"
          required
          min={1}
          max={Math.floor(maxSeconds / MIN_SECONDS)}
          value={minutes}
          onInput={(typed) => {
            setMinutes(typed);
            onChange(Math.round(Number(typed) * MIN_SECONDS));
          }}
        />
      )}
    </>
  );
}

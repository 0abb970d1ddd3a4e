import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from '../../ui/icon';

interface StatProps {
  icon: IconName;
  label: string;
  value: number;
  limit?: number | null;
  note: ComponentChildren;
}

// One number of today, with a bar where a plan limits it.
export function Stat({ icon, label, value, limit, note }: StatProps) {
  const isNear = limit != null && limit > 0 && value / limit >= 0.8;
  return (
    <div class="stat">
      <dt>
        <Icon name={icon} />
        {label}
      </dt>
      <dd>
        <p class="stat-value numbers">
          {value.toLocaleString('en-US')}
          {limit != null && limit > 0 && (
            <span class="stat-limit"> of {limit.toLocaleString('en-US')}</span>
          )}
        </p>
        {limit != null && limit > 0 && (
          <meter
            class={isNear ? 'meter near' : 'meter'}
            min={0}
            max={limit}
            value={value}
            aria-label={`${label}: ${value} of ${limit}`}
          />
        )}
        <p class="stat-note">{note}</p>
      </dd>
    </div>
  );
}

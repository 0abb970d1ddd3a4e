import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { describe } from '../problem';
import { Button } from './button';
import { Icon, type IconName } from './icon';

// A failure in words. It is read out when it appears.
export function ErrorNotice({
  error,
  title,
  onRetry,
}: {
  error: unknown;
  title?: string;
  onRetry?: () => void;
}) {
  const here = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error) here.current?.scrollIntoView({ block: 'nearest' });
  }, [error]);
  if (!error) return null;
  const said = describe(error);
  const { detail, requestId } = said;
  return (
    <div class="notice danger" role="alert" ref={here}>
      <Icon name="warn" />
      <div>
        <p class="notice-title">{title ?? said.title}</p>
        <p>{detail}</p>
        {requestId && (
          <p class="request-id">
            Request <code>{requestId}</code>
          </p>
        )}
        {onRetry && (
          <Button size="small" icon="refresh" onClick={onRetry}>
            Try again
          </Button>
        )}
      </div>
    </div>
  );
}

export function Notice({
  kind = 'info',
  children,
}: {
  kind?: 'info' | 'warn' | 'good';
  children: ComponentChildren;
}) {
  return (
    <div class={`notice ${kind}`}>
      <Icon name={kind === 'warn' ? 'warn' : 'check'} />
      <div>{children}</div>
    </div>
  );
}

// Stands in for an empty list: what would be here and how to get it.
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon: IconName;
  title: string;
  children: ComponentChildren;
  action?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      <h2 class="empty-title">{title}</h2>
      <p>{children}</p>
      {action}
    </div>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <div class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      <span>Loading {what} …</span>
    </div>
  );
}

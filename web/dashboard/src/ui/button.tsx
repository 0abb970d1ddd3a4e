import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon';

interface ButtonProps {
  children: ComponentChildren;
  kind?: 'primary' | 'plain' | 'quiet' | 'danger';
  size?: 'small';
  icon?: IconName;
  type?: 'button' | 'submit';
  isBusy?: boolean;
  disabled?: boolean;
  label?: string;
  expanded?: boolean;
  onClick?: () => void;
}

// While busy it stays focusable and says so, but does nothing.
export function Button({
  children,
  kind = 'plain',
  size,
  icon,
  type = 'button',
  isBusy = false,
  disabled,
  label,
  expanded,
  onClick,
}: ButtonProps) {
  return (
    <button
      type={type}
      class={`button ${kind} ${size ?? ''}`}
      disabled={disabled}
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy || undefined}
      aria-label={label}
      aria-expanded={expanded}
      onClick={(event) => {
        if (isBusy) event.preventDefault();
        else onClick?.();
      }}
    >
      {isBusy ? <span class="spinner" aria-hidden="true" /> : icon && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}

// A button that is a picture only; its label is read and shown as a hint.
export function IconButton({
  icon,
  label,
  onClick,
  pressed,
}: {
  icon: IconName;
  label: string;
  onClick: () => void;
  pressed?: boolean;
}) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      aria-pressed={pressed}
      title={label}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

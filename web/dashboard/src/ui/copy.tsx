import { useEffect, useRef, useState } from 'preact/hooks';
import { useAnnounce } from './announce';
import { Icon } from './icon';

async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // no permission, or a page that came without TLS from another machine
  }
}

// Copies a text and says so; `what` names it, as in "Copy address".
export function CopyButton({
  text,
  what,
  isLabeled = false,
  kind = 'plain',
}: {
  text: string;
  what: string;
  isLabeled?: boolean;
  kind?: 'plain' | 'primary';
}) {
  const [isDone, setDone] = useState(false);
  const announce = useAnnounce();
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);

  async function copy() {
    const done = await toClipboard(text);
    announce(
      done
        ? `Copied ${what}`
        : `The browser did not allow copying. Select the ${what} and copy it by hand.`,
    );
    if (!done) return;
    setDone(true);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setDone(false), 2000);
  }

  return (
    <button
      type="button"
      class={isLabeled ? `button ${kind}` : 'icon-button'}
      aria-label={isLabeled ? undefined : `Copy ${what}`}
      title={isLabeled ? undefined : `Copy ${what}`}
      onClick={() => void copy()}
    >
      <Icon name={isDone ? 'check' : 'copy'} />
      {isLabeled && <span>{isDone ? 'Copied' : `Copy ${what}`}</span>}
    </button>
  );
}

// Something that is shown this once, with a button to copy it.
export function OneTimeSecret({ value, what }: { value: string; what: string }) {
  return (
    <div class="secret">
      <code class="secret-value" aria-label={what}>
        {value}
      </code>
      <CopyButton text={value} what={what} isLabeled kind="primary" />
    </div>
  );
}

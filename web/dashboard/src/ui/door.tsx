import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Mark } from './mark';
import { useTitle } from './page';
import { ThemeChoice } from './theme-choice';

// The card that forms of people who are not signed in stand on.
export function DoorCard({
  title,
  lead,
  children,
  foot,
}: {
  title: string;
  lead?: ComponentChildren;
  children: ComponentChildren;
  foot?: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useTitle(title);
  // Runs before the form is painted, so that a person who types at once is not interrupted.
  useLayoutEffect(() => heading.current?.focus(), [title]);
  return (
    <div class="door">
      <main class="door-main">
        <p class="brand">
          <Mark />
          Temporary Inbox
        </p>
        <div class="door-card">
          <h1 tabIndex={-1} ref={heading}>
            {title}
          </h1>
          {lead && <p class="lead">{lead}</p>}
          {children}
        </div>
        {foot && <div class="door-foot">{foot}</div>}
      </main>
      <footer class="door-theme">
        <ThemeChoice />
      </footer>
    </div>
  );
}

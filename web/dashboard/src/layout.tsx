import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { planName } from './plans';
import { paths } from './routes';
import { useSession, useStanding } from './session';
import { ThemeChoice } from './ui/theme-choice';
import { Icon, type IconName } from './ui/icon';
import { Button } from './ui/button';
import { Mark } from './ui/mark';

const MAIN: [string, string, IconName][] = [
  ['Overview', paths.overview, 'overview'],
  ['Inboxes', paths.inboxes, 'inbox'],
  ['Mail', paths.mail, 'search'],
];
const SETTINGS: [string, string, IconName][] = [
  ['API Keys', paths.keys, 'key'],
  ['Webhooks', paths.webhooks, 'webhook'],
  ['Account', paths.account, 'account'],
];

function Links({ entries, path }: { entries: [string, string, IconName][]; path: string }) {
  return (
    <ul>
      {entries.map(([text, href, icon]) => {
        const isHere = path === href;
        const isWithin = href !== paths.overview && path.startsWith(`${href}/`);
        return (
          <li key={href}>
            <a href={href} aria-current={isHere ? 'page' : isWithin ? 'true' : undefined}>
              <Icon name={icon} />
              {text}
            </a>
          </li>
        );
      })}
    </ul>
  );
}

// Returns the page of an address: another mail of the same inbox is not another page.
function pageOf(path: string): string {
  return path.startsWith(`${paths.inboxes}/`) ? path.split('/').slice(0, 4).join('/') : path;
}

// Moves the focus to the new page's heading, so that keyboard and screen reader start where the eye
// does, and reads the session and its plan again.
function useNavigation(path: string, isFresh: boolean, refresh: () => void): void {
  const page = pageOf(path);
  const before = useRef(isFresh ? '' : page);
  useLayoutEffect(() => {
    if (before.current === page) return;
    before.current = page;
    window.scrollTo(0, 0);
    const target =
      document.querySelector<HTMLElement>('main h1') ?? document.querySelector<HTMLElement>('main');
    target?.focus({ preventScroll: true });
    refresh();
  }, [page, refresh]);
}

// The frame around every page of someone who is signed in.
export function Layout({ children }: { children: ComponentChildren }) {
  const { path } = useLocation();
  const session = useSession();
  const [isOpen, setOpen] = useState(false);
  const { standing, refresh } = useStanding();
  useNavigation(path, standing.is === 'in' && standing.isFresh, refresh);
  useEffect(() => setOpen(false), [path]);
  useEffect(() => {
    const isWide = window.matchMedia('(min-width: 861px)');
    const close = () => setOpen(false);
    isWide.addEventListener('change', close);
    return () => isWide.removeEventListener('change', close);
  }, []);

  const top = useRef<HTMLElement>(null);
  function closeMenu() {
    setOpen(false);
    top.current?.querySelector('button')?.focus();
  }

  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="top" ref={top}>
        <a class="brand" href={paths.overview}>
          <Mark />
          Temporary Inbox
        </a>
        <Button
          kind="quiet"
          icon={isOpen ? 'close' : 'menu'}
          expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          Menu
        </Button>
      </header>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions --
          Escape is heard here from whichever of its links and buttons has the focus. */}
      <aside
        aria-label="Navigation"
        class={isOpen ? 'side open' : 'side'}
        onKeyDown={(event) => event.key === 'Escape' && closeMenu()}
      >
        <a class="brand" href={paths.overview}>
          <Mark />
          Temporary Inbox
        </a>
        {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events --
            Clicks come up from its links, which the keyboard clicks as well. */}
        <nav aria-label="Main" onClick={() => setOpen(false)}>
          <Links entries={MAIN} path={path} />
          <p class="nav-title" id="nav-settings">
            Settings
          </p>
          <Links entries={SETTINGS} path={path} />
        </nav>
        <div class="side-foot">
          <p class="who" title={session.emailAddress}>
            {session.emailAddress}
          </p>
          <p class="plan-line">{planName(session.plan)} plan</p>
          <ThemeChoice />
        </div>
      </aside>
      <main id="content" tabIndex={-1} inert={isOpen}>
        {children}
      </main>
    </div>
  );
}

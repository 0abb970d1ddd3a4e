import { useLocation } from 'preact-iso';
import { paths } from '../../routes';

const TABS: [string, string][] = [
  ['Endpoints', paths.webhooks],
  ['Routing rules', paths.rules],
];

// Webhooks are set up on two pages: where mail can go, and which mail goes where. Each page has an
// address of its own, so these are links.
export function WebhookTabs() {
  const { path } = useLocation();
  return (
    <nav class="tab-list sections" aria-label="Webhooks">
      {TABS.map(([text, href]) => (
        <a key={href} class="tab" href={href} aria-current={path === href ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}

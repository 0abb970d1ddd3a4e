// Turns a stranger's HTML into a document that can be looked at and nothing else. README.md has the
// reasons.

import DOMPurify from 'dompurify';

import { contentIdOf, parsed, Pictures, type InlinePart } from './pictures';
import { safeStyleAttribute, safeStyleSheet } from './safe-css';

export type { InlinePart } from './pictures';

export interface MailDocumentOptions {
  /** True if the reader asked for remote pictures. */
  showRemotePictures: boolean;
  /** The parts its HTML names by `cid:` (see `referencedContentIds`). */
  inlineParts: readonly InlinePart[];
}

export interface MailDocument {
  /** For `srcdoc`. */
  html: string;
  /** The number of remote pictures that were left out. */
  hiddenPictures: number;
}

/**
 * The frame's `sandbox` attribute: neither scripts nor forms nor our origin. A link the reader
 * clicks opens in a tab of its own, which is a page like any other and knows nothing of this one
 * (`noopener noreferrer`); without scripts nothing but such a click can open one.
 */
export const MAIL_FRAME_SANDBOX = 'allow-popups allow-popups-to-escape-sandbox';

const TAGS = (
  'html head body style a abbr address article aside b bdi bdo big blockquote br caption center ' +
  'cite code col colgroup dd del details dfn dir div dl dt em figcaption figure font footer ' +
  'h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark menu nav ol p pre q rp rt ruby s samp ' +
  'section small span strike strong sub summary sup table tbody td tfoot th thead time tr tt ' +
  'u ul var wbr'
).split(' ');

const ATTRIBUTES = (
  'abbr align alink alt bgcolor border bordercolor cellpadding cellspacing char charoff class ' +
  'clear color cols colspan compact coords datetime dir face frame headers height href hspace id ' +
  'lang link noshade nowrap open reversed role rowspan rules scope shape size span src start ' +
  'style summary text title type valign value vlink vspace width'
).split(' ');

// Schemes that a click may open. Relative addresses are gone by then: they would lead into the
// dashboard.
const LINK_PROTOCOLS = new Set(['http:', 'https:', 'mailto:', 'tel:']);

// Senders write for white paper, so the frame is white in the dashboard's dark colors too. White is
// the frame's own background, so that a mail's `bgcolor` counts.
// Tables with a fixed width shrink where there is less room.
const OWN_STYLE =
  'html { color: #1c1c1e; color-scheme: light; } ' +
  'body { margin: 16px; font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; } ' +
  'img { max-width: 100%; height: auto; } table { max-width: 100%; }';

function policy(showRemotePictures: boolean): string {
  const pictures = showRemotePictures ? 'data: https:' : 'data:';
  return (
    `default-src 'none'; img-src ${pictures}; style-src 'unsafe-inline'; ` +
    "form-action 'none'; base-uri 'none'"
  );
}

function cleanLink(element: Element): void {
  const url = parsed(element.getAttribute('href') ?? '');
  if (url && LINK_PROTOCOLS.has(url.protocol)) element.setAttribute('href', url.href);
  else element.removeAttribute('href');
}

function firstCandidate(srcset: string | null): string {
  return (srcset ?? '').trim().split(/[\s,]+/, 1)[0] ?? '';
}

function cleanPicture(element: Element, pictures: Pictures): void {
  const resolved = pictures.resolve(
    element.getAttribute('src') ?? firstCandidate(element.getAttribute('srcset')),
  );
  element.removeAttribute('src');
  if (resolved !== null) element.setAttribute('src', resolved);
}

function cleanStyle(element: Element, pictures: Pictures): void {
  const background = element.getAttribute('background');
  const picture = background === null ? null : pictures.resolve(background);
  const declared = element.getAttribute('style');
  let style = declared === null ? '' : safeStyleAttribute(declared, pictures);
  if (picture !== null)
    style = `background-image: url("${picture.replace(/["\\\n]/g, '')}"); ${style}`;
  element.removeAttribute('style');
  if (style !== '') element.setAttribute('style', style);
}

// A form's named fields hide its own methods, so no form is kept.
function isPlain(node: Node): boolean {
  return node instanceof HTMLElement && !(node instanceof HTMLFormElement);
}

/**
 * Makes the purifier of one mail: DOMPurify decides over tags and attributes, and checks once more
 * whatever the hooks wrote.
 */
function cleanTree(html: string, pictures: Pictures): HTMLElement {
  const purifier = DOMPurify(window);
  purifier.addHook('uponSanitizeElement', (node) => {
    if (node.nodeName === 'STYLE')
      node.textContent = safeStyleSheet(node.textContent ?? '', pictures);
  });
  purifier.addHook('beforeSanitizeAttributes', (element) => {
    if (!isPlain(element)) return;
    if (element.hasAttribute('href')) cleanLink(element);
    if (element.nodeName === 'IMG') cleanPicture(element, pictures);
    else element.removeAttribute('src');
    cleanStyle(element, pictures);
  });
  purifier.addHook('afterSanitizeAttributes', (element) => {
    if (!isPlain(element)) return;
    if (element.hasAttribute('href') && element.nodeName !== 'A') element.removeAttribute('href');
    if (!element.hasAttribute('href')) return;
    element.setAttribute('target', '_blank');
    element.setAttribute('rel', 'noopener noreferrer');
  });
  const root = purifier.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOWED_URI_REGEXP: /^(?:(?:https?|mailto|tel):|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$))/i,
    ALLOW_DATA_ATTR: false,
    WHOLE_DOCUMENT: true,
    RETURN_DOM: true,
  });
  return root as HTMLElement; // of a document that is never shown: what it holds loads nothing
}

/**
 * Makes the document. Never throws for anything a mail holds; what cannot be kept safely is left
 * out.
 */
export function readMailHtml(html: string, options: MailDocumentOptions): MailDocument {
  const pictures = new Pictures(options.showRemotePictures, options.inlineParts);
  const root = cleanTree(html, pictures);
  const sheets = Array.from(root.querySelectorAll('head style'), (style) => style.outerHTML).join(
    '\n',
  );
  const body = root.querySelector('body')?.outerHTML ?? '<body></body>';
  const head = [
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy(options.showRemotePictures)}">`,
    '<meta name="referrer" content="no-referrer">',
    '<meta http-equiv="x-dns-prefetch-control" content="off">',
    '<title>Mail</title>',
    `<style>${OWN_STYLE}</style>`,
    sheets,
  ];
  return {
    html: `<!doctype html><html lang=""><head>${head.join('\n')}</head>${body}</html>`,
    hiddenPictures: pictures.hidden,
  };
}

/** The document alone, for `<iframe sandbox={MAIL_FRAME_SANDBOX} srcdoc>`. */
export function safeMailDocument(html: string, options: MailDocumentOptions): string {
  return readMailHtml(html, options).html;
}

/** The Content-IDs a mail's HTML shows as pictures: only these parts need to be fetched. */
export function referencedContentIds(html: string): string[] {
  const found = new Set<string>();
  for (const [address] of html.matchAll(/cid:[^\s"'<>)\\]+/gi)) {
    const contentId = contentIdOf(address.replace(/&amp;/g, '&'));
    if (contentId) found.add(contentId);
  }
  return [...found];
}

// A picture's address in a mail becomes nothing, the bytes of a part of the same mail, or (if the
// reader asked for remote pictures) an https address.

/**
 * A part of the mail that its HTML can show by `cid:`, as the API returns attachments: `content` is
 * base64.
 */
export interface InlinePart {
  contentId: string | null;
  contentType: string;
  content: string;
}

// No SVG: it is a document, not a picture.
const PICTURE_TYPE = /^image\/(?:png|gif|jpe?g|pjpeg|webp|avif|bmp|x-icon|vnd\.microsoft\.icon)$/i;
const PICTURE_BYTES = /^data:(image\/[a-z.+-]+);base64,([a-z0-9+/=\s]*)$/i;
const BASE64 = /^[a-z0-9+/=\s]*$/i;

function bareContentId(text: string): string {
  return text.trim().replace(/^<|>$/g, '');
}

/**
 * Returns the Content-ID that a `cid:` address names, else null. RFC 2392: percent-encoded, without
 * the angle brackets.
 */
export function contentIdOf(address: string): string | null {
  const found = /^\s*cid:(.*)$/is.exec(address);
  if (!found) return null;
  const named = found[1] ?? '';
  try {
    return bareContentId(decodeURIComponent(named));
  } catch {
    return bareContentId(named);
  }
}

/**
 * Turns the picture addresses of one mail into ones that may stay, and counts the remote ones that
 * were left out. None of its results is a relative address: that would lead to the dashboard
 * itself.
 */
export class Pictures {
  hidden = 0;
  private readonly parts = new Map<string, string>();

  constructor(
    private readonly showsRemote: boolean,
    inlineParts: readonly InlinePart[],
  ) {
    for (const part of inlineParts) {
      const type = part.contentType.split(';', 1)[0]?.trim() ?? '';
      if (part.contentId !== null && PICTURE_TYPE.test(type) && BASE64.test(part.content))
        this.parts.set(
          bareContentId(part.contentId),
          `data:${type.toLowerCase()};base64,${part.content.replace(/\s+/g, '')}`,
        );
    }
  }

  /** An address that may be loaded, or null. */
  resolve(address: string): string | null {
    const contentId = contentIdOf(address);
    if (contentId !== null) return this.parts.get(contentId) ?? null;
    const bytes = PICTURE_BYTES.exec(address.trim());
    if (bytes)
      return PICTURE_TYPE.test(bytes[1] ?? '')
        ? `data:${(bytes[1] ?? '').toLowerCase()};base64,${(bytes[2] ?? '').replace(/\s+/g, '')}`
        : null;
    const remote = remoteAddress(address);
    if (remote === null) return null;
    if (this.showsRemote) return remote;
    this.hidden += 1;
    return null;
  }
}

/**
 * Returns the https form of a remote address, else null. Over plain http anyone on the way would
 * learn who reads what.
 */
function remoteAddress(address: string): string | null {
  // `//host/x` takes the scheme of the page around it.
  const absolute = /^\s*[/\\]{2}/.test(address) ? `https:${address.trim()}` : address;
  const url = parsed(absolute);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.hostname === '')
    return null;
  url.protocol = 'https:';
  url.username = '';
  url.password = '';
  return url.href;
}

/**
 * Returns the address as browsers read it (tabs, newlines and case gone), or null for a relative or
 * broken one.
 */
export function parsed(address: string): URL | null {
  try {
    return new URL(address);
  } catch {
    return null;
  }
}

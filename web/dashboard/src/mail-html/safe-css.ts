// Writes the style sheets and style attributes of a mail anew, from what the browser's own CSS
// parser understood of them.

import type { Pictures } from './pictures';

// Functions that are not listed are dropped: those that load (image-set, src, cross-fade, element),
// look something up (var, attr, env), or are not known yet.
const FUNCTIONS = new Set(
  (
    'rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix calc min max clamp url ' +
    'linear-gradient radial-gradient conic-gradient repeating-linear-gradient ' +
    'repeating-radial-gradient repeating-conic-gradient rect inset circle ellipse polygon ' +
    'counter counters matrix translate translatex translatey scale scalex scaley rotate skew ' +
    'skewx skewy fit-content minmax repeat'
  ).split(' '),
);
const PICTURE_PROPERTIES = new Set(['background-image', 'list-style-image', 'border-image-source']);
const FUNCTION_NAME = /([a-z-]+)\(/gi;
const ADDRESS = /url\("([^"]*)"\)/g;
// A backslash may hide a name from the lists above; `<` could end the style element.
const UNREADABLE = /[\\<]|\/\*/;
const MEDIA = /^[a-z0-9 ,.:()/>=-]*$/i;

/** One declaration's value as it may stay, or null. */
function safeValue(property: string, value: string, pictures: Pictures): string | null {
  // Addresses first and apart: they are the one place where any character may stand.
  const addresses: string[] = [];
  const rest = value.replace(ADDRESS, (_, address: string) => {
    addresses.push(address);
    return '';
  });
  if (property.startsWith('--') || UNREADABLE.test(rest)) return null;
  for (const [, name = ''] of rest.matchAll(FUNCTION_NAME)) {
    if (name.toLowerCase() === 'url' || !FUNCTIONS.has(name.toLowerCase())) return null;
  }
  if (addresses.length === 0) return value;
  if (!PICTURE_PROPERTIES.has(property)) return null;
  const resolved = addresses.map((address) => pictures.resolve(address));
  if (resolved.some((address) => address === null || /["\\<\n]/.test(address))) return null;
  let next = 0;
  return value.replace(ADDRESS, () => `url("${resolved[next++] ?? ''}")`);
}

/** Declarations, without those that could load, run or hide something. */
function safeDeclarations(style: CSSStyleDeclaration, pictures: Pictures): string {
  const kept: string[] = [];
  for (const property of Array.from(style)) {
    const value = safeValue(property, style.getPropertyValue(property), pictures);
    const priority = style.getPropertyPriority(property) === 'important' ? ' !important' : '';
    if (value !== null && value !== '') kept.push(`${property}: ${value}${priority}`);
  }
  return kept.join('; ');
}

/** A style attribute's text. */
export function safeStyleAttribute(text: string, pictures: Pictures): string {
  const element = document.implementation.createHTMLDocument('').createElement('span');
  element.style.cssText = text;
  return safeDeclarations(element.style, pictures);
}

function safeRules(rules: CSSRuleList, pictures: Pictures): string {
  let text = '';
  for (const rule of Array.from(rules)) {
    // Keeps plain rules and media queries alone: no @import, @font-face, @namespace, @keyframes,
    // @property, no nested rules.
    if (rule instanceof CSSStyleRule) {
      const declarations = safeDeclarations(rule.style, pictures);
      if (declarations !== '' && !/[<{}]/.test(rule.selectorText))
        text += `${rule.selectorText} { ${declarations} }\n`;
    } else if (rule instanceof CSSMediaRule && MEDIA.test(rule.media.mediaText)) {
      text += `@media ${rule.media.mediaText} {\n${safeRules(rule.cssRules, pictures)}}\n`;
    }
  }
  return text;
}

/** A style element's text; parsed apart from any document, so that reading it loads nothing. */
export function safeStyleSheet(text: string, pictures: Pictures): string {
  const sheet = new CSSStyleSheet();
  try {
    // Some mail programs wrap their sheets into HTML comments.
    sheet.replaceSync(text.replace(/<!--|-->/g, ' '));
  } catch {
    return '';
  }
  return safeRules(sheet.cssRules, pictures);
}

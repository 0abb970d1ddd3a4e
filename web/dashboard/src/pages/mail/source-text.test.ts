import { describe, expect, it } from 'vitest';
import { sourceText } from './source-text';

describe('the source of a message', () => {
  it('is read as UTF-8', () => {
    expect(sourceText(new TextEncoder().encode('Subject: Grüße').buffer)).toBe('Subject: Grüße');
  });

  it('is read byte by byte where it is no UTF-8', () => {
    expect(sourceText(new Uint8Array([0x47, 0x72, 0xfc, 0xdf, 0x65]).buffer)).toBe('Grüße');
  });
});

// Decodes a received message for reading: as UTF-8 if it is valid UTF-8, else one character a byte.
export function sourceText(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

// The browser saves it and never shows it: whatever the mail called it, here it is nameless bytes.
export function save(content: BlobPart, filename: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = filename || 'attachment';
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

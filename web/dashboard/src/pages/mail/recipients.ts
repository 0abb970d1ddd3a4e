// Whether mail came to another address than the inbox's own: to a name of a catch-all, by a login,
// or with a `+tag`.
export function namesOthers(recipients: readonly string[], inboxAddress: string): boolean {
  const own = inboxAddress.toLowerCase();
  return recipients.some((it) => it.toLowerCase() !== own);
}

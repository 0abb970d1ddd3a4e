import { expect, test } from 'vitest';
import { namesOthers } from './recipients';

test('each name of a catch-all is another address than its own', () => {
  expect(namesOthers(['ann@team.example'], '*@team.example')).toBe(true);
});

test('mail by a login names whom it was sent to', () => {
  expect(namesOthers(['ann@shop.example'], 'k3v9@inbox.example')).toBe(true);
  expect(namesOthers(['k3v9@inbox.example', 'ann@shop.example'], 'k3v9@inbox.example')).toBe(true);
});

test('the address of the inbox is no other one, whatever its case', () => {
  expect(namesOthers(['K3V9@Inbox.Example'], 'k3v9@inbox.example')).toBe(false);
  expect(namesOthers(['k3v9+order@inbox.example'], 'k3v9@inbox.example')).toBe(true);
  expect(namesOthers([], 'k3v9@inbox.example')).toBe(false);
});

import { expect, test } from 'vitest';
import { readSearch } from './search-words';

test('words are a phrase of the text', () => {
  expect(readSearch('  is on   its way ', false).filters).toEqual({ text: 'is on its way' });
  expect(readSearch('order "on its  way" 10:30', false).filters).toEqual({
    text: 'order on its  way 10:30',
  });
  expect(readSearch('', false)).toEqual({ filters: {}, notes: [] });
});

test('a name with a colon is a filter', () => {
  expect(
    readSearch('from:robot@ To:ann SUBJECT:"your code" tag:run-4711 welcome', false).filters,
  ).toEqual({ from: 'robot@', to: 'ann', subject: 'your code', tag: 'run-4711', text: 'welcome' });
  expect(readSearch('recipient:signup-4711@', true).filters).toEqual({ recipient: 'signup-4711@' });
  expect(readSearch('has:code has:Link has:attachment is:unread', false).filters).toEqual({
    hasCode: true,
    hasLink: true,
    hasAttachment: true,
    isRead: false,
  });
  expect(readSearch('is:read', false).filters).toEqual({ isRead: true });
});

test('another name with a colon is a word', () => {
  expect(readSearch('https://a.example/verify Re: hello', true).filters).toEqual({
    text: 'https://a.example/verify Re: hello',
  });
});

test('what is still being typed is no filter yet', () => {
  for (const typed of ['from:', 'recipient:', 'subject:"', 'has:', 'is:', '"', 'from: ""'])
    expect(readSearch(typed, false)).toEqual({ filters: {}, notes: [] });
  expect(readSearch('subject:"your co', false).filters).toEqual({ subject: 'your co' });
});

test('what is in no filter is said', () => {
  expect(readSearch('has:money', false)).toEqual({
    filters: {},
    notes: ['has: takes code, link or attachment.'],
  });
  expect(readSearch('is:new', false).notes).toEqual(['is: takes read or unread.']);
  expect(readSearch('from:a from:b is:read is:unread', false)).toEqual({
    filters: { from: 'a', isRead: true },
    notes: ['from: counts once.', 'is: counts once.'],
  });
  expect(readSearch('tag:a', true)).toEqual({
    filters: {},
    notes: ['tag: is for the page Mail, over all inboxes.'],
  });
});

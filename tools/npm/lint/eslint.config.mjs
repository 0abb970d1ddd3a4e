// ESLint's rules for `./dev check dashboard`, which runs it from the top of the repository.
//
// typescript-eslint needs the compiler's JavaScript interface, which TypeScript 7 has not: so it
// reads the sources with the TypeScript 6 of this folder. Types are checked by the dashboard's own
// compiler (`npm run check` there).

import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import a11y from 'eslint-plugin-jsx-a11y';
import hooks from 'eslint-plugin-react-hooks';
import globals from 'globals';
import ts from 'typescript-eslint';

const DASHBOARD = 'web/dashboard';
const CLIENT = 'clients/typescript';
const project = (name) => ({ parserOptions: { project: `${import.meta.dirname}/${name}` } });
const knownSafe = (...names) =>
  names.map((name) => ({ from: 'package', package: 'node:test', name }));

// Calls of Playwright and node:assert that return promises. Where no type says so,
// no-floating-promises is blind, and a test goes on before the click it awaited.
const LATER =
  'check|click|dblclick|fill|focus|goBack|goto|press|pressSequentially|reload|selectOption|' +
  'setViewportSize|uncheck|waitFor|waitForEvent|waitForFunction|waitForLoadState|waitForURL|' +
  'rejects|doesNotReject';

export default defineConfig(
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  // Written by programs.
  { ignores: [`${CLIENT}/src/openapi.ts`, `${CLIENT}/src/contract.ts`] },
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx,mjs,cjs}'],
    extends: [ts.configs.strictTypeChecked],
    rules: {
      // `() => setOpen(false)` is how an event handler is written; nobody reads what it returns.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Both have one obvious text; objects, null and undefined are what must not get into one.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // `== null` asks for null and undefined at once.
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  {
    files: [`${DASHBOARD}/**/*.{ts,tsx}`],
    languageOptions: project('tsconfig.dashboard.json'),
  },
  {
    files: [`${DASHBOARD}/src/**/*.{ts,tsx}`],
    extends: [a11y.flatConfigs.strict],
    plugins: { 'react-hooks': hooks },
    settings: { 'jsx-a11y': { attributes: { for: ['for'] } } },
    rules: {
      // The plugin's other rules are about what the React Compiler may assume. Preact has none, and
      // a ref that is written while rendering is how hooks here keep the latest callback.
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      // A region that scrolls must be reachable by keyboard: axe asks for that in tests/browser.
      'jsx-a11y/no-noninteractive-tabindex': ['error', { roles: ['tabpanel', 'region'] }],
    },
  },
  {
    files: [`${CLIENT}/src/**/*.ts`],
    languageOptions: project('tsconfig.client.json'),
  },
  {
    files: ['**/*.{mjs,cjs}'],
    languageOptions: {
      ...project('tsconfig.node.json'),
      // Parts of the browser tests are sent into the page and run there.
      globals: { ...globals.node, ...globals.browser },
    },
    rules: {
      // JavaScript says no types, so most values are `any`; these would forbid all of it.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/restrict-plus-operands': ['error', { allowAny: true }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowAny: true, allowNumber: true, allowBoolean: true },
      ],
      // The runner waits for what it was told to run.
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: knownSafe('test', 'it', 'describe', 'suite') },
      ],
    },
  },
  {
    files: ['tests/browser/**/*.mjs'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: `ExpressionStatement > CallExpression[callee.property.name=/^(${LATER})$/]`,
          message: 'Nothing waits for this promise.',
        },
      ],
    },
  },
  {
    files: ['**/*.cjs'],
    languageOptions: { sourceType: 'commonjs' },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
);

// Somebody who uses the dashboard in a browser.

import { randomUUID } from 'node:crypto';

import { eventually, operate, suite } from './suite.mjs';

export const PASSWORD = 'correct horse battery staple';

/** Signs up through the page and ends on the overview; answers who that is. */
export async function signUp(page, plan = 'premium') {
  const email = `${randomUUID().slice(0, 13)}@example.com`;
  await page.goto(`${suite.dashboard}/sign-up`);
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  const session = await ask(page, 'GET', '/session');
  if (plan !== session.plan) {
    await setPlan(page, session.accountId, plan);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  }
  return { email, accountId: session.accountId };
}

/** Puts an account on a plan, as the operator does; a page that is open learns of it when it asks again. */
export async function setPlan(page, accountId, plan) {
  await operate('account', 'set-plan', accountId, '--plan', plan);
  await eventually(
    async () => (await ask(page, 'GET', '/session')).plan === plan,
    `the plan is ${plan}`,
  );
}

/** Calls the dashboard's API with the session of the page's browser. */
export async function ask(page, method, path, body) {
  const url = `${suite.dashboard}/api${path}`;
  const request = page.context().request;
  const headers = {};
  if (method !== 'GET')
    headers['X-CSRF-Token'] = (
      await (await request.get(`${suite.dashboard}/api/session`)).json()
    ).csrfToken;
  const answer = await request.fetch(url, { method, headers, ...(body && { data: body }) });
  if (!answer.ok())
    throw new Error(`${method} ${path} answered ${answer.status()}: ${await answer.text()}`);
  return await answer.json();
}

/** An inbox made by the API. */
export async function makeInbox(page, params = {}) {
  return await ask(page, 'POST', '/inboxes', params);
}

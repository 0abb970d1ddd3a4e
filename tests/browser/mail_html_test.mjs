// The module web/dashboard/src/mail-html alone, in a real browser: each of its layers must hold without the others.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { scheduler } from 'node:timers/promises';

import { openBrowser, settle, Witness } from './harness/browser.mjs';
import { hostileMails, htmlOf } from './harness/hostile-mails.mjs';
import { ModulePage } from './harness/module-page.mjs';
import { Outside } from './harness/outside.mjs';

// The policy that the gateway sends with the dashboard.
const DASHBOARD_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: https:; connect-src 'self'; " +
  "form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
const SANDBOX = 'allow-popups allow-popups-to-escape-sandbox';
const MAILS = hostileMails().filter(({ bytes }) => htmlOf(bytes) !== '');

let outside;
let served;
let browser;
let context;

before(async () => {
  outside = await Outside.start();
  served = await ModulePage.start(DASHBOARD_POLICY);
  browser = await openBrowser(outside, [served.origin]);
  context = await browser.newContext();
});

after(async () => {
  await browser?.close();
  await served?.stop();
  await outside?.stop();
});

const pages = new Map();

/** The page of a path, opened once, unless a mail led it away. */
async function pageAt(path) {
  const url = `${served.origin}${path}`;
  if (pages.get(path)?.url() !== url) {
    const page = await context.newPage();
    await page.goto(url);
    await page.waitForFunction(() => window.mailHtml !== undefined);
    pages.set(path, page);
  }
  return pages.get(path);
}

/** Shows one document in a frame of a page and answers what happened. */
async function shown({ path, html, sandbox, clean, act = async () => {} }) {
  const page = await pageAt(path);
  outside.take();
  const witness = new Witness(page);
  let made = html;
  if (clean)
    made = await page.evaluate(
      (given) =>
        window.mailHtml.safeMailDocument(given, { showRemotePictures: false, inlineParts: [] }),
      html,
    );
  await settle(page, '/still-here');
  if (clean === 'without policy')
    made = made.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, '');
  witness.refusals.length = 0; // while it is read the page's policy speaks up against the mail in a document that is never shown
  await page.evaluate(
    async ({ made, sandbox }) => {
      document.querySelector('iframe')?.remove();
      const frame = document.createElement('iframe');
      if (sandbox !== undefined) frame.setAttribute('sandbox', sandbox);
      frame.width = 900;
      frame.height = 600;
      frame.srcdoc = made;
      const loaded = new Promise((resolve) =>
        frame.addEventListener('load', resolve, { once: true }),
      );
      document.body.append(frame);
      await loaded;
    },
    { made, sandbox },
  );
  await act(page);
  await settle(page, '/still-here');
  const isOwn = (url) => url === `${served.origin}/still-here`;
  const found = [
    ...witness.found(isOwn),
    ...outside.take().map((request) => `outside: ${request}`),
  ];
  witness.stop();
  return { found, refusals: witness.refusals };
}

/** Fires, on everything in the frame, what a reader could cause. */
async function touchEverything(page) {
  await page.evaluate(() => {
    const inside = document.querySelector('iframe').contentDocument;
    const kinds =
      'mouseover mouseenter pointerenter focus focusin blur click load error toggle animationstart transitionrun scroll wheel keydown submit begin message'.split(
        ' ',
      );
    for (const element of inside.querySelectorAll('*')) {
      for (const kind of kinds) {
        const event = new Event(kind, { bubbles: false, cancelable: true });
        if (kind === 'click') event.preventDefault();
        element.dispatchEvent(event);
      }
    }
  });
}

describe('the mails are hostile indeed', () => {
  // Against readers who click, old browsers, or what stands around the HTML: a browser of today does nothing with it even unprotected.
  const INERT = new Set(
    [
      'attached-documents',
      'attachment-names',
      'charset-iso-2022-jp',
      'charset-utf-7',
      'css-overlay',
      'double-encoding',
      'javascript-links',
    ].concat('meta-policies'),
  );

  for (const { name, bytes } of MAILS) {
    test(`${name} does something in a page without protection`, async () => {
      served.pages.set(`/raw/${name}`, htmlOf(bytes));
      const own = await browser.newContext(); // what the mail leaves behind ends with it
      const page = await own.newPage();
      const witness = new Witness(page);
      outside.take();
      const answer = await page.goto(`${served.origin}/raw/${name}`, { waitUntil: 'commit' });
      assert.equal(answer.status(), 200);
      const isOwn = (url) => url.endsWith(`/raw/${name}`) || url.endsWith('/favicon.ico');
      const happened = () => [...witness.found(isOwn), ...outside.requests];
      const deadline = Date.now() + 20_000;
      while (happened().length === 0 && !INERT.has(name) && Date.now() < deadline) {
        await page.waitForLoadState('networkidle', { timeout: 1000 }).catch(() => {});
        await scheduler.wait(20); // once it was idle, the line above lets nothing happen
      }
      const found = happened();
      witness.stop();
      await own.close();
      assert.equal(
        found.length > 0,
        !INERT.has(name),
        found.length > 0 ? `not inert: ${found[0]}` : 'nothing happened: the mail proves nothing',
      );
    });
  }
});

describe('the cleaner alone, in a frame without sandbox and policies', () => {
  for (const { name, bytes } of MAILS) {
    test(`${name} does nothing`, async () => {
      const { found } = await shown({
        path: '/without-policy',
        html: htmlOf(bytes),
        clean: 'without policy',
        act: touchEverything,
      });
      assert.deepEqual(found, []);
    });
  }
});

describe('frame and policies alone, around the mail as it came', () => {
  const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'">`;
  for (const { name, bytes } of MAILS) {
    test(`${name} runs no script`, async () => {
      const { found } = await shown({ path: '/', html: policy + htmlOf(bytes), sandbox: SANDBOX });
      assert.deepEqual(
        found.filter((what) => what.startsWith('script ran') || what.startsWith('popup')),
        [],
      );
    });
  }
});

describe('all layers together', () => {
  for (const { name, bytes } of MAILS) {
    test(`${name} does nothing, and leaves nothing for the policy to refuse`, async () => {
      const { found, refusals } = await shown({
        path: '/',
        html: htmlOf(bytes),
        sandbox: SANDBOX,
        clean: true,
      });
      assert.deepEqual(found, []);
      assert.deepEqual(refusals, []);
    });
  }
});

describe('what a reader still sees', () => {
  let page;

  before(async () => {
    page = await context.newPage();
    await page.goto(`${served.origin}/`);
    await page.waitForFunction(() => window.mailHtml !== undefined);
  });

  const read = (html, options = {}) =>
    page.evaluate(
      ([given, chosen]) =>
        window.mailHtml.readMailHtml(given, {
          showRemotePictures: false,
          inlineParts: [],
          ...chosen,
        }),
      [html, options],
    );
  const body = (html) => /<body[^]*<\/body>/.exec(html)[0];
  const PICTURE = {
    contentId: '<logo@mail>',
    contentType: 'image/png; name=logo.png',
    content: 'iVBO\r\nRw0KGgo=',
  };

  test('text, tables and colors stay as they were sent', async () => {
    const sent =
      '<style>.big { font-size: 20px } @media (max-width: 600px) { .big { font-size: 14px } }</style>' +
      '<table width="600" bgcolor="#eeeeee" cellpadding="4"><tr><td align="center" style="color:#336699; padding: 4px 8px"><b class="big" id="code">123456</b></td></tr></table>';
    const { html } = await read(sent);
    assert.match(html, /\.big \{ font-size: 20px \}/);
    assert.match(html, /@media \(max-width: 600px\) \{/);
    assert.match(html, /<table width="600" bgcolor="#eeeeee" cellpadding="4">/);
    assert.match(
      html,
      /<td align="center" style="color: rgb\(51, 102, 153\); padding[^"]*8px[^"]*">/,
    );
    assert.match(html, /<b class="big" id="code">123456<\/b>/);
  });

  test('a style sheet in the head and the attributes of the body stay', async () => {
    const { html } = await read(
      '<html><head><style>p { color: red }</style></head><body bgcolor="#ffeeee" class="all"><p>x</p></body></html>',
    );
    assert.match(html, /<head>[^]*p \{ color: red \}[^]*<\/head><body[^>]*bgcolor="#ffeeee"/);
  });

  test('links open elsewhere and tell nothing of here', async () => {
    const { html } = await read(
      '<a href="https://shop.example/a?b=1&amp;c=2" target="_self" rel="opener">shop</a> <a href="mailto:a@b.example">mail</a>',
    );
    assert.match(
      html,
      /<a href="https:\/\/shop.example\/a\?b=1&amp;c=2" target="_blank" rel="noopener noreferrer">shop<\/a>/,
    );
    assert.match(
      html,
      /<a href="mailto:a@b.example" target="_blank" rel="noopener noreferrer">mail<\/a>/,
    );
  });

  test('the text of a link that leads nowhere safe stays', async () => {
    const { html } = await read(
      '<a href="javascript:x()">one</a> <a href="/dashboard">two</a> <a href="#three">three</a>',
    );
    assert.equal(body(html), '<body><a>one</a> <a>two</a> <a>three</a></body>');
  });

  test('remote pictures are counted and left out', async () => {
    const { html, hiddenPictures } = await read(
      '<img src="http://a.example/1.png" alt="one"><img src="https://a.example/2.png"><table background="//a.example/3.png"></table>' +
        '<p style="color:red;background:url(https://a.example/4.png)">p</p><img src="/5.png"><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">',
    );
    assert.equal(hiddenPictures, 4);
    assert.doesNotMatch(html, /a\.example|5\.png/);
    assert.match(html, /<img alt="one">/);
    assert.match(html, /<p style="color: red[^"]*">p<\/p>/);
    assert.match(html, /data:image\/gif/);
    assert.match(html, /img-src data:;/);
  });

  test('asked for, they come over https and nothing else does', async () => {
    const { html, hiddenPictures } = await read(
      '<img src="http://u:p@a.example/1.png"><table background="//a.example/3.png"></table><p style="background:url(http://a.example/4.png)">p</p><img src="ftp://a.example/x"><img src="/5.png">',
      { showRemotePictures: true },
    );
    assert.equal(hiddenPictures, 0);
    assert.match(html, /<img src="https:\/\/a.example\/1.png">/);
    assert.match(
      html,
      /<table style="background-image: url\(&quot;https:\/\/a.example\/3.png&quot;\)[^"]*">/,
    );
    assert.match(html, /url\(&quot;https:\/\/a.example\/4.png&quot;\)/);
    assert.doesNotMatch(html, /ftp:|5\.png|u:p@/);
    assert.match(html, /img-src data: https:;/);
  });

  test('pictures of the mail itself are shown by their Content-ID', async () => {
    const sent =
      '<img src="cid:logo@mail"><img src="CID:logo%40mail"><img src="cid:other"><p style="background: url(cid:logo@mail)">p</p>';
    const { html, hiddenPictures } = await read(sent, { inlineParts: [PICTURE] });
    assert.equal(html.split('data:image/png;base64,iVBORw0KGgo=').length - 1, 3);
    assert.equal(hiddenPictures, 0);
    assert.doesNotMatch(html, /cid:/i);
  });

  test('parts that are no pictures are not shown', async () => {
    const { html } = await read('<img src="cid:logo@mail">', {
      inlineParts: [{ ...PICTURE, contentType: 'image/svg+xml' }],
    });
    assert.equal(body(html), '<body><img></body>');
  });

  test('the parts a mail shows are named', async () => {
    const names = await page.evaluate(() =>
      window.mailHtml.referencedContentIds(
        '<img src="cid:a@b"><p style="background:url(\'cid:c%20d\')"><img src=CID:a@b>',
      ),
    );
    assert.deepEqual(names, ['a@b', 'c d']);
  });

  test('an empty mail and one of many elements are documents too', async () => {
    assert.equal(body((await read('')).html), '<body></body>');
    const { html } = await read('<p style="color:red">x</p>'.repeat(20_000));
    assert.equal(html.split('</p>').length, 20_001);
  });
});

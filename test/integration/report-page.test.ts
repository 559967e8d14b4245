// @module-tag chromium
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reportPage } from '../../src/report/page/page.ts';
import { RECORDS, recordNamed } from '../fixtures/records.ts';
import { pathOf } from '../needs/table.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core found: the rule and the places that break it. */
interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

let folder: string;
let browser: Browser;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-report-'));
  for (const name of RECORDS) writeFileSync(join(folder, `${name}.html`), reportPage(recordNamed(name)));
  // Chromium's own sandbox does not run as root.
  browser = await chromium.launch({ executablePath: pathOf('chromium'), args: ['--no-sandbox'] });
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

/** An open report; `close` tells what it asked for beside itself, and what the browser complained about. */
interface Opened {
  readonly page: Page;
  readonly close: () => Promise<{ readonly requests: readonly string[]; readonly complaints: readonly string[] }>;
}

async function opened(name: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Opened> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const address = pathToFileURL(join(folder, `${name}.html`)).href;
  const requests: string[] = [];
  const complaints: string[] = [];
  await context.route(
    (url) => url.href !== address,
    (route) => {
      requests.push(route.request().url());
      return route.abort();
    },
  );
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(address);
  return {
    page,
    close: async () => {
      await context.close();
      return { requests, complaints };
    },
  };
}

/** How much wider the page is than the window, in px. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** What axe-core finds. Its code comes from outside the page, where the page's policy does not hold. */
async function violations(page: Page): Promise<readonly string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe);
  const found = await page.evaluate<readonly Violation[]>(
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary ?? ''}`),
  );
}

/** axe-core looks at every text of a page; other programs may want the processors too. */
const SLOW_MS = 300_000;

describe.each(RECORDS)('the report of %s', { timeout: SLOW_MS }, (name) => {
  test('asks for nothing, has no violation of accessibility, and fits phones and screens, in light and dark', async () => {
    const { page, close } = await opened(name);
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 844 });
        await page.emulateMedia({ colorScheme });
        const where = `${colorScheme}, ${String(width)} px`;
        expect(await overflow(page), where).toBe(0);
        expect(await violations(page), where).toEqual([]);
      }
    expect(await close()).toEqual({ requests: [], complaints: [] });
  });
});

test('folded parts have no violation of accessibility either', { timeout: SLOW_MS }, async () => {
  const { page, close } = await opened('failed', { viewport: { width: 1280, height: 900 } });
  await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })");
  expect(await violations(page)).toEqual([]);
  // A page that says no language is what axe-core does find.
  await page.evaluate("document.documentElement.removeAttribute('lang')");
  expect(await violations(page)).toMatchObject([expect.stringMatching(/^html-has-lang: /)]);
  await close();
});

test('Tab leads to the timeline, arrow keys from bar to bar, plus and minus zoom', async () => {
  const { page, close } = await opened('build', { viewport: { width: 1280, height: 900 } });
  const detail = page.locator('#detail');
  const isFocused = (selector: string): Promise<boolean> =>
    page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`);
  for (let presses = 0; presses < 40 && !(await isFocused('.timeline')); presses += 1) await page.keyboard.press('Tab');
  expect(await isFocused('.timeline')).toBe(true);
  await page.keyboard.press('ArrowDown');
  expect(await isFocused('.s')).toBe(true);
  // The row with the most bars: its keys lead somewhere.
  await page.evaluate(
    "[...document.querySelectorAll('.bars')].sort((a, b) => b.childElementCount - a.childElementCount)[0].querySelector('.s').focus()",
  );
  let told = await detail.textContent();
  for (const key of ['End', 'ArrowLeft', 'Home', 'ArrowRight', 'ArrowDown', 'ArrowUp']) {
    await page.keyboard.press(key);
    expect(await isFocused('.s'), key).toBe(true);
    expect(await detail.textContent(), key).not.toBe(told);
    told = await detail.textContent();
  }
  const width = (): Promise<number> => page.evaluate("document.querySelector('.rows').clientWidth");
  const before = await width();
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  expect(await width()).toBeGreaterThan(3 * before);
  // The bar that has the focus stays in sight.
  expect(
    await page.evaluate(
      '(() => { const { left, right } = document.activeElement.getBoundingClientRect(); return right > 0 && left < innerWidth; })()',
    ),
  ).toBe(true);
  expect(await overflow(page)).toBe(0);
  await page.keyboard.press('0');
  expect(await width()).toBe(before);
  await page.getByRole('button', { name: 'Zoom in' }).click();
  expect(await width()).toBeGreaterThan(1.5 * before);
  expect(await close()).toEqual({ requests: [], complaints: [] });
});

test('a pointer over a bar shows what it was', async () => {
  const { page, close } = await opened('build', { viewport: { width: 1280, height: 900 } });
  const bar = page.locator('.s.change').first();
  await bar.hover({ force: true });
  expect(await page.locator('#detail').textContent()).toBe(await bar.locator('title').textContent());
  await close();
});

test('without JavaScript the page says the result and the failure, and shows no dead button', async () => {
  const { page, close } = await opened('failed', { javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  expect(await page.locator('h1').innerText()).toMatch(/Failed/);
  expect(await page.locator('#failure h3').first().isVisible()).toBe(true);
  expect(await page.locator('.timeline .s').count()).toBeGreaterThan(10);
  expect(await page.locator('button:visible').count()).toBe(0);
  expect(await close()).toEqual({ requests: [], complaints: [] });
});

test('printing unfolds all parts, is dark on white, and leaves out what only a screen has', async () => {
  const { page, close } = await opened('failed', { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' });
  const open = (): Promise<number> => page.evaluate("document.querySelectorAll('details:not([open])').length");
  const folded = await open();
  expect(folded).toBeGreaterThan(0);
  await page.emulateMedia({ media: 'print' });
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  expect(await open()).toBe(0);
  expect(await page.locator('.contents').isVisible()).toBe(false);
  expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
  expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(20, 24, 29)');
  await page.evaluate("dispatchEvent(new Event('afterprint'))");
  expect(await open()).toBe(folded);
  await close();
});

test('the report of a large run is at most 2 MiB', () => {
  expect(readFileSync(join(folder, 'large.html')).length).toBeLessThan(2 * 1024 * 1024);
});

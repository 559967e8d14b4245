/**
 * `npm run docs:look [-- SITE [PICTURES]]`: opens every page of the built site (`npm run docs:site`) in Chromium at 390, 1280 and 1920 px and
 * ends with an error for a page that scrolls sideways, a script that fails or a file that is missing; asks the search; with a folder, puts
 * pictures there, light and dark.
 */
import { createServer } from 'node:http';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { filesIn } from './files-in.ts';

const [, , given, folder] = process.argv;
const site = resolve(given ?? fileURLToPath(new URL('../../dist/site', import.meta.url)));
const TYPES: Readonly<Record<string, string>> = {
  ...{ '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' },
  ...{ '.png': 'image/png', '.svg': 'image/svg+xml', '.json': 'application/json', '.woff2': 'font/woff2' },
};

const server = createServer(({ url = '/' }, answer) => {
  const path = decodeURIComponent(url.split('?')[0]!).replace(/\/$/, '/index.html');
  const file = [path, `${path}.html`].map((name) => join(site, name)).find((name) => existsSync(name));
  if (file === undefined) answer.writeHead(404).end();
  else answer.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'text/plain' }).end(readFileSync(file));
}).listen(0, '127.0.0.1');

/** What is wrong with a page at one width. */
async function faults(browser: Browser, url: string, name: string, width: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (const colorScheme of folder === undefined ? (['light'] as const) : (['light', 'dark'] as const)) {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    page.on('pageerror', (error) => found.push(String(error)));
    page.on('response', (got) => got.status() >= 400 && found.push(`${String(got.status())} ${got.url()}`));
    await page.goto(url, { waitUntil: 'networkidle' });
    const wider = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    if (wider > 0) found.push(`scrolls sideways by ${String(wider)} px`);
    if (folder !== undefined)
      await page.screenshot({ path: join(folder, `${name.replaceAll('/', '-')}-${String(width)}-${colorScheme}.png`) });
    await page.close();
  }
  return found.map((what) => `${name} at ${String(width)} px: ${what}`);
}

if (folder !== undefined) mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const root = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
const names = filesIn(site, '.html').map((name) => name.replace(/\.html$/, ''));
const all: string[] = [];
for (const name of names)
  for (const width of [390, 1280, 1920]) all.push(...(await faults(browser, `${root}${name}.html`, name, width)));
const page = await browser.newPage();
await page.goto(root, { waitUntil: 'networkidle' });
await page.keyboard.press('Control+k');
await page.locator('.VPLocalSearchBox input').fill('podSubnet');
await page.locator('.VPLocalSearchBox .result').first().waitFor();
await browser.close();
server.close();
console.log(`${String(names.length)} pages at three sizes${all.length === 0 ? '' : `:\n${all.join('\n')}`}`);
process.exitCode = all.length === 0 ? 0 : 1;

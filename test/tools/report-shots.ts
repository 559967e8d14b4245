/**
 * `npm run docs:report [FOLDER]`: pictures of reports, in both colour schemes at 390, 1280 and 1920 px, of the records that the
 * tests use. With a folder, all of them whole, to be inspected; without, the three that stand in docs/report, and the sums of their pages.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { reportPage } from '../../src/report/page/page.ts';
import { RECORDS, recordNamed } from '../fixtures/records.ts';

interface Shot {
  readonly record: (typeof RECORDS)[number];
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
  /** Of the window; undefined: the whole page. */
  readonly height?: number;
  /** Scrolls to this section first. */
  readonly at?: string;
  readonly file: string;
}

const docs = fileURLToPath(new URL('../../docs/report', import.meta.url));

/** The file with the sums of the pages that the pictures in docs/report show. */
export const SUMS_FILE = join(docs, 'pages.sha256');

const inspected = RECORDS.flatMap((record) =>
  [390, 1280, 1920].flatMap((width) =>
    (['light', 'dark'] as const).map((colorScheme): Shot => ({
      record,
      width,
      colorScheme,
      file: `${record}-${String(width)}-${colorScheme}.png`,
    })),
  ),
);
/** Those that stand in docs/report. */
const shown: readonly Shot[] = [
  { record: 'build', width: 1280, colorScheme: 'light', height: 1020, file: 'build.png' },
  { record: 'failed', width: 1280, colorScheme: 'dark', height: 900, file: 'failed.png' },
  { record: 'large', width: 1280, colorScheme: 'light', height: 900, at: 'timeline', file: 'large.png' },
];

/** The sums of the pages of today, as sha256sum writes them. Pictures differ from machine to machine, their pages do not. */
export const pageSums = (): string =>
  shown
    .map(
      ({ record }) =>
        `${createHash('sha256')
          .update(reportPage(recordNamed(record)))
          .digest('hex')}  ${record}.html\n`,
    )
    .join('');

async function draw(into: string, chosen: readonly Shot[]): Promise<void> {
  const pages = mkdtempSync(join(tmpdir(), 'kbuild-report-'));
  mkdirSync(into, { recursive: true });
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  for (const { record, width, colorScheme, height, at, file } of chosen) {
    const path = join(pages, `${record}.html`);
    writeFileSync(path, reportPage(recordNamed(record)));
    const page = await browser.newPage({
      viewport: { width, height: height ?? 900 },
      colorScheme,
      reducedMotion: 'reduce',
    });
    await page.goto(`${pathToFileURL(path).href}${at === undefined ? '' : `#${at}`}`);
    await page.screenshot({ path: join(into, file), fullPage: height === undefined });
    await page.close();
    console.log(join(into, file));
  }
  await browser.close();
  rmSync(pages, { recursive: true });
}

if (process.argv[1]?.endsWith('report-shots.ts') === true) {
  const [, , folder] = process.argv;
  await draw(folder === undefined ? docs : resolve(folder), folder === undefined ? shown : inspected);
  if (folder === undefined) writeFileSync(SUMS_FILE, pageSums());
}

/** What a release says of itself, and the links of pages that have no other test. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { filesIn } from '../tools/files-in.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const { version } = JSON.parse(read('package.json')) as { readonly version: string };

/** Versions in the order of the file, and `Unreleased` where it stands. */
const sections = [...read('CHANGELOG.md').matchAll(/^## (\S+)(?: - (\d{4}-\d{2}-\d{2}))?$/gm)].map(
  ([, name, date]) => ({ name: name!, date }),
);
const released = sections.filter(({ name }) => name !== 'Unreleased');

describe('the version', () => {
  test('of package.json is the newest of CHANGELOG.md', () => {
    expect(released[0]?.name).toBe(version);
    expect(sections.filter(({ name }) => name === 'Unreleased').length).toBeLessThanOrEqual(1);
    expect(sections.findIndex(({ name }) => name === 'Unreleased')).toBeLessThanOrEqual(0);
  });

  test('of package-lock.json is that of package.json', () => {
    const lock = JSON.parse(read('package-lock.json')) as {
      readonly version: string;
      readonly packages: Readonly<Record<string, { readonly version: string }>>;
    };
    expect([lock.version, lock.packages['']?.version]).toEqual([version, version]);
  });

  test('is what kbuild --version prints', () => {
    const main = ['--import', 'tsx', 'src/cli/main.ts', '--version'];
    expect(execFileSync(process.execPath, main, { cwd: root, encoding: 'utf8' }).trim()).toBe(version);
  });

  test('of every section has its day, and newer ones stand above', () => {
    expect(
      released
        .map(({ date }) => date)
        .toSorted()
        .toReversed(),
    ).toEqual(released.map(({ date }) => date));
    expect(released.filter(({ date }) => date === undefined)).toEqual([]);
  });
});

/** The anchor of a heading, as forges make it. */
const anchorOf = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

const anchorsIn = (text: string): readonly string[] =>
  [...text.replaceAll(/^```[^]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));

const pages = ['CHANGELOG.md', 'README.md', ...filesIn('docs', '.md').map((name) => `docs/${name}`)];

test.each(pages)('%s: every link leads to a file, and to a heading of it', (page) => {
  const text = read(page)
    .replaceAll(/^```[^]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, '');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
  const broken = links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsIn(read(target)).includes(anchor);
  });
  expect(broken).toEqual([]);
});

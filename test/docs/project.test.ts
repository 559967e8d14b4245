import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { SIDEBAR, siteLink, sitePage } from '../../.ci/release/site.ts';
import { checks } from '../../src/commands/every.checks.ts';
import { BUGS, KEYWORDS, REPOSITORY } from '../../src/versions.ts';
import { filesIn } from '../tools/files-in.ts';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, unknown>
>;

test('package.json names the repository, its bugs and the keywords of src/versions.ts', () => {
  expect(manifest).toMatchObject({
    repository: { type: 'git', url: `git+${REPOSITORY}.git` },
    bugs: BUGS,
    homepage: `${REPOSITORY}#readme`,
    keywords: KEYWORDS,
  });
});

const page = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

describe('the README', () => {
  const readme = page('README.md');

  test('is one screen and a half, and names no page of the documentation twice in its list (D12)', () => {
    expect(readme.split('\n').length).toBeLessThan(80);
    const [, list = ''] = readme.split('## Documentation');
    const links = [...list.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link);
    expect(links.length).toBeGreaterThan(8);
    expect(new Set(links).size).toBe(links.length);
  });

  test.each(['README.md', 'docs/getting-started.md'])('%s: host keys, the agent and kubectl are named (D3)', (name) => {
    for (const word of [
      '--accept-new-host-keys',
      'fingerprint',
      'agent',
      'KUBECONFIG=prod.kubeconfig kubectl get nodes',
    ])
      expect(page(name)).toContain(word);
  });

  test('claims no more than the lab: the number of checks, and what its hosts are (D27)', () => {
    const [, dozens = ''] = /\[Some (\w+) checks\]/.exec(readme)!;
    expect(dozens).toBe({ 8: 'eighty', 9: 'ninety', 10: 'hundred' }[Math.floor(checks.length / 10)]);
    expect(readme).toContain('in containers with a kernel in common');
    expect(readme).not.toContain('tested on real hosts');
  });
});

test('no page and no message says "found" for making a cluster (D21)', () => {
  const texts = ['src', 'docs']
    .flatMap((folder) => filesIn(folder, '').map((name) => `${folder}/${name}`))
    .filter((name) => /\.(?:ts|md|1)$/.test(name) && !name.startsWith('docs/decisions'));
  expect(texts.length).toBeGreaterThan(300);
  expect(texts.filter((name) => /\bfound the cluster\b|\bcan be founded\b/.test(page(name)))).toEqual([]);
});

describe('the site of the documentation', () => {
  test('has every page in its sidebar, once', () => {
    const names = Object.values(SIDEBAR)
      .flat()
      .map((name) => `${name}.md`.replace('index.md', 'README.md'));
    const pages = filesIn('docs', '.md').filter((name) => name !== 'README.md');
    const inDecisions = (name: string): boolean => /^decisions\/(?!README)/.test(name);
    expect(names.toSorted()).toEqual(pages.filter((name) => !inDecisions(name)).toSorted());
  });

  test('leads to its own pages, and for the rest to the repository', () => {
    expect(siteLink('install.md', 'hosts.md#time')).toBe('hosts.md#time');
    expect(siteLink('decisions/libraries.md', '../README.md')).toBe('../index.md');
    expect(siteLink('install.md', '../src/versions.ts')).toBe(`${REPOSITORY}/blob/main/src/versions.ts`);
    expect(siteLink('README.md', 'schemas')).toBe(`${REPOSITORY}/blob/main/docs/schemas`);
    expect(siteLink('README.md', 'https://example.com')).toBe('https://example.com');
  });

  test('keeps code as it is, and drops comments', () => {
    expect(sitePage('a.md', '<!-- x -->\n`[a](b)` [c](../d)\n```sh\n<!-- y -->\n```\n')).toBe(
      `\`[a](b)\` [c](${REPOSITORY}/blob/main/d)\n\`\`\`sh\n<!-- y -->\n\`\`\`\n`,
    );
  });
});

test('what people misread is said otherwise (D30)', () => {
  const MISREAD =
    /until the network of .{0,20} carries|survive the loss of 0|last words of \$|; no tree|all hosts together|one control plane for ever/i;
  const texts = filesIn('src', '.ts').map((name) => `src/${name}`);
  expect(texts.filter((name) => MISREAD.test(page(name).replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, '')))).toEqual([]);
});

test('npm pack builds the program first: a package from a fresh clone has it', () => {
  expect(manifest['scripts']).toMatchObject({ prepack: 'npm run build' });
});

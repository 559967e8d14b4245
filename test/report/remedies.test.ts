import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { anchorOf } from '../../.ci/release/site.ts';
import { filesIn } from '../tools/files-in.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Commands that delete what they are pointed at, whosever it is. */
const DELETES =
  /etcdctl (?:\S+ )*(?:del|member remove)\b|kubectl (?:\S+ )*delete\b|\brm (?:-\w+ )*\/|kubeadm reset -f|wipefs|mkfs|apt(?:-get)? (?:remove|purge)|iptables (?:\S+ )*-F|nft flush|ip link del|userdel|dropdb/;

/** Source without what runs on hosts (tagged templates) and without comments. */
const printed = (text: string): string =>
  text
    .replaceAll(/\bsh`[^`]*`/g, '')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '');

describe('remedies', () => {
  test('no message prints a command that deletes what kbuild did not make', () => {
    const src = join(root, 'src');
    const files = filesIn('src', '.ts');
    const found = files.flatMap((file) => {
      const lines = printed(readFileSync(join(src, file), 'utf8')).split('\n');
      return lines.filter((line) => DELETES.test(line)).map((line) => `${file}: ${line.trim()}`);
    });
    expect(found).toEqual([]);
  });

  test('no message names a file of docs/, which who has only the program does not have', () => {
    const found = filesIn('src', '.ts')
      // Their texts are Markdown of a page there; `kbuild explain` shows its links as addresses.
      .filter((file) => !file.startsWith('refusals/') && !file.startsWith('report/documents/'))
      .flatMap((file) => {
        const lines = printed(readFileSync(join(root, 'src', file), 'utf8')).split('\n');
        return lines.filter((line) => /\bdocs\/[a-z-]+\.md/.test(line)).map((line) => `${file}: ${line.trim()}`);
      });
    expect(found).toEqual([]);
  });

  test('the pages that messages name exist, with their sections', () => {
    const named = filesIn('src', '.ts').flatMap((file) =>
      [...readFileSync(join(root, 'src', file), 'utf8').matchAll(/docsPage\('([^']+)'\)/g)].map(([, page]) => page!),
    );
    expect(named.length).toBeGreaterThan(10);
    for (const page of new Set(named)) {
      const [name, anchor] = page.split('#') as [string, string?];
      const titles = [...readFileSync(join(root, 'docs', name), 'utf8').matchAll(/^#+ (.*)$/gm)];
      if (anchor !== undefined) expect(titles.map(([, title]) => anchorOf(title!))).toContain(anchor);
    }
  });

  test('no page for operators advises one', () => {
    const pages = ['troubleshooting', 'operations', 'checks', 'windows-troubleshooting', 'topologies', 'cli'];
    const found = pages.flatMap((page) =>
      readFileSync(join(root, `docs/${page}.md`), 'utf8')
        .split('\n')
        .filter((line) => DELETES.test(line))
        .map((line) => `${page}: ${line.trim()}`),
    );
    expect(found).toEqual([]);
  });
});

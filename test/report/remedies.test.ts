import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
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

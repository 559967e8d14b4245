import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { helmOf } from '../../../src/inventory/file/helm.ts';
import { downloadedHelm, hashOf, publishedHelm } from '../../../src/inventory/file/helm-program.ts';
import { tarGz } from '../../../src/session/end-report.ts';

const PROGRAM = '#!/bin/sh\necho "downloaded: $1"\n';
const ARCHIVE = tarGz(
  [
    { name: 'linux-amd64/LICENSE', text: 'x'.repeat(700) },
    { name: 'linux-amd64/helm', text: PROGRAM },
  ],
  0,
);

describe('a downloaded Helm', () => {
  let folder: string;
  let fetched: string[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kbuild-helm-'));
    fetched = [];
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** The site serves these bytes. */
  const site = (bytes: Uint8Array = ARCHIVE, sha256 = hashOf(bytes), platform = 'linux-amd64') => ({
    fetch: (url: string) => {
      fetched.push(url);
      return Promise.resolve(bytes);
    },
    platform,
    archives: { 'linux-amd64': sha256 },
  });
  const env = (path = '') => ({ PATH: path, HOME: '/nowhere', XDG_CACHE_HOME: folder });
  const kept = (): readonly string[] => readdirSync(join(folder, 'kbuild/helm'));

  test('is fetched once, and stays in the user’s cache, where this user alone may run it', async () => {
    const first = await downloadedHelm(env(), site());
    expect(await downloadedHelm(env(), site())).toBe(first);
    expect(fetched).toEqual(['https://get.helm.sh/helm-v3.19.0-linux-amd64.tar.gz']);
    expect(first).toBe(join(folder, 'kbuild/helm/helm-v3.19.0-linux-amd64'));
    expect(statSync(first).mode & 0o777).toBe(0o700);
    expect(kept()).toEqual(['helm-v3.19.0-linux-amd64']);
  });

  test('runs where PATH has none', async () => {
    const helm = helmOf(env('/nowhere'), site());
    expect(await helm.render('web', Buffer.from(''), [], '')).toBe('downloaded: template\n');
  });

  test('runs where that of PATH is too old, and not where kbuild supports it', async () => {
    const inPath = (version: string): string => {
      writeFileSync(join(folder, 'helm'), `#!/bin/sh\n[ "$1" = version ] && echo ${version} || echo "of PATH"\n`);
      chmodSync(join(folder, 'helm'), 0o755);
      return `${folder}:${process.env['PATH']!}`;
    };
    const rendered = async (version: string): Promise<string> =>
      helmOf(env(inPath(version)), site()).render('web', Buffer.from(''), [], '');
    expect(await rendered('v3.8.0')).toBe('of PATH\n');
    expect(fetched).toEqual([]);
    expect(await rendered('v3.7.2')).toBe('downloaded: template\n');
  });

  test('with another SHA-256 is refused, and nothing of it is kept', async () => {
    await expect(downloadedHelm(env(), site(ARCHIVE, 'a'.repeat(64)))).rejects.toThrow(
      `has SHA-256 ${hashOf(ARCHIVE)}, and kbuild expects ${'a'.repeat(64)}`,
    );
    expect(kept).toThrow('ENOENT');
  });

  test('that is not in its archive is told, and nothing is kept', async () => {
    const other = tarGz([{ name: 'linux-amd64/README.md', text: 'read me' }], 0);
    await expect(downloadedHelm(env(), site(other))).rejects.toThrow('the archive has no linux-amd64/helm');
    expect(kept).toThrow('ENOENT');
  });

  test('in the cache that others may write is fetched again', async () => {
    const path = await downloadedHelm(env(), site());
    chmodSync(path, 0o777);
    await downloadedHelm(env(), site());
    expect(fetched).toHaveLength(2);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  test('is offered for Linux and macOS on both architectures, each by a checksum', async () => {
    const { archives } = publishedHelm(() => Promise.reject(new Error('not asked')));
    expect(Object.keys(archives)).toEqual(['darwin-amd64', 'darwin-arm64', 'linux-amd64', 'linux-arm64']);
    for (const sha256 of Object.values(archives)) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    await expect(downloadedHelm(env(), site(ARCHIVE, '', 'linux-riscv64'))).rejects.toThrow(
      'kbuild downloads no Helm for linux-riscv64',
    );
  });
});

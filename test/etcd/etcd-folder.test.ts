// @module-tag linux
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { etcdFolder } from '../../src/etcd/etcd.facts.ts';
import { paths } from '../../src/paths.ts';
import { inventoryOf } from '../fakes/cluster.ts';

const local = (dataDir?: string) =>
  inventoryOf({
    kubeadm: { ...inventoryOf().kubeadm, cluster: dataDir === undefined ? {} : { etcd: { local: { dataDir } } } },
  });

/** What the probe says on a host whose manifest of etcd has this line; undefined: there is none. */
function folder(line: string | undefined, dataDir?: string): string {
  const manifest = join(mkdtempSync(join(tmpdir(), 'kbuild-test-')), 'etcd.yaml');
  if (line !== undefined) writeFileSync(manifest, `    - etcd\n    - --name=cp1\n${line}\n    image: x\n`);
  const { command, parse } = etcdFolder(local(dataDir));
  const text = command.script.replace(paths.etcdManifest, manifest);
  return parse(spawnSync('/bin/sh', ['-eu', '-c', text], { encoding: 'utf8' }).stdout, { middleMs: 0 });
}

describe("the folder of etcd's data", () => {
  test('is where the manifest says, whatever the inventory says', () => {
    expect(folder('    - --data-dir=/data/etcd')).toBe('/data/etcd');
    expect(folder('    - --data-dir=/data/etcd', '/srv/etcd')).toBe('/data/etcd');
  });

  test('is read from quoted arguments, too', () => {
    expect(folder('    - "--data-dir=/data/etcd"')).toBe('/data/etcd');
    expect(folder("    - '--data-dir=/data/etcd'")).toBe('/data/etcd');
  });

  test("is the inventory's, or kubeadm's default, before there is an etcd", () => {
    expect(folder(undefined, '/data/etcd')).toBe('/data/etcd');
    expect(folder(undefined)).toBe('/var/lib/etcd');
  });

  test('is unknown where the manifest names none', () => {
    expect(() => folder('    - --snapshot-count=1000')).toThrow('names no --data-dir');
  });
});

// @module-tag linux
/** What is left of kube-vip on a host, with programs of the host that a test speaks for. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { script } from '../../src/templates.ts';

const VIP = '10.0.0.100';
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-kube-vip-'));
  writeFileSync(join(folder, 'manifest'), '');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A program in the folder, in the place of the host's. */
function program(name: string, body: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`);
  chmodSync(join(folder, name), 0o755);
}

/** Runs the script on a host whose interface has these addresses; the kubelet's pod takes them along if `soft`. */
function run({ addresses, kubelet, soft }: { addresses: readonly string[]; kubelet: boolean; soft: boolean }) {
  writeFileSync(
    join(folder, 'addresses'),
    addresses.map((one) => `2: eth0    inet ${one} scope global eth0\n`).join(''),
  );
  program(
    'ip',
    `case "$*" in
      *' show '*) ${soft ? `[ -e ${folder}/manifest ] || : >${folder}/addresses; ` : ''}cat ${folder}/addresses ;;
      'addr del '*) echo "$*" >>${folder}/deleted; : >${folder}/addresses ;;
    esac`,
  );
  program('systemctl', kubelet ? 'exit 0' : 'exit 3');
  const command = script('balancer/kube-vip-down.sh', {
    ...{ MANIFEST: join(folder, 'manifest'), ADDRESS: `${VIP}/32`, PORT: '6443', TAKEN_OVER: 'no' },
  });
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` };
  const ran = spawnSync('sh', ['-eu', '-c', command.script], { encoding: 'utf8', env });
  const deleted = join(folder, 'deleted');
  return {
    ...ran,
    hasManifest: existsSync(join(folder, 'manifest')),
    deleted: existsSync(deleted) ? readFileSync(deleted, 'utf8') : '',
  };
}

describe('kube-vip of a host', () => {
  test('that the kubelet ends takes its address along', () => {
    const ran = run({ addresses: [`10.0.0.11/24`, `${VIP}/32`], kubelet: true, soft: true });
    expect([ran.status, ran.stderr, ran.hasManifest, ran.deleted]).toEqual([0, '', false, '']);
  });

  test('that is dead has left its address, which is deleted', () => {
    const ran = run({ addresses: [`${VIP}/32`], kubelet: false, soft: false });
    expect([ran.status, ran.hasManifest]).toEqual([0, false]);
    expect(ran.deleted).toBe(`addr del ${VIP}/32 dev eth0\n`);
  });

  test('leaves an address alone that a network of the host has: kube-vip adds no such', () => {
    const ran = run({ addresses: [`${VIP}/24`], kubelet: false, soft: false });
    expect([ran.status, ran.deleted]).toEqual([0, '']);
  });

  test('is gone already: nothing is said, nothing is deleted', () => {
    rmSync(join(folder, 'manifest'));
    const ran = run({ addresses: [], kubelet: true, soft: false });
    expect([ran.status, ran.stdout, ran.stderr, ran.deleted]).toEqual([0, '', '', '']);
  });
});

// @module-tag linux
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { script } from '../../src/templates.ts';
import { requireProgram } from '../needs/table.ts';

const TOOLS = 'sh cat grep sed awk readlink rm rmdir sort'.split(' ');
/** What a host prints that had Cilium: `tc filter show`, `ip -4 rule show`. Of IPv6 it has nothing. */
const FILTERS = `filter protocol all pref 1 bpf chain 0
filter protocol all pref 1 bpf chain 0 handle 0x1 cil_from_netdev-lo direct-action not_in_hw id 7 name cil_from_netdev
filter protocol all pref 5 bpf chain 0 handle 0x1 other.o:[x] direct-action id 9`;
const RULES = `9:	from all fwmark 0x200/0xf00 lookup 2004
30:	from all fwmark 0x200/0xff00 lookup 77
40:	from all fwmark 0x300/0xf00 lookup 88
41:	from all fwmark 0x300/0xf00 lookup main
100:	from all lookup local
32766:	from all lookup main`;

let folder = '';
const program = (name: string, text: string): void => {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, 'bin', name), 0o755);
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-bpf-'));
  mkdirSync(join(folder, 'bin'));
  for (const name of TOOLS) symlinkSync(requireProgram(name), join(folder, 'bin', name));
  writeFileSync(join(folder, 'log'), '');
  program(
    'tc',
    `case "$*" in "filter show dev lo ingress") echo '${FILTERS}' ;; *delete*) echo "tc $*" >> ${folder}/log ;; esac`,
  );
  program(
    'ip',
    `case "$*" in
       "-4 rule show pref 100") echo '100: from all lookup local' ;;
       "-4 rule show") echo '${RULES}' ;;
       *show*) ;;
       *) echo "ip $*" >> ${folder}/log ;;
     esac`,
  );
});
afterEach(() => rmSync(folder, { recursive: true }));

const clean = (PROGRAMS: string): string => {
  const { script: text } = script('kubeadm/clean-cni.sh', {
    INTERFACES: ['cilium_net'],
    ROUTES: [],
    FILES: [],
    PROGRAMS,
  });
  const { status, stderr } = spawnSync('/bin/sh', ['-s'], {
    input: `set -eu\n${text}`,
    env: { PATH: join(folder, 'bin') },
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return readFileSync(join(folder, 'log'), 'utf8');
};

test('Cilium’s filters go before its interfaces, its rules with their tables, and nobody else’s', () => {
  expect(clean('1').trim().split('\n')).toEqual([
    'tc filter delete dev lo ingress pref 1',
    'ip -4 rule add pref 0 from all lookup local',
    'ip -4 rule delete pref 100 from all lookup local',
    'ip -4 rule delete pref 9 lookup 2004',
    'ip -4 route flush table 2004',
    'ip link delete cilium_net',
  ]);
});

test('filters and rules stay where the plugin has none', () => {
  expect(clean('')).toBe('ip link delete cilium_net\n');
});

// @module-tag linux
/** kured's lock during a drain, with a kubectl that a test speaks for. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { using } from '../../src/templates.ts';
import { shClock } from '../fakes/sh-clock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-kured-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Calls a function of kured.sh while w1 is drained; w2 is another node. `daemonSet`: what is read of kured, empty: no kured. */
function called(name: 'kured_take' | 'kured_release', daemonSet: string, drained = '') {
  const kubectl = join(folder, 'kubectl');
  writeFileSync(
    kubectl,
    `#!/bin/sh
echo "$*" | head -n 1 >>${folder}/asked
case "$*" in
  *' get daemonset kured '*) printf '${daemonSet}' ;;
  *' get node w2 '*) echo node/w2 ;;
  'get nodes '*) printf '%s' '${drained}' ;;
esac
`,
  );
  chmodSync(kubectl, 0o755);
  const { script } = using('engine/kured.sh', {
    shell: 'sh',
    script: `KUBECTL=${kubectl} NODE=w1 CORDONED=c SECONDS_TO_DRAIN=1\n${name}`,
    title: name,
  });
  const ran = spawnSync('sh', ['-eu', '-c', shClock(folder).inScript(script)], { cwd: folder, encoding: 'utf8' });
  return { ...ran, asked: readFileSync(join(folder, 'asked'), 'utf8') };
}

const lock = (node: string, created: string, hours: number): string =>
  `{"nodeID":"${node}","metadata":{"unschedulable":false},"created":"${created}","TTL":${String(hours * 3600)}000000000}`;
const LONG_AGO = '2020-01-01T00:00:00Z';
const NOW = new Date().toISOString();

describe('the lock of kured', () => {
  test('is not asked for where kured does not run', () => {
    const { status, asked } = called('kured_take', '');
    expect(status).toBe(0);
    expect(asked).not.toContain('annotate');
  });

  test.each([
    ['is free', ''],
    ['has run out', lock('w2', LONG_AGO, 1)],
    ['is kbuild’s', lock('kbuild', NOW, 1)],
  ])('is taken for an hour when it %s', (_, value) => {
    const { status, asked } = called('kured_take', `7\tkured --period=1h \t${value}`);
    expect(status).toBe(0);
    expect(asked).toMatch(
      /annotate --overwrite --resource-version 7 daemonset kured weave\.works\/kured-node-lock=\{"nodeID":"kbuild","created":"[^"]+","TTL":3600000000000\}/,
    );
  });

  test('is waited for while kured reboots a node, and the drain fails when that takes too long', () => {
    const { status, stdout, stderr, asked } = called('kured_take', `7\t\t${lock('w2', NOW, 0)}`);
    expect(status).toBe(1);
    expect(stdout).toContain('waiting: kured reboots w2');
    expect(stderr).toContain('kured reboots w2: its lock was not free within 1 s');
    expect(asked).not.toContain('annotate');
  });

  test.each([
    ['of an operator who wants no reboots', '{"nodeID":"manual"}'],
    ['that an operator wrote with spaces', '{ "nodeID" : "manual" }'],
    ['in a form that kbuild does not know', '{"holder":"manual"}'],
    ['with a time that is none', lock('manual', 'yesterdayish', 1)],
  ])('%s stays', (_, value) => {
    const { status, asked } = called('kured_take', `7\t\t${value}`);
    expect(status).toBe(0);
    expect(asked).not.toContain('annotate');
  });

  test('is taken in every place where kured may reboot several nodes', () => {
    const held = `{"maxOwners":2,"locks":[${lock('w2', LONG_AGO, 1)}]}`;
    const { asked } = called('kured_take', `7\tkured --concurrency=2 \t${held}`);
    expect(asked).toMatch(/\{"maxOwners":2,"locks":\[\{"nodeID":"kbuild"[^[]*\},\{"nodeID":"kbuild"[^[]*\}\]\}/);
  });

  test('goes back when no other node is being drained, and only if it is kbuild’s', () => {
    const ours = `7\t\t${lock('kbuild', NOW, 1)}`;
    const given = 'annotate --resource-version 7 daemonset kured weave.works/kured-node-lock-';
    expect(called('kured_release', ours, 'w1').asked).toContain(given);
    rmSync(join(folder, 'asked'));
    expect(called('kured_release', ours, 'w2').asked).not.toContain('annotate');
    expect(called('kured_release', `7\t\t${lock('w2', NOW, 1)}`).asked).not.toContain('annotate');
  });
});

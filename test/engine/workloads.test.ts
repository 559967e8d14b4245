// @module-tag linux
/** Which workloads lose pods with a node, and when they are back, with a kubectl that a test speaks for. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Command } from '../../src/shell/command.ts';
import { script } from '../../src/templates.ts';
import { shClock } from '../fakes/sh-clock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-workloads-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs a script on node w1, with a kubectl of these `case` branches; `asked`: what kubectl was asked, one line each. */
function run(branches: string, make: (kubectl: string) => Command<'sh'>) {
  const kubectl = join(folder, 'kubectl');
  writeFileSync(kubectl, `#!/bin/sh\necho "$*" | head -n 1 >>${folder}/asked\ncase "$*" in\n${branches}\nesac\n`);
  chmodSync(kubectl, 0o755);
  const command = make(kubectl);
  const ran = spawnSync('sh', ['-eu', '-c', shClock(folder).inScript(command.script)], {
    cwd: folder,
    encoding: 'utf8',
  });
  const asked = join(folder, 'asked');
  return { ...ran, asked: existsSync(asked) ? readFileSync(asked, 'utf8') : '' };
}

const cordoned = (branches: string) =>
  run(branches, (kubectl) =>
    script('engine/cordon-node.sh', { KUBECTL: kubectl, NODE: 'w1', CORDONED: 'c', WORKLOADS: 'w', STALE: '' }),
  );

const PODS = `'get pods -A '*) printf '%s\\n' 'default apps/v1 ReplicaSet web-1 True' 'default apps/v1 ReplicaSet web-1 True' \\
  'kube-system apps/v1 DaemonSet kube-proxy True' 'kube-system apps/v1 DaemonSet broken False' \\
  'data apps/v1 StatefulSet db True' 'data batch/v1 Job once True' 'kube-system v1 Node w1 True' ;;`;
const COUNTS = `'-n default get --ignore-not-found replicaset.apps/web-1 '*) echo 'ReplicaSet/default/web-1 2 2 Deployment web' ;;
'-n default get --ignore-not-found deployment.apps/web '*) echo 'Deployment/default/web 2 3' ;;
'-n data get --ignore-not-found statefulset.apps/db '*) echo 'StatefulSet/data/db 1 1' ;;`;

describe('the cordon of a node', () => {
  test('notes in one write when kbuild made it, and how many pods of the workloads there are ready', () => {
    const { status, asked } = cordoned(`'get node '*) printf ' ' ;;\n${PODS}\n${COUNTS}`);
    expect(status).toBe(0);
    expect(asked.replace(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/, '"TIME"')).toContain(
      'patch node w1 --type merge -p {"metadata":{"annotations":{"c":"TIME","w":"DaemonSet/kube-system/kube-proxy=1 StatefulSet/data/db=1 Deployment/default/web=2"}},"spec":{"unschedulable":true}}',
    );
  });

  test('leaves the cordon of an operator, and a note that is there', () => {
    expect(cordoned(`'get node '*) printf 'cordoned noted' ;;`).asked).not.toContain('patch');
    const { asked } = cordoned(`'get node '*) printf 'cordoned ' ;;\n${PODS}\n${COUNTS}`);
    expect(asked).toContain('"w":"DaemonSet');
    expect(asked).not.toContain('unschedulable":true');
  });

  test('that cannot read what runs there cordons nothing', () => {
    const { status, asked } = cordoned(`'get node '*) printf ' ' ;;\n'get pods '*) exit 1 ;;`);
    expect(status).not.toBe(0);
    expect(asked).not.toContain('patch');
  });
});

/** Waits at most `seconds` for the workloads of a note. */
const waited = (note: string, branches: string, seconds = 1) =>
  run(`'get node w1 '*) printf '%s' '${note}' ;;\n${branches}`, (kubectl) =>
    script('engine/workloads-back.sh', {
      ...{ KUBECTL: kubectl, NODE: 'w1', NOTE: 'w', CORDONED: 'c', KINDS: '[A-Z][A-Za-z]*', FORGETS: 'yes' },
      ...{ SECONDS_AT_MOST: seconds, TELL_SECONDS: 60 },
    }),
  );

describe('workloads of a node that takes pods again', () => {
  const NOTE = 'Deployment/default/web=2 StatefulSet/data/db=1';

  test('are back when as many pods are ready as before; the note goes', () => {
    const { status, asked } = waited(NOTE, COUNTS);
    expect(status).toBe(0);
    expect(asked).toContain('annotate node w1 w-');
  });

  test('are waited for while fewer pods are ready, and named when that takes too long', () => {
    const { status, stderr, asked } = waited(NOTE, COUNTS.replace('web 2 3', 'web 1 3'));
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^after \d+ s there are fewer ready pods than before w1 was drained: Deployment\/default\/web \(1 of 2 ready\)$/m,
    );
    expect(asked).not.toContain('annotate');
  });

  test('that were deleted or made smaller meanwhile are not missed', () => {
    const smaller = COUNTS.replace('web 2 3', 'web 1 1').replace("echo 'StatefulSet/data/db 1 1'", ':');
    expect(waited(NOTE, smaller).status).toBe(0);
  });

  test('of which the API says nothing are waited for', () => {
    const { status, asked } = waited(NOTE, `'-n '*) exit 1 ;;`);
    expect(status).toBe(1);
    expect(asked).not.toContain('annotate');
  });

  test('count by the pod of the node itself where they are DaemonSets', () => {
    const pods = (ready: string) => `'get pods -A '*) echo 'kube-system apps/v1 DaemonSet kube-proxy ${ready}' ;;
'-n kube-system get daemonset kube-proxy '*) echo daemonset.apps/kube-proxy ;;`;
    const note = 'DaemonSet/kube-system/kube-proxy=1';
    expect(waited(note, pods('True')).status).toBe(0);
    expect(waited(note, pods('False')).status).toBe(1);
    expect(waited(note, `'-n '*) exit 1 ;;`).status).toBe(1);
    expect(waited(note, `'get pods -A '*) : ;;`).status).toBe(0);
  });
});

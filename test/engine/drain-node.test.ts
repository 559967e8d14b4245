// @module-tag linux
/** The script of a drain, with a kubectl that a test speaks for. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { script } from '../../src/templates.ts';
import { shClock } from '../fakes/sh-clock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-drain-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What else a drain is told: the notes of an earlier drain, and the time of the cordon's taint. */
interface Told {
  readonly seconds: number;
  readonly stale: readonly string[];
  readonly cordonedAt: string;
}

/**
 * Drains w1; `does` is what `kubectl drain` does, `cordoned` whether an operator has cordoned the node before, `answers` what
 * kubectl says of volumes (cases of a shell script), `seconds` how long the drain may take.
 */
function drained(
  does: string,
  cordoned: ' ' | 'cordoned ',
  workloads = '',
  answers = '',
  { seconds = 300, stale = [], cordonedAt = 'true' }: Partial<Told> = {},
) {
  const kubectl = join(folder, 'kubectl');
  writeFileSync(
    kubectl,
    `#!/bin/sh
echo "$*" | head -n 1 >>${folder}/asked
case "$*" in
  'get node w1 -o go-template={{if .spec.unschedulable}}'*) printf %s '${cordoned}' ;;
  'get node w1 -o go-template={{range .spec.taints}}'*) printf %s '${cordonedAt}' ;;
  'get node w1 -o go-template'*) if grep -q '"kbuild.dev/cordoned":"2' ${folder}/asked; then echo 2026-01-01T00:00:00Z; fi ;;
  'get pods -A '*) printf 'default web-0 \\ndefault slow-1 terminating since 2026-01-01T00:00:00Z\\n' ;;
  'get poddisruptionbudgets '*) printf 'default web 1 1 app=web,\\n' ;;
  '-n default get pods '*) case "$*" in *' -l app=web -o name') echo pod/web-0 ;; esac ;;
  'drain '*) ${does} ;;
${answers}
esac
`,
  );
  chmodSync(kubectl, 0o755);
  const drain = script('engine/drain-node.sh', {
    KUBECTL: kubectl,
    NODE: 'w1',
    SECONDS_TO_DRAIN: seconds,
    VOLUMES_SECONDS: 1,
    TELL_SECONDS: 1,
    FLAGS: ['--force'],
    DRAINED: 'kbuild.dev/drained',
    CORDONED: 'kbuild.dev/cordoned',
    WORKLOADS: workloads,
    STALE: stale,
  });
  const command = drain;
  const ran = spawnSync('sh', ['-eu', '-c', shClock(folder).inScript(command.script)], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { ...ran, asked: readFileSync(join(folder, 'asked'), 'utf8') };
}

const KEPT =
  'default/web-0 (kept by PodDisruptionBudget web, which allows no disruption (1 healthy, 1 needed)); default/slow-1 (terminating since 2026-01-01T00:00:00Z)';

describe('a drain', () => {
  test('says which pods are still there and which budget keeps them, while it waits and when it fails', () => {
    const { status, stdout, stderr } = drained(
      `${shClock(folder).waits(2)}
echo "error: global timeout reached" >&2; exit 1`,
      ' ',
    );
    expect(stdout).toMatch(/^waiting: pods leave w1 since \d+ s: /m);
    expect(stdout).toContain(KEPT);
    expect(stderr).toMatch(/^after \d+ s pods are still on w1: /);
    expect(stderr).toContain(KEPT);
    expect(stderr).toContain('error: global timeout reached');
    expect(status).toBe(1);
  });

  test('that a webhook refuses says which one', () => {
    const text =
      'error: unable to drain node "w1" due to error: error when evicting pods/"web" -n "default": Internal error occurred: failed calling webhook "keep.example.com": no route to host, continuing command...';
    expect(drained(`echo '${text}' >&2; exit 1`, ' ').stderr).toContain('failed calling webhook "keep.example.com"');
  });

  test('that fails gives the node back that it has cordoned', () => {
    const { asked, stderr } = drained('exit 1', ' ');
    expect(asked).toContain('{"metadata":{"annotations":{"kbuild.dev/cordoned":null}},"spec":{"unschedulable":null}}');
    expect(stderr).toContain('w1 takes pods again');
  });

  test('that fails takes all its notes back in one write', () => {
    const { asked } = drained('exit 1', ' ', 'kbuild.dev/workloads');
    expect(asked).toContain(
      '{"metadata":{"annotations":{"kbuild.dev/workloads":null,"kbuild.dev/cordoned":null}},"spec":{"unschedulable":null}}',
    );
  });

  test('that fails leaves the cordon of an operator', () => {
    const { asked, stderr } = drained('exit 1', 'cordoned ');
    expect(asked).not.toContain('unschedulable":null');
    expect(stderr).toContain('w1 stays cordoned, as it was before');
  });

  test('that ends notes it on the node, and leaves it cordoned', () => {
    const { status, asked } = drained('exit 0', ' ');
    expect(status).toBe(0);
    expect(asked).toContain('annotate --overwrite node w1 kbuild.dev/drained=true');
    expect(asked).not.toContain('unschedulable":null');
  });
});

describe('the notes of a drain', () => {
  test('say when kbuild cordoned the node, in the write that cordons it', () => {
    expect(drained('exit 0', ' ').asked).toMatch(
      /^patch node w1 .*"kbuild\.dev\/cordoned":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"}},"spec":\{"unschedulable":true}}$/m,
    );
  });

  test('name the cordon by the time of its taint; without a time they are kept as they are', () => {
    const at = '2026-11-27T18:00:00Z';
    expect(drained('exit 0', ' ', '', '', { cordonedAt: at }).asked).toContain(
      `annotate --overwrite node w1 kbuild.dev/drained=${at}`,
    );
    expect(drained('exit 0', ' ', '', '', { cordonedAt: '' }).asked).toContain('kbuild.dev/drained=true');
  });

  test('of an earlier drain go before the node is cordoned: an operator’s cordon is not taken for kbuild’s', () => {
    const stale = ['kbuild.dev/drained', 'kbuild.dev/cordoned'];
    const { asked } = drained('exit 1', 'cordoned ', '', '', { stale });
    expect(asked.split('\n').slice(0, 2)).toEqual(stale.map((note) => `annotate node w1 ${note}-`));
    expect(asked).not.toContain('unschedulable":null');
  });
});

describe('a drain of a node that comes back', () => {
  const NOTED = 'kbuild.dev/workloads';
  /** A volume that is attached to w1, the first N times that kubectl is asked; its claim. */
  const attached = (times: number, claim: string): string =>
    `  'get volumeattachments '*) if [ "$(grep -c volumeattachments "$(dirname "$0")/asked")" -le ${String(times)} ]; then echo pv-1; fi ;;
  'get persistentvolumeclaims '*) echo default ${claim} pv-1 ;;`;

  test('ends when the volumes of its pods are detached, and reports them meanwhile', () => {
    const { status, stdout, asked } = drained('exit 0', ' ', NOTED, attached(3, 'data-1'));
    expect(status).toBe(0);
    expect(stdout).toMatch(/^waiting: volumes are detached from w1 since \d+ s: pv-1$/m);
    expect(asked.match(/^get volumeattachments/gm)).toHaveLength(4);
    expect(asked).toContain('annotate --overwrite node w1 kbuild.dev/drained=true');
  });

  // The fake kubectl lists `default web-0` for the claims of pods that stay, too.
  test('waits for no volume of a pod that stays', () => {
    const { status, asked } = drained('exit 0', ' ', NOTED, attached(99, 'web-0'));
    expect(status).toBe(0);
    expect(asked.match(/^get volumeattachments/gm)).toHaveLength(1);
  });

  test.each([
    ['volumes that stay attached', attached(999, 'data-1'), 'pv-1'],
    ['an API that does not say what is attached', `  'get volumeattachments '*) exit 1 ;;`, 'unknown'],
  ])('fails with %s, and the node takes pods again', (_, answers, names) => {
    const { status, stderr, asked } = drained('exit 0', ' ', NOTED, answers, { seconds: 1 });
    expect(status).toBe(1);
    expect(stderr).toContain(`volumes of them are still attached to it: ${names}. Their storage driver`);
    expect(stderr).toContain('w1 takes pods again');
    expect(asked).not.toContain('kbuild.dev/drained=true');
  });
});

test('a drain of a node that is removed waits for no volumes', () => {
  const { status, asked } = drained('exit 0', ' ', '', `  'get volumeattachments '*) echo pv-1 ;;`);
  expect(status).toBe(0);
  expect(asked).not.toContain('volumeattachments');
});

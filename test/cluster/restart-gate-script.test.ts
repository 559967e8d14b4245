// @module-tag linux
/** The gate before a control plane restarts, with a kubectl that a test speaks for: cp1 is about to restart. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { script } from '../../src/templates.ts';
import { shClock } from '../fakes/sh-clock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-gate-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const COMPONENTS = ['kube-controller-manager', 'kube-scheduler'] as const;
const PLANES = ['cp1', 'cp2', 'cp3'];

/** What differs from three control planes that work. */
interface Seen {
  /** `component node` with its state as the list of pods shows it. */
  readonly pods?: Readonly<Record<string, string>>;
  /** Arguments of a component on every control plane. */
  readonly arguments?: string;
  /** Control planes whose API server answers otherwise. */
  readonly servers?: Readonly<Record<string, string>>;
  /** sh: prints a lease as `holder|seconds|time`; `$name` is the lease, `$n` counts the answers. */
  readonly lease?: string;
  /** sh: instead of the pods. */
  readonly list?: string;
}

const RENEWED = 'echo "cp3_1|15|2026-11-26T10:00:0$n.000000Z"';
const STALE = 'echo "cp3_1|15|2026-11-26T10:00:00.000000Z"';

/** What is missing, as the gate says it, when it has looked on for so many seconds. */
function needed(seen: Seen, seconds = 1, broken = 0): readonly string[] {
  const pods = COMPONENTS.flatMap((component) =>
    PLANES.map(
      (node) =>
        `${component} ${node} ${seen.pods?.[`${component} ${node}`] ?? 'true -'} ${component} ${seen.arguments ?? '--leader-elect=true'}`,
    ),
  );
  writeFileSync(join(folder, 'pods'), `${pods.join('\n')}\n`);
  for (const [name, answer] of Object.entries(seen.servers ?? {})) writeFileSync(join(folder, name), answer);
  const kubectl = join(folder, 'kubectl');
  writeFileSync(
    kubectl,
    `#!/bin/sh
cd ${folder}
case "$*" in
  *' get pods '*) ${seen.list ?? 'cat pods'} ;;
  *' get lease '*)
    name=\${*#*" get lease "} n=0
    name=\${name%% *}
    if [ -e "asked-$name" ]; then read -r n <"asked-$name"; fi
    n=$((n + 1))
    echo $n >"asked-$name"
    ${seen.lease ?? RENEWED}
    ;;
  *' get --raw /readyz'*)
    for name in cp1 cp2 cp3; do
      case "$*" in *"https://$name "*) if [ -e $name ]; then cat $name >&2; exit 1; fi ;; esac
    done
    printf ok
    ;;
esac
`,
  );
  chmodSync(kubectl, 0o755);
  const { script: text } = script('cluster/restart-gate.sh', {
    KUBECTL: kubectl,
    NODE: 'cp1',
    SERVERS: PLANES.map((name) => `${name} https://${name}`),
    VIA: 'cp2',
    SECONDS_AT_MOST: seconds,
    BROKEN_SECONDS: broken,
  });
  const { status, stdout, stderr } = spawnSync('sh', ['-eu', '-c', shClock(folder).inScript(text)], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  return stdout.split('\n').filter((line) => line !== '');
}

test('lets a control plane restart when the others serve and both leases are renewed', () => {
  expect(needed({})).toEqual([]);
});

describe('keeps it while', () => {
  test('the API server of another one is not ready', () => {
    expect(needed({ servers: { cp3: 'connection refused' } }, 0)).toContain(
      'needed: the API server of cp3 ready (found: connection refused)',
    );
  });

  test('a scheduler on another one crashes again and again', () => {
    expect(needed({ pods: { 'kube-scheduler cp2': 'false CrashLoopBackOff' } })).toEqual([
      'needed: kube-scheduler of cp2 ready (found: CrashLoopBackOff)',
    ]);
  });

  test('a lease is not renewed: it names the lease, its holder and its age', () => {
    expect(needed({ lease: `if [ $name = kube-scheduler ]; then ${STALE}; else ${RENEWED}; fi` })).toEqual([
      expect.stringMatching(
        /^needed: the lease kube-system\/kube-scheduler renewed \(found: not for the \d+ s that it was watched, last at 2026-11-26T10:00:00\.000000Z, -?\d+ s ago by the clock of cp2; holder cp3_1\)$/,
      ),
    ]);
  });

  test('no pod was ever elected', () => {
    expect(needed({ lease: '' })).toEqual(
      COMPONENTS.map((name) => `needed: the lease kube-system/${name} (found: none, so no ${name} was ever elected)`),
    );
  });

  test('a lease or the pods cannot be read: unknown is not well', () => {
    expect(needed({ lease: 'echo forbidden >&2; exit 1' })[0]).toBe(
      'needed: the lease kube-system/kube-controller-manager (could not tell it: forbidden)',
    );
    expect(needed({ list: 'echo refused >&2; exit 1' })).toEqual([
      "needed: the control plane's pods (could not tell them: refused)",
    ]);
  });

  test('a lease has been given back, and no pod takes it', () => {
    expect(needed({ lease: 'echo "|1|2026-11-26T10:00:00.000000Z"' })[0]).toContain('; holder none)');
  });
});

test('does not call broken what may only start again on the host itself', () => {
  const pods = { 'kube-scheduler cp1': 'false -', 'kube-scheduler cp2': 'false CrashLoopBackOff' };
  expect(needed({ pods }, 1, 30)).toEqual(['needed: kube-scheduler of cp2 ready (found: CrashLoopBackOff)']);
  expect(needed({ servers: { cp1: 'refused', cp2: 'refused' } }, 1, 30)).toEqual([
    'needed: the API server of cp2 ready (found: refused)',
  ]);
});

describe('asks nothing of the others about', () => {
  test('an API server that does not work on the host itself', () => {
    expect(needed({ servers: { cp1: 'refused', cp3: 'refused' } })).toEqual([]);
  });

  test.each(['false CrashLoopBackOff', 'false Error'])('a controller that is %s on the host itself', (state) => {
    const pods = { 'kube-scheduler cp1': state, 'kube-scheduler cp2': state };
    expect(needed({ pods, lease: `if [ $name = kube-scheduler ]; then ${STALE}; else ${RENEWED}; fi` })).toEqual([]);
  });

  test('a lease that the host itself holds and does not renew', () => {
    expect(needed({ lease: 'echo "cp1_1|15|2026-11-26T10:00:00.000000Z"' })).toEqual([]);
  });

  test('a lease where no pod is elected', () => {
    expect(needed({ lease: '', arguments: '--leader-elect=false' })).toEqual([]);
  });
});

test('a host whose name begins like that of the host is another one', () => {
  expect(needed({ lease: 'echo "cp11_1|15|2026-11-26T10:00:00.000000Z"' })).toHaveLength(2);
});

test('asks for the leases where the flags say that they are', () => {
  const flags = '--leader-elect-resource-namespace=elections --leader-elect-resource-name=mine';
  expect(needed({ lease: STALE, arguments: flags })[0]).toContain('the lease elections/mine renewed');
});

test('waits for what comes back', () => {
  const list = 'if [ -e once ]; then cat pods; else touch once; sed "s/ cp2 true/ cp2 false/" pods; fi';
  expect(needed({ list })).toEqual([]);
});

/** A further handler of containerd on one worker of a live cluster: crun, by its RuntimeClass alone. */
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildOnDemand } from '../build-all.ts';
import { fresh, type Fresh } from '../fresh.ts';
import { kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { CRIO_PATH } from '../recipes.ts';
import { VERSIONS } from '../versions.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['hacp1', 'haw1'];
const [cp, w1] = HOSTS as [string, string];
const MINUTES_10 = 600_000;
const PROGRAM = '/usr/local/bin/logging-crun';
/** One line for each call of the program. */
const CALLS = '/run/logging-crun';
let own: Fresh;

/** The inventory with handlers of the worker. */
async function nameHandlers(handlers: object): Promise<void> {
  const plain = await lab.inventory(HOSTS);
  const hosts = (plain['hosts'] as readonly { readonly name: string }[]).map((host) =>
    host.name === w1 ? { ...host, runtime: { handlers } } : host,
  );
  writeFileSync(own.file, stringify({ ...plain, name: 'handlers', hosts }, { aliasDuplicateObjects: false }));
}

const output = async (host: string, command: string): Promise<string> =>
  (await lab.inside(host, command)).stdout.trim();
const configuration = (): Promise<string> => output(w1, 'cat /etc/containerd/config.toml');
/** Running containers of the worker with their processes. */
const containers = (): Promise<string> =>
  output(w1, 'ctr -n k8s.io tasks ls | awk \'$3 == "RUNNING" { print $1, $2 }\' | sort');

/** Debian's crun of the lab's CRI-O package, which adapts containers to the lab, behind a script that notes its calls. */
async function putProgram(): Promise<void> {
  const packages = `${lab.PACKAGES_URL}/${CRIO_PATH}/deb`;
  const script = [
    'set -e',
    'cd "$(mktemp -d)"',
    `for file in $(curl -fsS ${packages}/Packages | sed -n 's/^Filename: //p'); do`,
    `  case $file in *cri-o_*|*libyajl2_*) curl -fsSO ${packages}/$file; dpkg-deb -x "\${file##*/}" all ;; esac`,
    'done',
    'mkdir -p /usr/libexec/crio',
    'cp all/usr/libexec/crio/crun all/usr/libexec/crio/lab-crun /usr/libexec/crio/',
    'cp -P all/usr/lib/x86_64-linux-gnu/libyajl.so.2* /usr/lib/x86_64-linux-gnu/',
    `printf '#!/bin/sh\\necho "$*" >> ${CALLS}\\nexec /usr/libexec/crio/lab-crun "$@"\\n' > ${PROGRAM}`,
    `chmod 755 ${PROGRAM}`,
    '/usr/libexec/crio/crun --version',
  ];
  expect(await output(w1, script.join('\n'))).toContain('crun version');
}

const pod = (name: string, more: object): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      // The control plane would take it, if the RuntimeClass did not choose nodes.
      tolerations: [{ operator: 'Exists' }],
      terminationGracePeriodSeconds: 0,
      containers: [
        { name: 'waits', image: `registry.k8s.io/e2e-test-images/agnhost:${VERSIONS.agnhost}`, args: ['pause'] },
      ],
      ...more,
    },
  });

beforeAll(async () => {
  await buildOnDemand(CRIO_PATH);
  own = await fresh('handlers', HOSTS);
  ok(await kbuild(...own.up));
}, 2 * MINUTES_10);
afterAll(() => lab.down(HOSTS));

test('a handler without its program is an error before anything changes', { timeout: MINUTES_10 }, async () => {
  const before = await configuration();
  await nameHandlers({ crun: { path: PROGRAM } });
  const ran = await kbuild(...own.up);
  expect(ran.code, ran.stderr).not.toBe(0);
  expect(`${ran.stdout}${ran.stderr}`).toContain(`handler crun: there is no program ${PROGRAM}`);
  expect(await configuration()).toBe(before);
});

describe('with its program', () => {
  test('the handler is set up, and no container of the worker restarts', { timeout: MINUTES_10 }, async () => {
    await putProgram();
    const before = await containers();
    expect(before).not.toBe('');
    const ran = ok(await kbuild(...own.up));
    console.log(ran.stdout);
    expect(await containers()).toBe(before);
    expect(await configuration()).toMatch(/^default_runtime_name = "runc"$/m);
    expect(JSON.parse(await kubectl(cp, 'get runtimeclass crun -o json'))).toMatchObject({
      handler: 'crun',
      scheduling: { nodeSelector: { 'handler.kbuild.dev/crun': 'yes' } },
    });
    expect((await kubectl(cp, 'get nodes -l handler.kbuild.dev/crun=yes -o name')).trim()).toBe(`node/${w1}`);
  });

  test('a pod that names its RuntimeClass runs by it, on the host that has it', { timeout: MINUTES_10 }, async () => {
    await kubectl(cp, 'apply -f -', pod('by-crun', { runtimeClassName: 'crun' }));
    await kubectl(cp, 'wait --for=condition=Ready pod/by-crun --timeout=180s');
    expect(await kubectl(cp, "get pod by-crun -o jsonpath='{.spec.nodeName}'")).toBe(w1);
    expect(await output(w1, `grep -c ' create ' ${CALLS}`)).toBe('2'); // the sandbox and its container
  });

  test('any other pod runs as before', { timeout: MINUTES_10 }, async () => {
    await kubectl(cp, 'apply -f -', pod('by-default', { nodeName: w1 }));
    await kubectl(cp, 'wait --for=condition=Ready pod/by-default --timeout=180s');
    expect(await output(w1, `grep -c ' create ' ${CALLS}`)).toBe('2');
  });

  test('a second run has nothing to do', { timeout: MINUTES_10 }, async () => unchanged(await kbuild(...own.up)));
});

test(
  'a handler that leaves the inventory is kept while a pod runs by it, and then takes its RuntimeClass and label along',
  { timeout: MINUTES_10 },
  async () => {
    await nameHandlers({});
    const inUse = await kbuild(...own.up);
    expect(inUse.code, inUse.stderr).toBe(7);
    expect(inUse.stderr).toContain('default/by-crun');
    expect(await configuration()).toContain('crun');
    await kubectl(cp, 'delete pod by-crun --wait=true');
    const before = await containers();
    ok(await kbuild(...own.up));
    await waitUntil(
      'the RuntimeClass is deleted',
      30_000,
      async () => (await kubectl(cp, 'get runtimeclass -o name')).trim() === '',
    );
    expect((await kubectl(cp, 'get nodes -l handler.kbuild.dev/crun -o name')).trim()).toBe('');
    expect(await configuration()).not.toContain('crun');
    expect(await containers()).toBe(before);
    unchanged(await kbuild(...own.up));
  },
);

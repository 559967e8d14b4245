/** `runtime.version` edited on a live cluster: another patch in place, another minor on drained nodes, one host at a time. */
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildOnDemand } from '../build-all.ts';
import { fresh, type Fresh } from '../fresh.ts';
import type { LabInventory } from '../inventory.ts';
import { eventsOf, kbuild, start, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { CONTAINERD_VERSIONS_PATH } from '../recipes.ts';
import { reported } from '../reported.ts';
import { expectWholeNodes, oneAfterAnother, spans } from '../rolled.ts';
import { startWorkload } from '../upgraded.ts';
import { CONTAINERD_VERSIONS } from '../versions.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['rtcp1', 'rtw1', 'rtw2'];
const [cp, w1, w2] = HOSTS as [string, string, string];
const [OLD, PATCH, MINOR] = CONTAINERD_VERSIONS;
const HALF_AN_HOUR = 30 * 60_000;
const ENDING = "get pods -A -o jsonpath='{.items[*].metadata.deletionTimestamp}'";
let own: Fresh;

const withVersion =
  (version: string) =>
  (plain: LabInventory): object => {
    const runtime = plain['runtime'] as { readonly repository: { readonly url: string } };
    const url = `${lab.PACKAGES_URL}/${CONTAINERD_VERSIONS_PATH}`;
    return { runtime: { ...runtime, version, repository: { ...runtime.repository, url } } };
  };
async function nameVersion(version: string): Promise<void> {
  const plain = await lab.inventory(HOSTS);
  const inventory = { ...plain, name: 'runtimes', ...withVersion(version)(plain) };
  writeFileSync(own.file, stringify(inventory, { aliasDuplicateObjects: false }));
}
const up = (): Promise<Ran> => kbuild(...own.up, '--json');

const onEach = (command: string): Promise<readonly string[]> =>
  Promise.all(HOSTS.map(async (host) => (await lab.inside(host, command)).stdout.trim()));
/** The versions of the daemons that run, as they say it themselves. */
const versions = (): Promise<readonly string[]> =>
  onEach("ctr version | sed -n '/^Server/,$ s/^ *Version: *v\\{0,1\\}//p'");
/** Running containers with their processes. */
const containers = (): Promise<readonly string[]> =>
  onEach('ctr -n k8s.io tasks ls | awk \'$3 == "RUNNING" { print $1, $2 }\' | sort');

beforeAll(async () => {
  await buildOnDemand(CONTAINERD_VERSIONS_PATH);
  own = await fresh('runtimes', HOSTS, withVersion(OLD));
  ok(await kbuild(...own.up));
  await startWorkload(cp);
});
afterAll(() => lab.down(HOSTS));

test('a cluster is built with the version that the inventory names', async () => {
  expect(await versions()).toEqual(HOSTS.map(() => OLD));
});

describe('another patch', () => {
  test('goes in place, one host after another, workers first, and every container runs on', async () => {
    // The build has just spread CoreDNS: the pod that it replaced takes some seconds to end.
    await waitUntil('no pod is about to end', HALF_AN_HOUR, async () => (await kubectl(cp, ENDING)) === '');
    const before = await containers();
    await nameVersion(PATCH);
    const ran = ok(await up());
    expect(spans(ran, 'containerd-package')).toEqual(oneAfterAnother([w1, w2, cp]));
    expect(spans(ran, 'drained')).toEqual([]);
    expect(eventsOf(ran).filter(({ kind }) => kind === 'unplanned')).toEqual([]);
    expect(await versions()).toEqual(HOSTS.map(() => PATCH));
    expect(await containers()).toEqual(before);
  });

  test('leaves nothing to do', async () => {
    unchanged(await kbuild(...own.up));
  });
});

describe('another minor', () => {
  test('cut off when the first worker is drained: the other hosts keep their version', async () => {
    await nameVersion(MINOR);
    const running = start([...own.up, '--json']);
    await reported(
      running,
      `the drain of ${w1}`,
      HALF_AN_HOUR,
      (event) => event.kind === 'changed' && event.step === 'drained' && event.host === w1,
    );
    running.kill('SIGKILL');
    await running.ended;
    expect((await versions()).filter((_, at) => HOSTS[at] !== w1)).toEqual([PATCH, PATCH]);
  });

  test('is finished by the same command: each node drained once, one after another, and its workloads are back', async () => {
    const ran = ok(await up());
    expect(spans(ran, 'drained')).toEqual(oneAfterAnother([w2, cp]));
    expect(await versions()).toEqual(HOSTS.map(() => MINOR));
    await expectWholeNodes(cp, HOSTS);
  });

  test('leaves nothing to do', async () => {
    unchanged(await kbuild(...own.up));
  });
});

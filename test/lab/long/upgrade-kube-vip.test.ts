/** A control plane and a worker are upgraded one hop while a client writes through the virtual address of kube-vip. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWriter } from '../api-writer.ts';
import { fresh, type Fresh } from '../fresh.ts';
import { kbuild } from '../kbuild.ts';
import { buildKubeVip, withKubeVip } from '../kube-vip.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { KUBERNETES } from '../versions.ts';

const HOSTS = ['kucp1', 'kuw1'] as const;
const [cp] = HOSTS;
const VIP = '10.77.0.235';
const [OLD, NEW] = KUBERNETES;

let own: Fresh;

async function name(version: string): Promise<void> {
  const plain = await lab.inventory(HOSTS);
  const kubernetes = { ...(plain['kubernetes'] as object), version };
  const inventory = { ...plain, name: 'upgraded', ...withKubeVip(plain, VIP), kubernetes };
  writeFileSync(own.file, stringify(inventory, { aliasDuplicateObjects: false }));
}

beforeAll(async () => {
  await buildKubeVip();
  own = await fresh('upgraded', HOSTS);
  await name(OLD.version);
  ok(await kbuild(...own.up));
});
afterAll(async () => {
  await lab.down(HOSTS);
});

test('every node has the next minor, no acknowledged write is lost, and nothing is left to do', async () => {
  await name(NEW.version);
  const writer = startWriter(join(own.folder, 'admin.conf'));
  const ran = await kbuild('upgrade', '-i', own.file, '--yes');
  const { acknowledged, failed, lost, longestGapMs } = await writer.stop();
  timed('upgrade of a control plane and a worker', ran);
  console.log(
    `${String(acknowledged)} writes acknowledged, ${String(failed)} not, the longest gap was ${String(longestGapMs)} ms`,
  );
  expect(lost).toEqual([]);
  const versions = await kubectl(cp, 'get nodes -o jsonpath={.items[*].status.nodeInfo.kubeletVersion}');
  expect(versions).toBe(HOSTS.map(() => `v${NEW.version}`).join(' '));
  unchanged(await kbuild(...own.up));
});

// @module-tag linux
/** Which pods run by handlers that the inventory takes away, with a kubectl that a test speaks for. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RuntimeHandler } from '../../src/inventory/runtime-handlers.ts';
import { handlerPodsProbe } from '../../src/runtime/handlers.facts.ts';
import { cp1, inventoryOf, w1, w2 } from '../fakes/cluster.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-handlers-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const crun: RuntimeHandler = { name: 'crun', kind: 'crun', path: '/usr/bin/crun', from: 'host', overhead: {} };
const base = inventoryOf();
const inventory = inventoryOf({ hosts: [cp1, { ...w1, runtime: { ...base.runtime, handlers: [crun] } }, w2] });

/** Runs the probe with a kubectl that knows these labels of nodes. */
function asked(labels: string, others = `'get runtimeclasses '*) printf 'class\\tfast\\tcrun\\n' ;;`) {
  const kubectl = join(folder, 'kubectl');
  const branches = `'get nodes '*) printf '${labels}' ;;\n${others}\n*spec.nodeName=w2*) printf 'pod\\tshop\\tweb\\tw2\\tfast\\npod\\tshop\\told\\tw2\\tgone\\n' ;;`;
  writeFileSync(kubectl, `#!/bin/sh\necho "$*" | head -n 1 >>${folder}/asked\ncase "$*" in\n${branches}\nesac\n`);
  chmodSync(kubectl, 0o755);
  const { command, parse } = handlerPodsProbe(inventory, [kubectl]);
  const ran = spawnSync('sh', ['-eu', '-c', command.script], { encoding: 'utf8' });
  return {
    status: ran.status,
    pods: parse(ran.stdout, { middleMs: 0 }),
    asked: readFileSync(join(folder, 'asked'), 'utf8'),
  };
}

const LABELS = String.raw`w1 handler.kbuild.dev/crun\nw1 kubernetes.io/os\nw2 kubernetes.io/os\n`;

test('reads no pods where every node has the handlers of the inventory', () => {
  const { status, pods, asked: requests } = asked(LABELS);
  expect([status, pods]).toEqual([0, []]);
  expect(requests.trim().split('\n')).toHaveLength(1);
});

test('reads the pods of a node that loses a handler, by the handlers of their RuntimeClasses', () => {
  const { pods, asked: requests } = asked(`${LABELS}w2 handler.kbuild.dev/crun\\n`);
  expect(pods).toEqual([
    { namespace: 'shop', name: 'web', node: 'w2', handler: 'crun' },
    { namespace: 'shop', name: 'old', node: 'w2', handler: 'gone' },
  ]);
  expect(requests).not.toContain('spec.nodeName=w1');
});

test('reads all pods at once where many nodes lose one', () => {
  const many = Array.from({ length: 21 }, (_, i) => `n${String(i)} handler.kbuild.dev/crun\\n`).join('');
  expect(asked(many).asked.match(/get pods/g)).toHaveLength(1);
});

test('fails if the API does not tell nodes, RuntimeClasses or pods', () => {
  const lost = `${LABELS}w2 handler.kbuild.dev/crun\\n`;
  expect(asked(lost, `'get runtimeclasses '*) exit 1 ;;`).status).toBe(1);
  expect(asked(lost, `'get pods '*) exit 1 ;;`).status).toBe(1);
  expect(asked(`';exit 1;'`).status).toBe(1);
});

import { expect, test } from 'vitest';
import { FactError } from '../../src/errors.ts';
import { file } from '../../src/host/file.step.ts';
import { service } from '../../src/host/service.step.ts';
import type { ServiceState } from '../../src/host/services.facts.ts';
import { containerd } from '../../src/runtime/containerd.value.ts';
import { fileWith, WRITTEN_MS } from '../fakes/files.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

const config = file('config', { path: containerd.paths.config, content: () => 'version = 3\n' });
const step = service('containerd', { uses: [containerd.paths.config], after: [config] });
const running: ServiceState = {
  load: 'loaded',
  active: 'active',
  enabled: 'enabled',
  startedMs: WRITTEN_MS + 1,
  needsDaemonReload: false,
};
const due = (state: Partial<ServiceState>, content = 'version = 3\n', one = step) =>
  one.diff(
    target({
      files: new Map([[containerd.paths.config, fileWith(content)]]),
      services: new Map([
        ['containerd', { ...running, ...state }],
        ['kubelet', { ...running, ...state }],
      ]),
    }),
  );
const summaries = (...args: Parameters<typeof due>) => due(...args).map(({ summary }) => summary);

test('one that runs, is enabled and is newer than what it uses is left alone', () => expect(summaries({})).toEqual([]));

test('one of which the host tells nothing is unknown, not absent', () => {
  const known = target();
  const facts = Object.create(known.facts, { services: { value: new Map() } }) as typeof known.facts;
  expect(() => step.diff({ ...known, facts })).toThrow(
    new FactError('cp1', 'services', 'there is no state of containerd'),
  );
});

test('one that is not installed will have to be started', () =>
  expect(step.diff(target()).map(({ summary }) => summary)).toEqual(['start containerd (found none)']));

test('one that is stopped is started', () =>
  expect(summaries({ active: 'inactive', enabled: 'disabled' })).toEqual([
    'enable and start containerd (found disabled, inactive)',
  ]));

test('one that started before the file it uses is restarted: a crash after the write is mended', () =>
  expect(summaries({ startedMs: WRITTEN_MS - 1 })).toEqual([
    `restart containerd (${containerd.paths.config} is newer)`,
  ]));

test('a file that is about to be written makes the restart part of the plan', () =>
  expect(summaries({}, 'old')).toEqual(['restart containerd (what it uses changes)']));

test('a changed unit means a restart', () =>
  expect(summaries({ needsDaemonReload: true })).toEqual(['restart containerd (its unit changed)']));

test('one that only has to be enabled need not run', () => {
  const kubelet = service('kubelet', { uses: [], wanted: 'enabled' });
  expect(summaries({ active: 'activating' }, '', kubelet)).toEqual([]);
  expect(summaries({ active: 'inactive', startedMs: 0 }, '', kubelet)).toEqual([]);
  expect(summaries({ enabled: 'disabled', active: 'inactive', startedMs: 0 }, '', kubelet)).toEqual([
    'enable kubelet (found disabled, inactive)',
  ]);
  expect(kubelet.diff(target()).map(({ summary }) => summary)).toEqual(['enable kubelet (found none)']);
});

test.each([
  ['inactive', ['start kubelet (found enabled, inactive)']],
  ['failed', ['start kubelet (found enabled, failed)']],
  ['activating', []],
  ['active', []],
])('one that has to be started, found %s', (active, expected) => {
  const kubelet = service('kubelet', { uses: [], wanted: () => 'started' });
  expect(summaries({ active }, '', kubelet)).toEqual(expected);
});

test('one that is masked is unmasked, and the plan says so', async () => {
  const [change] = due({ load: 'masked', enabled: 'masked', active: 'inactive', startedMs: 0 });
  expect(change!.summary).toBe('unmask, enable, and start containerd (found masked, inactive)');
  const { on, sent } = recordingOn();
  await change!.apply!(on);
  expect(sent[0]).toHaveProperty('script', expect.stringContaining('UNIT=containerd\nACTION=start\n'));
});

test('a restart says so to the script', async () => {
  const { on, sent } = recordingOn();
  await due({ startedMs: 1 })[0]!.apply!(on);
  expect(sent[0]).toHaveProperty('script', expect.stringContaining('UNIT=containerd\nACTION=restart\n'));
});

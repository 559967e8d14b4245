import { expect, test } from 'vitest';
import { CONTAINER_RUNTIMES, containerRuntime, withRuntime } from '../../src/runtime/runtimes.value.ts';
import { script } from '../../src/templates.ts';
import { supportedMinors } from '../../src/versions.ts';
import { inventory } from '../fakes/inventory.ts';

const textOf = (name: string): string => script(`runtime/${name}.sh`).script;

test('names, sockets and units tell container runtimes apart', () => {
  for (const key of ['name', 'title', 'socket', 'unit', 'dataFolder'] as const)
    expect(new Set(CONTAINER_RUNTIMES.map((runtime) => runtime[key])).size).toBe(CONTAINER_RUNTIMES.length);
});

test('every runtime has a version for every supported Kubernetes, and it fits', () => {
  for (const { version, misfit } of CONTAINER_RUNTIMES)
    for (const minor of supportedMinors) expect(misfit(minor, version(minor)!)).toBeUndefined();
});

test.each(CONTAINER_RUNTIMES.map(({ name }) => name))(
  'the script of %s names the unit and socket of its value',
  (name) => {
    const { unit, socket } = containerRuntime({ runtime: { name } });
    expect(textOf(name)).toContain(`runtime_unit=${unit}\n`);
    expect(textOf(name)).toContain(`runtime_endpoint=unix://${socket}\n`);
  },
);

test('the scripts of all runtimes have the same functions and variables', () => {
  const namesIn = (text: string): readonly string[] =>
    [...text.matchAll(/^(runtime_\w+)(?:=|\(\))/gm)].map(([, name]) => name!).toSorted();
  const [first, ...others] = CONTAINER_RUNTIMES.map(({ name }) => namesIn(textOf(name)));
  expect(first).toContain('runtime_pull');
  for (const other of others) expect(other).toEqual(first);
});

test('a script gets the functions of the runtime of its host', () => {
  const all = inventory({ runtime: { name: 'crio' } });
  const { script: text, title } = withRuntime(all, all.hosts[0]!, script('session/support.sh'));
  expect(text).toContain('runtime_unit=crio\n');
  expect(title).toBe('session/support.sh');
});

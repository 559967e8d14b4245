import { expect, test } from 'vitest';
import type { Artifact } from '../lab/artifact.ts';
import { makeInTurn } from '../lab/make-in-turn.ts';

const artifact = (name: string, more: Partial<Artifact> = {}): Artifact => ({ name, recipe: name, ...more });
const compiled = (name: string, more: Partial<Artifact> = {}): Artifact => artifact(name, { go: true, ...more });

/** Makes them by hand: `end` lets one be done, and `begun` is what has begun since it was asked last. */
function byHand(artifacts: readonly Artifact[]) {
  const ends = new Map<string, (error?: Error) => void>();
  const news: string[] = [];
  const all = makeInTurn(artifacts, ({ name }) => {
    news.push(name);
    return new Promise<void>((resolve, reject) => {
      ends.set(name, (error) => {
        if (error === undefined) resolve();
        else reject(error);
      });
    });
  });
  const begun = async (): Promise<readonly string[]> => {
    await new Promise(setImmediate);
    return news.splice(0);
  };
  return { all, begun, end: (name: string, error?: Error) => ends.get(name)!(error) };
}

const tree = artifact('tree');
const packages = artifact('packages', { needs: { TREE: tree } });
const [kubernetes, etcd] = [compiled('kubernetes'), compiled('etcd')];

test('compilers do not wait for the tree of the hosts, nor one for the other when nothing else is ready', async () => {
  const made = byHand([tree, packages, kubernetes, etcd]);
  expect(await made.begun()).toEqual(['tree', 'kubernetes']);
  made.end('kubernetes');
  expect(await made.begun()).toEqual(['etcd']);
  made.end('tree');
  expect(await made.begun()).toEqual(['packages']);
  made.end('packages');
  made.end('etcd');
  await made.all;
});

test('what is needed by another is made before it, and two at most are made at a time', async () => {
  const images = artifact('images', { needs: { KUBERNETES: kubernetes, ETCD: etcd } });
  const made = byHand([kubernetes, etcd, compiled('coredns'), images]);
  expect(await made.begun()).toEqual(['kubernetes', 'etcd']);
  made.end('kubernetes');
  expect(await made.begun()).toEqual(['coredns']);
  made.end('etcd');
  expect(await made.begun()).toEqual(['images']);
  made.end('coredns');
  made.end('images');
  await made.all;
});

test('after a failure nothing else begins, and what is being made is waited for', async () => {
  const made = byHand([kubernetes, etcd, tree]);
  expect(await made.begun()).toEqual(['kubernetes', 'tree']);
  made.end('kubernetes', new Error('no space left'));
  expect(await made.begun()).toEqual([]);
  made.end('tree');
  await expect(made.all).rejects.toThrow('no space left');
  expect(await made.begun()).toEqual([]);
});
